#include "core/src/os/process.h"

#include <algorithm>
#include <bit>
#include <thread>

#include "core/src/os/windows/win32.h"

namespace tamis::os {

int ProcessId() noexcept { return static_cast<int>(GetCurrentProcessId()); }

unsigned AvailableProcessors() noexcept {
  // The masks are 0 if the process runs on more than one group of 64 processors.
  DWORD_PTR process = 0, system = 0;
  unsigned processors = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system)) {
    processors = static_cast<unsigned>(std::popcount(static_cast<uint64_t>(process)));
  }
  if (processors == 0) processors = std::thread::hardware_concurrency();
  return std::max(processors, 1u);
}

uint64_t MachineMemory() noexcept {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof(status);
  return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

// A process may have 2^24 handles.
uint64_t MaxOpenFiles() noexcept { return UINT64_MAX; }

// GetThreadTimes advances in steps of 15.6 ms, longer than most measured times.
std::optional<double> ThreadSeconds() noexcept { return std::nullopt; }

std::string ProcessorName() {
  char name[256];
  DWORD bytes = sizeof(name);
  if (RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                   "ProcessorNameString", RRF_RT_REG_SZ, nullptr, name, &bytes) != 0) {
    return {};
  }
  const std::string text(name);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string SystemName() {
  SYSTEM_INFO info;
  GetNativeSystemInfo(&info);
  switch (info.wProcessorArchitecture) {
    case PROCESSOR_ARCHITECTURE_AMD64:
      return "Windows x86_64";
    case PROCESSOR_ARCHITECTURE_ARM64:
      return "Windows aarch64";
    default:
      return "Windows";
  }
}

}  // namespace tamis::os
