// The file /proc/stat of Linux.
#ifndef TAMIS_BENCH_OS_PROC_STAT_H_
#define TAMIS_BENCH_OS_PROC_STAT_H_

#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace tamis::bench::os {

// Returns the result of BusySeconds() for the text of /proc/stat, and nothing for any other text.
inline std::optional<double> BusySecondsIn(std::string_view stat, double ticks_per_second) {
  std::istringstream in{std::string(stat)};
  std::string name;
  // The columns of proc(5).
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0;
  in >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> steal;
  if (!in || name != "cpu") return std::nullopt;
  return (user + nice + system + irq + softirq + steal) / ticks_per_second;
}

}  // namespace tamis::bench::os

#endif  // TAMIS_BENCH_OS_PROC_STAT_H_
