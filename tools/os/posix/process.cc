#include "tools/os/process.h"

#include <signal.h>
#include <sys/resource.h>

namespace tamis::tools::os {

uint64_t PeakMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  constexpr uint64_t kUnit = 1;
#else
  constexpr uint64_t kUnit = 1024;
#endif
  return static_cast<uint64_t>(usage.ru_maxrss) * kUnit;
}

void FailAtFileSizeLimit() { ::signal(SIGXFSZ, SIG_IGN); }

}  // namespace tamis::tools::os
