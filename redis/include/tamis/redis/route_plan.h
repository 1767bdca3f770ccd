// By which way a call goes to the servers, and why.
#ifndef TAMIS_REDIS_ROUTE_PLAN_H_
#define TAMIS_REDIS_ROUTE_PLAN_H_

#include <cstdint>
#include <string>

#include "tamis/cpp20.h"

namespace tamis::redis {

enum class Operation : uint8_t { kContains, kInsert };

enum class Route : uint8_t {
  kBlocks,    // the blocks of the keys are read, or set by a script for each segment
  kSegments,  // whole segments: read here and asked, or filled here and merged there
};

struct RoutePlan {
  Route route = Route::kBlocks;
  // Of either route: the time with one server on this machine, and what goes over the network. Of
  // several servers each has its share of it.
  double blocks_seconds = 0;
  double segments_seconds = 0;
  uint64_t blocks_bytes = 0;
  uint64_t segments_bytes = 0;
  std::string reason;  // a sentence
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_ROUTE_PLAN_H_
