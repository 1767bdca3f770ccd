// The steps of XXH64 for strings: xxhash_spec.md, "XXH64 Algorithm Description".
#ifndef TAMIS_CORE_SRC_BASE_XXH64_STEPS_H_
#define TAMIS_CORE_SRC_BASE_XXH64_STEPS_H_

#include <bit>
#include <cstdint>

#include "tamis/hash.h"

namespace tamis::detail::xxh64 {

// Step 2: a lane joins its accumulator.
inline uint64_t Round(uint64_t sum, uint64_t lane) {
  return std::rotl(sum + lane * hash::kXxh64Prime2, 31) * hash::kXxh64Prime1;
}

// Step 3, for one accumulator.
inline uint64_t Merge(uint64_t h, uint64_t sum) {
  return (h ^ Round(0, sum)) * hash::kXxh64Prime1 + hash::kXxh64Prime4;
}

// Step 5, for 8 bytes, 4 and 1.
inline uint64_t Take8(uint64_t h, uint64_t lane) {
  return std::rotl(h ^ Round(0, lane), 27) * hash::kXxh64Prime1 + hash::kXxh64Prime4;
}
inline uint64_t Take4(uint64_t h, uint32_t lane) {
  return std::rotl(h ^ (lane * hash::kXxh64Prime1), 23) * hash::kXxh64Prime2 + hash::kXxh64Prime3;
}
inline uint64_t Take1(uint64_t h, uint8_t byte) {
  return std::rotl(h ^ (byte * hash::kXxh64Prime5), 11) * hash::kXxh64Prime1;
}

}  // namespace tamis::detail::xxh64

#endif  // TAMIS_CORE_SRC_BASE_XXH64_STEPS_H_
