#include "bench/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench/commit.h"
#include "tamis/detail/str_cat.h"
#include "tamis/physical_memory.h"
#include "tamis/version.h"

namespace tamis::bench {
namespace {

std::string FirstLine(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

// Returns the value of a line "name : value" of a system file, or an empty string if the file has
// no such line.
std::string Field(const std::string& path, const std::string& name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string::npos) continue;
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

struct CacheFacts {
  std::string level;
  std::string size;  // "2048K"
};

// Returns the data caches of the first processor.
std::vector<CacheFacts> DataCaches() {
  std::vector<CacheFacts> caches;
  for (int i = 0;; ++i) {
    const std::string folder = detail::StrCat("/sys/devices/system/cpu/cpu0/cache/index", i, "/");
    const std::string level = FirstLine(folder + "level");
    if (level.empty()) return caches;
    if (FirstLine(folder + "type") == "Instruction") continue;
    caches.push_back({level, FirstLine(folder + "size")});
  }
}

// Returns "L1 32K, L2 2048K ...".
std::string Caches() {
  std::string text;
  for (const CacheFacts& cache : DataCaches()) {
    if (!text.empty()) text += ", ";
    text += "L" + cache.level + " " + cache.size;
  }
  return text;
}

// Returns the bytes of a size such as "2048K" or "32M", and 0 for any other text.
uint64_t CacheBytes(const std::string& size) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), number);
  if (error != std::errc() || end == size.data() + size.size()) return 0;
  return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : 0;
}

// Returns the name and the driver of the first GPU that nvidia-smi reports, or "none".
std::string Gpu() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen("nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null", "r"),
      pclose);
  char line[256] = "";
  if (!pipe || std::fgets(line, sizeof(line), pipe.get()) == nullptr) return "none";
  const std::string text(line);
  return text.substr(0, text.find('\n'));
}

std::string Compiler() {
#ifdef __clang__
  return std::string("clang ") + __clang_version__;
#else
  return std::string("g++ ") + __VERSION__;
#endif
}

// Returns the date in UTC in the format of ISO 8601. The hour would show more about the person than
// about the machine.
std::string Date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[16] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%d", &parts);
  return text;
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

std::string OrUnknown(const std::string& value) { return value.empty() ? "unknown" : value; }

}  // namespace

std::vector<std::pair<std::string, std::string>> MachineFacts() {
  utsname system = {};
  uname(&system);
  return {
      {"date", Date()},
      {"processor", OrUnknown(Field("/proc/cpuinfo", "model name"))},
      {"processors", std::to_string(AllowedProcessors().size())},
      {"caches", OrUnknown(Caches())},
      {"memory", detail::StrCat(PhysicalMemory() >> 20, " MiB")},
      {"huge pages", OrUnknown(FirstLine("/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"system", std::string(system.sysname) + " " + system.release + " " + system.machine},
      {"compiler", Compiler()},
      {"flags", TAMIS_BENCH_FLAGS},
      {"version", TAMIS_VERSION_STRING},
      {"commit", OrUnknown(kCommit)},
      {"frequency governor",
       OrUnknown(FirstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
      {"gpu", Gpu()},
  };
}

CacheSizes MachineCaches() {
  CacheSizes sizes;
  for (const CacheFacts& cache : DataCaches()) {
    const uint64_t bytes = CacheBytes(cache.size);
    if (cache.level == "1") sizes.l1_data = bytes;
    if (cache.level == "2") sizes.l2 = bytes;
    sizes.last_level = std::max(sizes.last_level, bytes);
  }
  if (sizes.l1_data == 0) sizes.l1_data = uint64_t{32} << 10;
  if (sizes.l2 == 0) sizes.l2 = std::max(sizes.last_level, uint64_t{1} << 20);
  if (sizes.last_level <= sizes.l1_data) sizes.last_level = uint64_t{8} << 20;
  return sizes;
}

Pinning::Pinning(std::optional<int> processor)
    : processor_(processor), allowed_(AllowedProcessors()) {
  PinTo(1);
}

void Pinning::PinTo(unsigned threads) const {
  if (!processor_) return;
#ifdef CPU_SETSIZE
  cpu_set_t set;
  CPU_ZERO(&set);
  if (threads == 1) {
    if (*processor_ >= 0 && *processor_ < CPU_SETSIZE) CPU_SET(*processor_, &set);
  } else {
    for (const int processor : allowed_) CPU_SET(processor, &set);
  }
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw std::runtime_error(detail::StrCat("cannot run on processor ", *processor_));
  }
#else
  (void)threads;
  throw std::runtime_error("this system cannot run a program on a chosen processor");
#endif
}

}  // namespace tamis::bench
