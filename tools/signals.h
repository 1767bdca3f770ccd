// Signals that end the command.
#ifndef TAMIS_TOOLS_SIGNALS_H_
#define TAMIS_TOOLS_SIGNALS_H_

namespace tamis::tools {

// SIGHUP, SIGINT and SIGTERM end the process as they would without this, but no temporary files
// stay behind. Those that are ignored, as under nohup, stay ignored.
void RemoveTemporaryFilesOnSignals();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_SIGNALS_H_
