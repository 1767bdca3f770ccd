#include "tools/os/process.h"

#include "tools/os/windows/win32.h"

// After windows.h, which it needs.
#include <psapi.h>

namespace tamis::tools::os {

uint64_t PeakMemory() {
  PROCESS_MEMORY_COUNTERS counters = {};
  K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters));
  return counters.PeakWorkingSetSize;
}

void FailAtFileSizeLimit() {}  // Windows has no such limit

}  // namespace tamis::tools::os
