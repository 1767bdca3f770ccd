#include "core/src/os/process.h"

#ifdef __linux__
#include <sched.h>
#endif
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <thread>

namespace tamis::os {

int ProcessId() noexcept { return getpid(); }

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

uint64_t MachineMemory() noexcept {
#ifdef _SC_PHYS_PAGES
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
  }
#endif
  return 0;
}

uint64_t MaxOpenFiles() noexcept {
  const long files = sysconf(_SC_OPEN_MAX);
  return files < 0 ? UINT64_MAX : static_cast<uint64_t>(files);
}

std::optional<double> ThreadSeconds() noexcept {
  timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return std::nullopt;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string SystemName() {
  utsname system;
  if (uname(&system) != 0) return {};
  return std::string(system.sysname) + " " + system.machine;
}

}  // namespace tamis::os
