// Chooses the route of a call.
#ifndef TAMIS_REDIS_SRC_FILTER_COST_H_
#define TAMIS_REDIS_SRC_FILTER_COST_H_

#include <cstdint>
#include <optional>

#include "redis/src/filter/layout.h"
#include "tamis/redis/route_plan.h"

namespace tamis::redis {

// Returns the cheaper route for `keys` keys, or `pinned` if it is set.
RoutePlan PlanRoute(const Layout& layout, Operation operation, uint64_t keys,
                    std::optional<Route> pinned);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_COST_H_
