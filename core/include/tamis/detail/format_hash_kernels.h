// What a backend does for filters of other libraries: their hashes of integer keys.
#ifndef TAMIS_DETAIL_FORMAT_HASH_KERNELS_H_
#define TAMIS_DETAIL_FORMAT_HASH_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis::detail {

// The two halves of a hash from which the bits of a key follow: of 16 bytes, each half
// little-endian, the low one first.
struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
};

// Each: hashes[i] = the hash of keys[i], as its 8 little-endian bytes; n of them. The two do not
// overlap.
struct FormatHashKernels {
  // RedisBloom: MurmurHash64A is the low half, and with that for its seed the high one.
  void (*redis)(const uint64_t* keys, size_t n, Hash128* hashes);
  // Guava: MurmurHash3_x64_128.
  void (*guava)(const uint64_t* keys, size_t n, Hash128* hashes);
  // Spark: MurmurHash3_x86_32 is the low half, and with that for its seed the high one; each is
  // below 2^32.
  void (*spark)(int32_t seed, const uint64_t* keys, size_t n, Hash128* hashes);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_FORMAT_HASH_KERNELS_H_
