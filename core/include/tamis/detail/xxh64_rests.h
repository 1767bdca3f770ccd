// What XXH64 leaves of strings when it has taken their stripes of 32 bytes: kernels make the hashes
// of many at once of it. What is left differs from string to string, and a loop over it mispredicts
// its branches.
#ifndef TAMIS_DETAIL_XXH64_RESTS_H_
#define TAMIS_DETAIL_XXH64_RESTS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis::detail {

// Of up to kMost strings; those of string i have index i. Nothing else has to be set.
struct Xxh64Rests {
  static constexpr size_t kMost = 256;
  static constexpr size_t kLanes = 3;

  uint64_t lengths[kMost];        // of whole strings, in bytes
  uint64_t states[kMost];         // after step 4 of xxhash_spec.md, "XXH64 Algorithm Description"
  uint64_t lanes[kLanes][kMost];  // lane j: bytes 8j to 8j + 7 of the length % 32 that are left
  uint64_t last[kMost];  // the length % 8 bytes after those, the first lowest; above them 0
};

// Whether each string has so many lanes left, or (kAny) as many as its length says. Of lanes that a
// string has not got, anything may be in `lanes`.
enum class Xxh64Lanes : uint8_t { kNone, kOne, kTwo, kThree, kAny };

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_XXH64_RESTS_H_
