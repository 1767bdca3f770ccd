#include "bench/suite/other_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "bench/timing.h"

namespace tamis::bench {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double OwnSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    if (::getrusage(who, &usage) == 0) seconds += Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  }
  return seconds;
}

}  // namespace

std::optional<double> BusySeconds(std::string_view stat, double ticks_per_second) {
  std::istringstream in{std::string(stat)};
  std::string name;
  // The columns of proc(5).
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0;
  in >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> steal;
  if (!in || name != "cpu") return std::nullopt;
  return (user + nice + system + irq + softirq + steal) / ticks_per_second;
}

OtherLoad::OtherLoad() : begin_(Now()) {}

OtherLoad::Times OtherLoad::Now() {
  std::ifstream in("/proc/stat");
  const std::string stat{std::istreambuf_iterator<char>(in), {}};
  return {.all = BusySeconds(stat, static_cast<double>(::sysconf(_SC_CLK_TCK))),
          .own = OwnSeconds(),
          .wall = 1e-9 * NowNs(Time::kWall)};
}

std::optional<double> OtherLoad::Processors() const {
  const Times now = Now();
  const double wall = now.wall - begin_.wall;
  if (!now.all || !begin_.all || wall <= 0) return std::nullopt;
  return std::max(0.0, ((*now.all - *begin_.all) - (now.own - begin_.own)) / wall);
}

}  // namespace tamis::bench
