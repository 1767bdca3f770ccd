#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// windows.h must come first.
#include <io.h>

#include <cstdio>
#include <memory>
#include <thread>

#include "bench/os/system.h"
#include "core/src/os/process.h"

namespace tamis::bench::os {
namespace {

// The numbers below are of the first group of processors, which has at most 64.
constexpr int kProcessors = 64;

double Seconds(const FILETIME& time) {
  return 1e-7 * (4294967296.0 * time.dwHighDateTime + time.dwLowDateTime);
}

}  // namespace

std::string SystemVersion() { return tamis::os::SystemName(); }

std::vector<DataCache> DataCaches() {
  std::vector<DataCache> caches;
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> parts(
      bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  bytes = static_cast<DWORD>(parts.size() * sizeof(parts[0]));
  if (!GetLogicalProcessorInformation(parts.data(), &bytes)) return caches;
  for (const auto& part : parts) {
    const bool of_first_processor = (part.ProcessorMask & 1) != 0;
    if (part.Relationship != RelationCache || !of_first_processor) continue;
    if (part.Cache.Type == CacheInstruction || part.Cache.Type == CacheTrace) continue;
    caches.push_back({part.Cache.Level, part.Cache.Size});
  }
  return caches;
}

std::vector<int> AllowedProcessors() {
  std::vector<int> allowed;
  DWORD_PTR process = 0, system = 0;
  GetProcessAffinityMask(GetCurrentProcess(), &process, &system);
  for (int i = 0; i < kProcessors; ++i) {
    if ((process >> i & 1) != 0) allowed.push_back(i);
  }
  if (allowed.empty()) {  // the process runs on several groups
    const int all = static_cast<int>(std::thread::hardware_concurrency());
    for (int i = 0; i < all; ++i) allowed.push_back(i);
  }
  return allowed;
}

bool RunOn(const std::vector<int>& processors) {
  DWORD_PTR mask = 0;
  for (const int processor : processors) {
    if (processor >= 0 && processor < kProcessors) mask |= DWORD_PTR{1} << processor;
  }
  return SetProcessAffinityMask(GetCurrentProcess(), mask);
}

double OwnSeconds() {
  FILETIME begin, end, kernel, user;
  if (!GetProcessTimes(GetCurrentProcess(), &begin, &end, &kernel, &user)) return 0;
  return Seconds(kernel) + Seconds(user);
}

std::optional<double> BusySeconds() {
  FILETIME idle, kernel, user;  // the kernel's time includes idle time
  if (!GetSystemTimes(&idle, &kernel, &user)) return std::nullopt;
  return Seconds(kernel) - Seconds(idle) + Seconds(user);
}

std::string FirstLineOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(_popen((command + " 2>NUL").c_str(), "r"),
                                                   _pclose);
  char line[256] = "";
  if (!pipe || std::fgets(line, sizeof(line), pipe.get()) == nullptr) return "";
  const std::string text(line);
  return text.substr(0, text.find('\n'));
}

bool StandardErrorIsTerminal() { return _isatty(2) != 0; }

std::tm Utc(std::time_t time) {
  std::tm parts = {};
  gmtime_s(&parts, &time);
  return parts;
}

}  // namespace tamis::bench::os
