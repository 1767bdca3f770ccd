#include "core/src/filters/kinds/fuse/fuse_sizing.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/src/filters/base/sizing_checks.h"
#include "tamis/error.h"

namespace tamis::detail {
namespace {

// Measured: bench/NOTES_FUSE.md.
constexpr uint64_t kMaxShardKeys = uint64_t{1} << 18;

}  // namespace

double FuseFpr(int fingerprint_bits, double keys) noexcept {
  return keys == 0 ? 0 : std::ldexp(1, -fingerprint_bits) + std::ldexp(keys, -64);
}

void CheckFuseFpr(int fingerprint_bits, double fpr) {
  CheckFpr(fpr);
  const double lowest = std::ldexp(1, -fingerprint_bits);
  if (fpr >= lowest) return;
  std::ostringstream message;
  message << "a fuse" << fingerprint_bits << " filter has a false-positive rate of " << lowest
          << ", which is above " << fpr;
  throw Error(ErrorCode::kInvalidArgument, message.str());
}

uint32_t LogShards(uint64_t keys) noexcept {
  uint32_t log_shards = 0;
  while (keys > kMaxShardKeys << log_shards) ++log_shards;
  return log_shards;
}

// Graf and Lemire, section 4. From 2^15 keys on, segments have half their length: as many keys fit,
// and rounding up to whole segments wastes half as much.
fuse::Geometry FuseGeometry(uint32_t log_shards, uint64_t shard_keys, uint32_t growth) {
  if (shard_keys == 0) return {};
  const auto n = static_cast<double>(std::max<uint64_t>(shard_keys, 2));
  auto log_length = static_cast<uint32_t>(std::log(n) / std::log(3.33) + 2.25);
  if (shard_keys > (1 << 15)) --log_length;
  log_length = std::clamp(log_length, fuse::kMinLogLength, fuse::kMaxLogLength);
  double slots_per_key = std::max(1.125, 0.875 + 0.25 * std::log(1e6) / std::log(n));
  for (uint32_t i = 0; i < growth; ++i) slots_per_key *= 33. / 32;
  const auto slots = static_cast<uint64_t>(std::ceil(n * slots_per_key));
  const uint64_t segments = ((slots - 1) >> log_length) + 1;
  return {log_shards, static_cast<uint32_t>(std::max<uint64_t>(segments, 3) - 2), log_length};
}

// The expected largest of k shards is about sqrt(2 ln k) standard deviations above the mean
// (Gumbel, "Statistics of Extremes", 1958).
fuse::Geometry ExpectedFuseGeometry(uint64_t keys) {
  const uint32_t log_shards = LogShards(keys);
  const double mean = std::ldexp(static_cast<double>(keys), -static_cast<int>(log_shards));
  const double above = std::sqrt(2 * std::log(2) * log_shards * mean);
  return FuseGeometry(log_shards, static_cast<uint64_t>(std::ceil(mean + above)));
}

}  // namespace tamis::detail
