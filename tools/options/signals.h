// Signals that end the command.
#ifndef TAMIS_TOOLS_OPTIONS_SIGNALS_H_
#define TAMIS_TOOLS_OPTIONS_SIGNALS_H_

#include <string>

namespace tamis::tools {

// Makes SIGHUP, SIGINT and SIGTERM remove temporary files before they end the process as usual.
// Signals that are ignored, as under nohup, stay ignored.
void RemoveTemporaryFilesOnSignals();

// Makes a write past the limit of the size of a file (ulimit -f) fail, instead of ending the
// process by SIGXFSZ.
void FailAtFileSizeLimit();

// Makes these signals print on standard error whether the file at `path` is unchanged, still
// missing, or saved (see OutputIsSaved). Prints nothing if a write to standard error would block
// or fail, or if the file has changed although OutputIsSaved was not called. May be called once in
// a process.
void SayIfSavedOnSignals(const std::string& path);

// Thrown instead of waiting for input.
struct Stopped {};

// Makes the first of these signals end the input: AwaitInput then throws Stopped. The second one
// ends the process.
void StopInputOnSignals();

// Ends the process by that first signal, if it has come. Must be called when the input that was
// read is processed.
void EndIfStopped();

// Waits until the descriptor is readable, and throws Stopped if the signal has come. Does not wait
// unless StopInputOnSignals was called. With -1, only checks for the signal.
void AwaitInput(int fd);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_SIGNALS_H_
