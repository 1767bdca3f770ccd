#include "core/src/bulk/costs.h"

#include <algorithm>
#include <cmath>

namespace tamis::detail {

Cost CostOfSize(std::span<const CostAtSize> points, uint64_t filter_bytes) noexcept {
  const auto right = std::find_if(points.begin(), points.end(), [=](const CostAtSize& point) {
    return point.filter_bytes >= filter_bytes;
  });
  if (right == points.begin()) return points.front().cost;
  if (right == points.end()) return points.back().cost;
  const Cost& a = right[-1].cost;
  const Cost& b = right[0].cost;
  const double low = std::log2(static_cast<double>(right[-1].filter_bytes));
  const double high = std::log2(static_cast<double>(right[0].filter_bytes));
  const double t = (std::log2(static_cast<double>(filter_bytes)) - low) / (high - low);
  return {std::lerp(a.contains_ns, b.contains_ns, t), std::lerp(a.insert_ns, b.insert_ns, t),
          std::lerp(a.partitioned_insert_ns, b.partitioned_insert_ns, t)};
}

}  // namespace tamis::detail
