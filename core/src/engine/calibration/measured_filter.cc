#include "core/src/engine/calibration/measured_filter.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "tamis/engine/build.h"
#include "tamis/filters/sizing.h"
#include "tamis/keys.h"

namespace tamis::detail {

uint64_t MeasuredKeys(const Kind& kind, uint64_t filter_bytes) {
  const auto bytes = static_cast<double>(filter_bytes);
  const auto of_as_many_keys = static_cast<double>(kind.bytes_for(filter_bytes, kMaxFpr));
  return static_cast<uint64_t>(0.99 * bytes * (bytes / of_as_many_keys));
}

AnyFilter MakeMeasured(const Kind& kind, uint64_t filter_bytes) {
  if (!kind.info.is_static) return kind.make({.bytes = filter_bytes});
  const uint64_t keys = MeasuredKeys(kind, filter_bytes);
  return BuildFilter(kind.info.kind, [keys](const std::function<void(Keys)>& visit) {
    std::vector<uint64_t> batch(size_t{1} << 16);
    for (uint64_t first = 0; first < keys; first += batch.size()) {
      batch.resize(std::min<uint64_t>(batch.size(), keys - first));
      std::iota(batch.begin(), batch.end(), first);
      visit(batch);
    }
  });
}

}  // namespace tamis::detail
