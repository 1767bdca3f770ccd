#include "bench/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <cstdint>
#include <fstream>
#include <stdexcept>

#include "tamis/memory.h"

namespace tamis::bench {
namespace {

std::string FirstLine(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

// The value of a line "name : value" of a file of the system; empty if there is none.
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

// "L1 32K data, L2 2048K unified ..." of the first processor.
std::string Caches() {
  std::string caches;
  for (int i = 0;; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = FirstLine(folder + "level");
    if (level.empty()) return caches;
    const std::string type = FirstLine(folder + "type");
    if (type == "Instruction") continue;
    if (!caches.empty()) caches += ", ";
    caches += "L" + level + " " + FirstLine(folder + "size");
  }
}

std::string Compiler() {
#ifdef __clang__
  return std::string("clang ") + __clang_version__;
#else
  return std::string("g++ ") + __VERSION__;
#endif
}

std::vector<int> AllowedProcessors() {
  std::vector<int> allowed;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return allowed;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) allowed.push_back(i);
  }
  return allowed;
}

std::string OrUnknown(const std::string& value) { return value.empty() ? "unknown" : value; }

}  // namespace

std::vector<std::pair<std::string, std::string>> MachineFacts() {
  utsname system = {};
  uname(&system);
  return {
      {"processor", OrUnknown(Field("/proc/cpuinfo", "model name"))},
      {"processors", std::to_string(AllowedProcessors().size())},
      {"caches", OrUnknown(Caches())},
      {"memory", std::to_string(PhysicalMemory() >> 20) + " MiB"},
      {"huge pages", OrUnknown(FirstLine("/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"system", std::string(system.sysname) + " " + system.release + " " + system.machine},
      {"compiler", Compiler()},
  };
}

std::optional<uint64_t> HugePageBytes() {
  const std::string kib = Field("/proc/self/smaps_rollup", "AnonHugePages");
  if (kib.empty()) return std::nullopt;
  return std::stoull(kib) << 10;
}

Pinning::Pinning(std::optional<int> processor)
    : processor_(processor), allowed_(AllowedProcessors()) {
  PinTo(1);
}

void Pinning::PinTo(unsigned threads) const {
  if (!processor_) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (threads == 1) {
    if (*processor_ >= 0 && *processor_ < CPU_SETSIZE) CPU_SET(*processor_, &set);
  } else {
    for (const int processor : allowed_) CPU_SET(processor, &set);
  }
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw std::runtime_error("cannot run on processor " + std::to_string(*processor_));
  }
}

}  // namespace tamis::bench
