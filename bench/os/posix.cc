#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "bench/os/proc_stat.h"
#include "bench/os/system.h"

namespace tamis::bench::os {
namespace {

std::string FirstLineOfFile(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

// Returns the bytes of a size such as "2048K" or "32M", and 0 for any other text.
uint64_t CacheBytes(const std::string& size) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), number);
  if (error != std::errc() || end == size.data() + size.size()) return 0;
  return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : 0;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

std::string SystemVersion() {
  utsname system = {};
  uname(&system);
  return std::string(system.sysname) + " " + system.release + " " + system.machine;
}

std::vector<DataCache> DataCaches() {
  std::vector<DataCache> caches;
  for (int i = 0;; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = FirstLineOfFile(folder + "level");
    if (level.empty()) return caches;
    if (FirstLineOfFile(folder + "type") == "Instruction") continue;
    DataCache cache = {.bytes = CacheBytes(FirstLineOfFile(folder + "size"))};
    std::from_chars(level.data(), level.data() + level.size(), cache.level);
    caches.push_back(cache);
  }
}

std::vector<int> AllowedProcessors() {
  std::vector<int> allowed;
#ifdef CPU_SETSIZE
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return allowed;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) allowed.push_back(i);
  }
#else  // macOS does not limit a process to some processors
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  for (int i = 0; i < all; ++i) allowed.push_back(i);
#endif
  return allowed;
}

bool RunOn([[maybe_unused]] const std::vector<int>& processors) {
#ifdef CPU_SETSIZE
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) {
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &set);
  }
  return sched_setaffinity(0, sizeof(set), &set) == 0;
#else
  return false;
#endif
}

double OwnSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    if (::getrusage(who, &usage) == 0) seconds += Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  }
  return seconds;
}

std::optional<double> BusySeconds() {
  std::ifstream in("/proc/stat");
  const std::string stat{std::istreambuf_iterator<char>(in), {}};
  return BusySecondsIn(stat, static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

std::string FirstLineOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>/dev/null").c_str(), "r"),
                                                   pclose);
  char line[256] = "";
  if (!pipe || std::fgets(line, sizeof(line), pipe.get()) == nullptr) return "";
  const std::string text(line);
  return text.substr(0, text.find('\n'));
}

bool StandardErrorIsTerminal() { return isatty(STDERR_FILENO) != 0; }

std::tm Utc(std::time_t time) {
  std::tm parts = {};
  gmtime_r(&time, &parts);
  return parts;
}

}  // namespace tamis::bench::os
