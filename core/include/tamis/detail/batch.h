// Batches of keys, the input of kernels.
#ifndef TAMIS_DETAIL_BATCH_H_
#define TAMIS_DETAIL_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/compiler.h"
#include "tamis/hash.h"

namespace tamis::detail {

// The type of the values of a batch, which decides how they are hashed. All kernels take the first
// three types. Only CommonKernels::hash takes the others, and ForEachBatch calls it for such values
// before it calls other kernels. Taking these types in every kernel would make all of them larger
// and save little time: SipHash takes longer than a probe of a filter in the caches, and values of
// 4 bytes have to be widened first in any case.
enum class Source : uint8_t {
  kHashes,    // hashes
  kXxh3,      // integer keys, to be hashed with XXH3
  kXxh64,     // integer keys, to be hashed with XXH64
  kSip13,     // integer keys, to be hashed with SipHash-1-3
  kSip24,     // integer keys, to be hashed with SipHash-2-4
  kXxh3Of4,   // keys of 4 bytes, in the low halves of values, to be hashed with XXH3
  kXxh64Of4,  // keys of 4 bytes, in the low halves of values, to be hashed with XXH64
};

// Returns whether all kernels take values of this type.
constexpr bool IsCommon(Source source) noexcept { return source <= Source::kXxh64; }

// Returns the hash of a key for a source that is not common, on the host. The terms are the members
// of KeyHasher with the same names. The function is not inlined, because its code would be most of
// each user function that queries one key, even for filters with common hashes. TAMIS_CONST
// declares that it reads no memory, so compilers need not load the fields of the filter again after
// a call.
TAMIS_CONST uint64_t UncommonHash(Source source, uint64_t seed_term, uint64_t second_term,
                                  uint64_t key) noexcept;

// Hashes one value. Holds the hash function and all terms that depend on its seed.
struct KeyHasher {
  Source source = Source::kHashes;
  // For XXH3, Xxh3Flip(seed) and its Xxh3Spread. For XXH64, Xxh64Start(seed). For SipHash, the
  // halves of the secret. Unused for hashes.
  uint64_t seed_term = 0;
  uint64_t second_term = 0;

  KeyHasher() = default;
  TAMIS_HD explicit KeyHasher(const HashSpec& spec) {
    switch (spec.kind) {
      case HashKind::kXxh3:
        source = Source::kXxh3;
        seed_term = hash::Xxh3Flip(spec.seed);
        second_term = hash::Xxh3Spread(seed_term);
        break;
      case HashKind::kXxh64:
        source = Source::kXxh64;
        seed_term = hash::Xxh64Start(spec.seed);
        break;
      case HashKind::kSipHash13:
      case HashKind::kSipHash24:
        source = spec.kind == HashKind::kSipHash13 ? Source::kSip13 : Source::kSip24;
        seed_term = spec.secret.low;
        second_term = spec.secret.high;
        break;
    }
  }

  TAMIS_HD uint64_t operator()(uint64_t value) const {
    if (source == Source::kXxh3) [[likely]] {
      return hash::Xxh3WithSpread(value, second_term);
    }
    if (source == Source::kXxh64) [[likely]] {
      return hash::Xxh64(value, seed_term);
    }
    if (source == Source::kHashes) return value;
#ifdef __CUDA_ARCH__
    const bool few = source == Source::kSip13;
    return hash::SipOfU64(few ? 1 : 2, few ? 3 : 4, value, seed_term, second_term);
#else
    return UncommonHash(source, seed_term, second_term, value);
#endif
  }
};

struct Batch {
  KeyHasher hasher;
  const uint64_t* values;
  size_t n;
};

inline Batch HashBatch(const uint64_t* hashes, size_t n) { return {KeyHasher(), hashes, n}; }

inline Batch KeyBatch(const HashSpec& spec, const uint64_t* keys, size_t n) {
  return {KeyHasher(spec), keys, n};
}

// Makes a batch of keys of 4 bytes, in the low halves of the values. `spec` must not be keyed.
inline Batch KeyOf4Batch(const HashSpec& spec, const uint64_t* keys, size_t n) {
  KeyHasher hasher(spec);
  const bool xxh3 = hasher.source == Source::kXxh3;
  hasher.source = xxh3 ? Source::kXxh3Of4 : Source::kXxh64Of4;
  if (!xxh3) hasher.seed_term = hash::Xxh64Start(spec.seed, hash::kKeyBytesOf4);
  return {hasher, keys, n};
}

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_BATCH_H_
