// The route of a call to the servers, and the reason for it.
#ifndef TAMIS_REDIS_ROUTE_PLAN_H_
#define TAMIS_REDIS_ROUTE_PLAN_H_

#include <cstdint>
#include <string>

#include "tamis/cpp20.h"

namespace tamis::redis {

// The operation of a call.
enum class Operation : uint8_t { kContains, kInsert };

// The way of a call to the blocks on the servers.
enum class Route : uint8_t {
  kBlocks,    // reads single blocks, or sets their bits with a script for each segment
  kSegments,  // reads whole segments, or fills them locally and merges them on the servers
};

// The route of a call, and the reason for it.
struct RoutePlan {
  Route route = Route::kBlocks;  // the route
  // Estimates for each route: the time if one server on this machine does all the work, and the
  // bytes sent over the network. If there are several servers, each does a part of the work, and
  // sends a part of the bytes.
  double blocks_seconds = 0;
  double segments_seconds = 0;
  uint64_t blocks_bytes = 0;
  uint64_t segments_bytes = 0;
  std::string reason;  // why this route was chosen, for users
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_ROUTE_PLAN_H_
