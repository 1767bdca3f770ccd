// The bits of a key in a filter of Guava.
#ifndef TAMIS_FORMATS_SRC_GUAVA_WALK_H_
#define TAMIS_FORMATS_SRC_GUAVA_WALK_H_

#include <cstdint>

#include "formats/src/bit_walk.h"
#include "tamis/detail/format_hash_kernels.h"
#include "tamis/formats/guava.h"

namespace tamis::detail {

// The strategies as walks, after BloomFilterStrategies.java. Each bit is computed from a
// combination of both halves of the hash. The walk stores the next combination.
struct GuavaMitz64 {
  static Hash128 Start(const Hash128& hash) noexcept { return hash; }
  static uint64_t Next(Hash128& walk, const Remainder& remainder) noexcept {
    const uint64_t bit = remainder(walk.low & (~uint64_t{0} >> 1));
    walk.low += walk.high;
    return bit;
  }
};
// Combines the two halves of the low 64 bits of the hash. Sums wrap around at 2^32, and a negative
// sum is inverted.
struct GuavaMitz32 {
  static Hash128 Start(const Hash128& hash) noexcept {
    const auto first = static_cast<uint32_t>(hash.low);
    const auto step = static_cast<uint32_t>(hash.low >> 32);
    return {uint32_t{first + step}, step};
  }
  static uint64_t Next(Hash128& walk, const Remainder& remainder) noexcept {
    const auto sum = static_cast<uint32_t>(walk.low);
    walk.low = uint32_t{sum + static_cast<uint32_t>(walk.high)};
    return remainder(sum >> 31 != 0 ? ~sum : sum);
  }
};

// Calls visit with a value whose type is the strategy.
template <typename Visit>
auto VisitStrategy(GuavaStrategy strategy, const Visit& visit) {
  return strategy == GuavaStrategy::kMurmur128Mitz32 ? visit(GuavaMitz32()) : visit(GuavaMitz64());
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_GUAVA_WALK_H_
