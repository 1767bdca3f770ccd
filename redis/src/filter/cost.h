// The rule by which a call is given its route.
#ifndef TAMIS_REDIS_SRC_FILTER_COST_H_
#define TAMIS_REDIS_SRC_FILTER_COST_H_

#include <cstdint>
#include <optional>

#include "redis/src/filter/layout.h"
#include "tamis/redis/route_plan.h"

namespace tamis::redis {

// `pinned`: the route that the caller wants.
RoutePlan PlanRoute(const Layout& layout, Operation operation, uint64_t keys,
                    std::optional<Route> pinned);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_COST_H_
