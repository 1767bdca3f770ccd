// Functions of the operating system for measurements.
#ifndef TAMIS_BENCH_OS_SYSTEM_H_
#define TAMIS_BENCH_OS_SYSTEM_H_

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace tamis::bench::os {

// Returns a text such as "Linux 6.1.0 x86_64".
std::string SystemVersion();

struct DataCache {
  int level = 0;
  uint64_t bytes = 0;
};
// Returns the caches of the first processor, as far as they are known.
std::vector<DataCache> DataCaches();

// Returns the numbers of the processors that this process may run on.
std::vector<int> AllowedProcessors();
// Lets the calling thread, and the threads that it starts, run only on these processors. Returns
// false if the system refuses.
bool RunOn(const std::vector<int>& processors);

// Returns the processor seconds that this process and its children used, as far as they are known.
double OwnSeconds();
// Returns the processor seconds since boot that all programs used, plus those that a hypervisor
// gave to other machines. Returns nothing if the system does not report them.
std::optional<double> BusySeconds();

// Runs the command, and returns the first line of its output. Returns an empty string if the
// command prints nothing. Its messages are not shown.
std::string FirstLineOf(const std::string& command);
bool StandardErrorIsTerminal();
std::tm Utc(std::time_t time);

}  // namespace tamis::bench::os

#endif  // TAMIS_BENCH_OS_SYSTEM_H_
