#include "core/src/base/processors.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <thread>

namespace tamis::detail {

unsigned AvailableProcessors() noexcept {
  unsigned processors = 0;
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    processors = static_cast<unsigned>(CPU_COUNT(&set));
  }
#endif
  if (processors == 0) processors = std::thread::hardware_concurrency();
  return std::max(processors, 1u);
}

}  // namespace tamis::detail
