// The kernels of a backend for filters of other libraries: their hashes of integer keys.
#ifndef TAMIS_DETAIL_FORMAT_HASH_KERNELS_H_
#define TAMIS_DETAIL_FORMAT_HASH_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis::detail {

// A hash of 16 bytes, from which the positions of a key's bits are computed. As bytes, the low half
// comes first, and each half is little-endian.
struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
};

// Each kernel sets hashes[i] to the hash of keys[i], taken as 8 little-endian bytes, for n keys.
// The two arrays do not overlap.
struct FormatHashKernels {
  // RedisBloom: the low half is MurmurHash64A. The high half is MurmurHash64A with the low half as
  // its seed.
  void (*redis)(const uint64_t* keys, size_t n, Hash128* hashes);
  // Guava: MurmurHash3_x64_128.
  void (*guava)(const uint64_t* keys, size_t n, Hash128* hashes);
  // Spark: the low half is MurmurHash3_x86_32. The high half is MurmurHash3_x86_32 with the low
  // half as its seed. Both halves are below 2^32.
  void (*spark)(int32_t seed, const uint64_t* keys, size_t n, Hash128* hashes);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_FORMAT_HASH_KERNELS_H_
