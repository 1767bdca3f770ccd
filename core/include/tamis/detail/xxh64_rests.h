// The state of XXH64 for strings after their stripes of 32 bytes. Kernels finish the hashes of many
// strings at once. The rest of a string varies in length, and a loop over it mispredicts its
// branches.
#ifndef TAMIS_DETAIL_XXH64_RESTS_H_
#define TAMIS_DETAIL_XXH64_RESTS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis::detail {

// Up to kMost strings. Index i is string i. Elements past the strings need not be set.
struct Xxh64Rests {
  static constexpr size_t kMost = 256;
  static constexpr size_t kLanes = 3;

  uint64_t lengths[kMost];        // of whole strings, in bytes
  uint64_t states[kMost];         // after step 4 of xxhash_spec.md, "XXH64 Algorithm Description"
  uint64_t lanes[kLanes][kMost];  // lane j: bytes 8j to 8j + 7 of the last length % 32 bytes
  uint64_t last[kMost];  // the last length % 8 bytes, the first byte lowest, with zeros above
};

// Whether all strings have this number of full lanes left, or (kAny) each has the number that
// follows from its length. `lanes` may contain anything for lanes that a string does not have.
enum class Xxh64Lanes : uint8_t { kNone, kOne, kTwo, kThree, kAny };

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_XXH64_RESTS_H_
