// All kinds of hashes, and the properties of each.
#ifndef TAMIS_HASH_KINDS_H_
#define TAMIS_HASH_KINDS_H_

#include "tamis/hash.h"

namespace tamis {

// All kinds of hashes.
inline constexpr HashKind kHashKinds[] = {HashKind::kXxh3, HashKind::kXxh64, HashKind::kSipHash13,
                                          HashKind::kSipHash24};

// Returns "xxh3", "xxh64", "siphash13" or "siphash24"; "unknown" for any other number.
const char* HashKindName(HashKind kind) noexcept;

// Returns whether a hash of this kind has a secret instead of a seed.
constexpr bool IsKeyed(HashKind kind) noexcept {
  return kind == HashKind::kSipHash13 || kind == HashKind::kSipHash24;
}

}  // namespace tamis

#endif  // TAMIS_HASH_KINDS_H_
