// Keys as kernels take them.
#ifndef TAMIS_DETAIL_BATCH_H_
#define TAMIS_DETAIL_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/hd.h"
#include "tamis/hash.h"

namespace tamis::detail {

// What the values of a batch are, hence how they become hashes. All kernels take the first three.
// The others only CommonKernels::hash does, as every kernel compiled for them would be larger: the
// hash of SipHash takes longer than a probe of a filter in the caches, and values of 4 bytes have
// to be widened first in any case. ForEachBatch has their hashes ready.
enum class Source : uint8_t {
  kHashes,    // they are hashes
  kXxh3,      // integer keys, to be hashed with XXH3
  kXxh64,     // integer keys, to be hashed with XXH64
  kSip13,     // integer keys, to be hashed with SipHash-1-3
  kSip24,     // integer keys, to be hashed with SipHash-2-4
  kXxh3Of4,   // keys of 4 bytes, each the low half of a value, to be hashed with XXH3
  kXxh64Of4,  // the same with XXH64
};

// Whether all kernels take it.
constexpr bool IsCommon(Source source) noexcept { return source <= Source::kXxh64; }

// The hash of a key by a source that is not common, for the host: in a user's function that asks
// for one key, it would be most of the code, whichever hash the filter has. The terms are those of
// KeyHasher. It is declared to depend on nothing else: fields of the filter then need not be read
// again after it.
TAMIS_CONST uint64_t UncommonHash(Source source, uint64_t seed_term, uint64_t second_term,
                                  uint64_t key) noexcept;

// Hashes of one value: the choice of a hash and all that depends on its seed, made once.
struct KeyHasher {
  Source source = Source::kHashes;
  // hash::Xxh3Flip(seed) or hash::Xxh64Start(seed); for SipHash, the halves of the secret; unused
  // for hashes.
  uint64_t seed_term = 0;
  uint64_t second_term = 0;

  KeyHasher() = default;
  TAMIS_HD explicit KeyHasher(const HashSpec& spec) {
    switch (spec.kind) {
      case HashKind::kXxh3:
        source = Source::kXxh3;
        seed_term = hash::Xxh3Flip(spec.seed);
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
      return hash::Xxh3(value, seed_term);
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

// Of keys of 4 bytes, the low halves of the values. For hashes that are not keyed.
inline Batch KeyOf4Batch(const HashSpec& spec, const uint64_t* keys, size_t n) {
  KeyHasher hasher(spec);
  const bool xxh3 = hasher.source == Source::kXxh3;
  hasher.source = xxh3 ? Source::kXxh3Of4 : Source::kXxh64Of4;
  if (!xxh3) hasher.seed_term = hash::Xxh64Start(spec.seed, hash::kKeyBytesOf4);
  return {hasher, keys, n};
}

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_BATCH_H_
