// The bits of a key in Spark's filters.
#ifndef TAMIS_FORMATS_SRC_SPARK_WALK_H_
#define TAMIS_FORMATS_SRC_SPARK_WALK_H_

#include <cstdint>

#include "formats/src/bit_walk.h"
#include "tamis/detail/format_hash_kernels.h"
#include "tamis/formats/spark.h"

namespace tamis::detail {

// The versions as walks, after BloomFilterImpl.java and BloomFilterImplV2.java. The second hash is
// added repeatedly, and a negative sum is inverted. In version 1, sums wrap around at 2^32.
struct SparkV1 {
  static Hash128 Start(const Hash128& hash) noexcept {
    return {static_cast<uint32_t>(hash.low + hash.high), hash.high};
  }
  static uint64_t Next(Hash128& walk, const Remainder& remainder) noexcept {
    const auto sum = static_cast<uint32_t>(walk.low);
    walk.low = static_cast<uint32_t>(walk.low + walk.high);
    return remainder(sum >> 31 != 0 ? ~sum : sum);
  }
};
// Hashes are signed. The sum begins at 2^31 - 1 times the first hash. If the sum is negative, only
// the index is computed from the inverted sum, and the sum itself does not change.
struct SparkV2 {
  static Hash128 Start(const Hash128& hash) noexcept {
    const uint64_t step = Widened(hash.high);
    return {Widened(hash.low) * 0x7FFF'FFFF + step, step};
  }
  static uint64_t Next(Hash128& walk, const Remainder& remainder) noexcept {
    const uint64_t sum = walk.low;
    walk.low += walk.high;
    return remainder(sum >> 63 != 0 ? ~sum : sum);
  }

 private:
  static uint64_t Widened(uint64_t hash) noexcept {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(hash)});
  }
};

// Calls visit with a value whose type is the version.
template <typename Visit>
auto VisitSparkVersion(SparkVersion version, const Visit& visit) {
  return version == SparkVersion::kV1 ? visit(SparkV1()) : visit(SparkV2());
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_SPARK_WALK_H_
