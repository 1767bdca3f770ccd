// The messages of the command when a signal ends it.
#ifndef TAMIS_TOOLS_OPTIONS_SIGNALS_H_
#define TAMIS_TOOLS_OPTIONS_SIGNALS_H_

#include <string>

namespace tamis::tools {

// Makes the signals of CallBeforeEnd remove temporary files, and discard an unfinished Output,
// before they end the process. May be called once in a process.
void RemoveTemporaryFilesOnSignals();

// Makes these signals print on standard error whether the file at `path` is unchanged, still
// missing, or saved (see OutputIsSaved). Prints nothing if a write to standard error would block
// or fail, or if the file has changed although OutputIsSaved was not called. May be called once in
// a process.
void SayIfSavedOnSignals(const std::string& path);

// Ends the process by the signal that stopped the input, if there was one (StopInputOnRequest).
// Must be called when the input that was read is processed and the job is reported.
void EndIfStopped();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_SIGNALS_H_
