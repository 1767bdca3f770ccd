#include "redis/src/filter/cost.h"

#include <cmath>

#include "tamis/units.h"

namespace tamis::redis {
namespace {

// Measured with calls of 100 to 10^6 keys to filters of 0.25 and 131 MB on one server of the same
// machine (redis-server 7.0, two cores of an Intel Xeon). Only the point where both routes
// take the same time matters.
struct Costs {
  double call;   // seconds for a script and its checks
  double block;  // seconds for each block in a script
  double bytes;  // bytes of whole segments per second
};
constexpr Costs kContainsCosts = {4e-6, 1.1e-6, 1.1e9};
constexpr Costs kInsertCosts = {6e-6, 2.2e-6, 0.5e9};

// Bytes sent for a block (its number and bits) and for a call. The answer to Insert is small.
constexpr uint64_t kBlockMessage = 36;
constexpr uint64_t kCallMessage = 300;

}  // namespace

RoutePlan PlanRoute(const Layout& layout, Operation operation, uint64_t keys,
                    std::optional<Route> pinned) {
  const Costs& costs = operation == Operation::kContains ? kContainsCosts : kInsertCosts;
  const auto n = static_cast<double>(keys);
  const auto segments = static_cast<double>(layout.segments());
  // Expected number of segments with at least one of n evenly distributed keys.
  const double touched = segments * -std::expm1(-n / segments);
  const double segment_bytes = static_cast<double>(layout.bytes()) / segments;

  RoutePlan plan;
  plan.blocks_seconds = touched * costs.call + n * costs.block;
  plan.segments_seconds = touched * (2 * costs.call + segment_bytes / costs.bytes);
  plan.blocks_bytes = static_cast<uint64_t>(touched * kCallMessage + n * kBlockMessage);
  plan.segments_bytes = static_cast<uint64_t>(touched * (2 * kCallMessage + segment_bytes));
  plan.route = plan.blocks_seconds <= plan.segments_seconds ? Route::kBlocks : Route::kSegments;
  const bool blocks = plan.route == Route::kBlocks;
  plan.reason = (blocks ? "blocks: " : "whole segments: ") + CountText(n) + " keys in " +
                CountText(std::ceil(touched)) + " of " + CountText(segments) + " segments take " +
                DurationText(plan.blocks_seconds) + " by blocks, and " +
                DurationText(plan.segments_seconds) + " by whole segments";
  if (pinned) {
    plan.route = *pinned;
    plan.reason = (*pinned == Route::kBlocks ? "blocks" : "whole segments") +
                  std::string(", as requested; otherwise ") + plan.reason;
  }
  return plan;
}

}  // namespace tamis::redis
