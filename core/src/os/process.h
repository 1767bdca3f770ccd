// This process, and the machine on which it runs.
#ifndef TAMIS_CORE_SRC_OS_PROCESS_H_
#define TAMIS_CORE_SRC_OS_PROCESS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace tamis::os {

int ProcessId() noexcept;

// Remembers which process made an object. A child of fork has a copy of the object, but not of the
// threads or GPUs that it uses.
class ProcessMark {
 public:
  bool IsOfThisProcess() const noexcept { return process_ == ProcessId(); }

 private:
  int process_ = ProcessId();
};

// Returns the number of processors that this process may run on, as far as it is known; at least 1.
unsigned AvailableProcessors() noexcept;

// Returns the bytes of physical memory of the machine, or 0 if they are unknown.
uint64_t MachineMemory() noexcept;

// Returns the number of files that this process may have open at the same time, or UINT64_MAX if
// the system states no limit.
uint64_t MaxOpenFiles() noexcept;

// Returns the seconds that this thread has worked, or nothing if the system does not count them.
// Unlike the wall clock, this excludes the time that other programs take.
std::optional<double> ThreadSeconds() noexcept;

// Returns a name such as "Intel(R) Xeon(R) Processor", or an empty string if the system does not
// name the processor.
std::string ProcessorName();

// Returns a name such as "Linux x86_64", or an empty string if the system has none.
std::string SystemName();

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_PROCESS_H_
