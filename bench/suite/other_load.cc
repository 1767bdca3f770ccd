#include "bench/suite/other_load.h"

#include <algorithm>

#include "bench/os/system.h"
#include "bench/timing.h"

namespace tamis::bench {

OtherLoad::OtherLoad() : begin_(Now()) {}

OtherLoad::Times OtherLoad::Now() {
  return {.all = os::BusySeconds(), .own = os::OwnSeconds(), .wall = 1e-9 * NowNs(Time::kWall)};
}

std::optional<double> OtherLoad::Processors() const {
  const Times now = Now();
  const double wall = now.wall - begin_.wall;
  if (!now.all || !begin_.all || wall <= 0) return std::nullopt;
  return std::max(0.0, ((*now.all - *begin_.all) - (now.own - begin_.own)) / wall);
}

}  // namespace tamis::bench
