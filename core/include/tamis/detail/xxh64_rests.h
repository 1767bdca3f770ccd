// The state of XXH64 for strings after their stripes of 32 bytes. Kernels finish the hashes of many
// strings at once, because a loop over the rest of each string would mispredict branches: the rests
// vary in length.
#ifndef TAMIS_DETAIL_XXH64_RESTS_H_
#define TAMIS_DETAIL_XXH64_RESTS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis::detail {

// The states of up to kMost strings. Element i of each array belongs to string i. Elements past the
// last string need not be set.
struct Xxh64Rests {
  static constexpr size_t kMost = 256;
  static constexpr size_t kLanes = 3;

  uint64_t lengths[kMost];        // lengths of the whole strings, in bytes
  uint64_t states[kMost];         // states after step 4 of XXH64 in xxhash_spec.md
  uint64_t lanes[kLanes][kMost];  // lane j: bytes 8j to 8j + 7 of the last length % 32 bytes
  uint64_t last[kMost];  // the last length % 8 bytes, the first byte lowest, with zeros above
};

// The number of full lanes that all strings have left. kAny: the number follows from the length of
// each string. Lanes that a string does not have may contain anything in Xxh64Rests::lanes.
enum class Xxh64Lanes : uint8_t { kNone, kOne, kTwo, kThree, kAny };

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_XXH64_RESTS_H_
