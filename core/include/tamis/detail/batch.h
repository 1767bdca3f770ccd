// Keys as kernels take them.
#ifndef TAMIS_DETAIL_BATCH_H_
#define TAMIS_DETAIL_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "tamis/hash.h"
#include "tamis/hd.h"

namespace tamis::detail {

// What the values of a batch are, hence how they become hashes. All kernels take the first three.
// The last two only CommonKernels::hash does: their hash takes longer than a probe of a filter in
// the caches, and every kernel compiled for them would be twice as large. ForEachBatch has their
// hashes ready.
enum class Source : uint8_t {
  kHashes,  // they are hashes
  kXxh3,    // integer keys, to be hashed with XXH3
  kXxh64,   // integer keys, to be hashed with XXH64
  kSip13,   // integer keys, to be hashed with SipHash-1-3
  kSip24,   // integer keys, to be hashed with SipHash-2-4
};

constexpr bool IsSip(Source source) noexcept {
  return source == Source::kSip13 || source == Source::kSip24;
}

// SipHash of an integer, for the host: in a user's function that asks for one key, it would be most
// of the code, whichever hash the filter has. k0 and k1 are the halves of the secret. It is
// declared to depend on nothing else: fields of the filter then need not be read again after it.
TAMIS_CONST uint64_t SipOfKey(Source source, uint64_t k0, uint64_t k1, uint64_t key) noexcept;

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
    return SipOfKey(source, seed_term, second_term, value);
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

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_BATCH_H_
