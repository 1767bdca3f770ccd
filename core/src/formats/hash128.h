// The two halves of a hash from which the bits of a key follow.
#ifndef TAMIS_CORE_SRC_FORMATS_HASH128_H_
#define TAMIS_CORE_SRC_FORMATS_HASH128_H_

#include <cstdint>

namespace tamis::detail {

// Of 16 bytes: each half little-endian, the low one first.
struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FORMATS_HASH128_H_
