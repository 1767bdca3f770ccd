#include "core/src/filters/kinds/fuse/fuse_sizing.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/src/filters/base/sizing_checks.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::detail {
namespace {

// Measured: bench/NOTES_FUSE.md.
constexpr uint64_t kMaxShardKeys = uint64_t{1} << 18;

}  // namespace

double FuseFpr(int fingerprint_bits, double keys) noexcept {
  return keys == 0 ? 0 : std::ldexp(1, -fingerprint_bits) + std::ldexp(keys, -64);
}

void CheckFuseFpr(int fingerprint_bits, uint64_t keys, double fpr) {
  CheckFpr(fpr);
  const double lowest = FuseFpr(fingerprint_bits, static_cast<double>(keys));
  if (fpr * (1 + 0x1p-20) >= lowest) return;  // accepts 2^-bits itself for few keys
  std::ostringstream message;
  message.precision(10);
  message << "a fuse" << fingerprint_bits << " filter of " << keys
          << " keys has a false-positive rate of " << lowest << ", which is above " << fpr;
  throw Error(ErrorCode::kInvalidArgument, message.str());
}

void CheckFuseKeys(uint64_t keys) {
  if (keys <= fuse::kMaxKeys) return;
  throw Error(ErrorCode::kInvalidArgument,
              StrCat("a fuse filter cannot hold ", keys, " keys: it has at most ", fuse::kMaxKeys));
}

uint32_t LogShards(uint64_t keys) noexcept {
  uint32_t log_shards = 0;
  while (keys > kMaxShardKeys << log_shards) ++log_shards;
  return log_shards;
}

// Graf and Lemire, section 4, with segments of half their length. With the published length, sets
// of some thousand keys fail nearly every attempt if rounding leaves them fewer than 15 segments.
// The size is computed for a mean shard. The largest of a thousand shards has 1% more keys and is
// still built at the first attempt (bench/NOTES_FUSE.md).
fuse::Geometry FuseGeometry(uint64_t keys, uint32_t growth) {
  if (keys == 0) return {};
  const uint32_t log_shards = LogShards(keys);
  const auto n = static_cast<double>(std::max<uint64_t>(((keys - 1) >> log_shards) + 1, 2));
  const auto log_length = std::clamp(static_cast<uint32_t>(std::log(n) / std::log(3.33) + 1.25),
                                     fuse::kMinLogLength, fuse::kMaxLogLength);
  double slots_per_key = std::max(1.125, 0.875 + 0.25 * std::log(1e6) / std::log(n));
  for (uint32_t i = 0; i < growth; ++i) slots_per_key *= 33. / 32;
  const auto slots = static_cast<uint64_t>(std::ceil(n * slots_per_key));
  const uint64_t segments = ((slots - 1) >> log_length) + 1;
  return {log_shards, static_cast<uint32_t>(std::max<uint64_t>(segments, 3) - 2), log_length};
}

}  // namespace tamis::detail
