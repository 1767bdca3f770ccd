// The process of the command.
#ifndef TAMIS_TOOLS_OS_PROCESS_H_
#define TAMIS_TOOLS_OS_PROCESS_H_

#include <cstdint>

namespace tamis::tools::os {

// Returns the peak memory of this process, in bytes.
uint64_t PeakMemory();

// Makes a write past the limit of the size of a file (ulimit -f) fail, instead of ending the
// process by SIGXFSZ.
void FailAtFileSizeLimit();

}  // namespace tamis::tools::os

#endif  // TAMIS_TOOLS_OS_PROCESS_H_
