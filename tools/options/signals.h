// Signals that end the command.
#ifndef TAMIS_TOOLS_OPTIONS_SIGNALS_H_
#define TAMIS_TOOLS_OPTIONS_SIGNALS_H_

#include <string>

namespace tamis::tools {

// SIGHUP, SIGINT and SIGTERM end the process as they would without this, but no temporary files
// stay behind. Those that are ignored, as under nohup, stay ignored.
void RemoveTemporaryFilesOnSignals();

// A write past the limit of a file's size (ulimit -f) fails instead of ending the process by
// SIGXFSZ.
void FailAtFileSizeLimit();

// From now on such an end says on standard error that the file at `path` is as it was, or still not
// there, if that is so then, or that it is saved (OutputIsSaved); nothing where
// standard error takes no more. Once in a process.
void SayIfSavedOnSignals(const std::string& path);

// Thrown where input would be waited for.
struct Stopped {};

// From now on the first of these signals ends the input: AwaitInput throws Stopped. The second one
// ends the process.
void StopInputOnSignals();

// Ends the process by that first signal, if it has come, as it would have without this: to be
// called when what was read is dealt with.
void EndIfStopped();

// Waits until something can be read from the descriptor, if StopInputOnSignals was called: else
// reading itself may wait. With -1 it only looks whether the signal has come.
void AwaitInput(int fd);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_SIGNALS_H_
