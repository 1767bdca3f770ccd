// Lookups in split-block filters for AVX2 and SSE4, which cannot multiply 64-bit lanes. Each key
// takes two such multiplications. Composed of smaller multiplications, these two would be most of
// the work. So scalar code computes the middle of the hash, while the vectors of the probes use
// other ports. bench/NOTES.md has the figures.
//
// Keys pass four stages, each at a fixed distance behind the previous one: the vector beginning of
// the hash, its scalar middle, its vector end with the address of the block, and the probe. The
// scalars of a vector must leave the store buffer before the vector is read. Otherwise the read
// would wait.

#if defined(TAMIS_SIMD_SPLIT_BLOCK_STAGED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_SPLIT_BLOCK_STAGED_INL_H_
#undef TAMIS_SIMD_SPLIT_BLOCK_STAGED_INL_H_
#else
#define TAMIS_SIMD_SPLIT_BLOCK_STAGED_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>

#include "simd/blocks-inl.h"
#include "simd/hash-inl.h"
#include "simd/pipeline-inl.h"
#include "simd/split_block_bits-inl.h"
#include "tamis/detail/batch.h"
#include "tamis/detail/compiler.h"
#include "tamis/layout/split_block.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#undef TAMIS_SPLIT_BLOCK_STAGED
#define TAMIS_SPLIT_BLOCK_STAGED (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4)

#if TAMIS_SPLIT_BLOCK_STAGED

inline constexpr size_t kStagedStep = 16;

// Distances in keys ahead of the probe.
inline constexpr size_t kBlocksAhead = kPrefetchAhead + kStagedStep;
inline constexpr size_t kMiddleAhead = kBlocksAhead + 64;
inline constexpr size_t kFrontAhead = kMiddleAhead + kStagedStep;
static_assert(kFrontAhead + kStagedStep <= kRing);

// The distance between two rings is not a multiple of 4 KiB: see CuckooRing.
struct StagedRing {
  alignas(64) Ring hashes = {};
  alignas(64) uint64_t gap[24];
  alignas(64) Ring offsets[1];  // addresses of blocks
#if HWY_TARGET == HWY_SSE4
  alignas(64) uint64_t second_gap[24];
  alignas(64) Ring low;  // the low 16 bits of a hash's low half, four times
  alignas(64) uint64_t third_gap[24];
  alignas(64) Ring high;  // the high 16 bits of that half, four times
#endif
};

template <Source kSource>
HWY_INLINE void HashFront(const uint64_t* HWY_RESTRICT values, uint64_t seed_term,
                          uint64_t* HWY_RESTRICT hashes) {
  const D64 d;
  const V64 seed = hn::Set(d, seed_term);
  TAMIS_UNROLL
  for (size_t i = 0; i < kStagedStep; i += hn::Lanes(d)) {
    const V64 value = hn::LoadU(d, values + i);
    hn::Store(kSource == Source::kXxh3 ? Xxh3Front(d, value, seed) : value, d, hashes + i);
  }
}

template <Source kSource>
HWY_INLINE void HashMiddle(uint64_t seed_term, uint64_t* hash) {
  if constexpr (kSource == Source::kXxh3) *hash = hash::Xxh3Middle(*hash);
  if constexpr (kSource == Source::kXxh64) *hash = hash::Xxh64(*hash, seed_term);
}

template <Source kSource>
HWY_INLINE void HashBackAndBlocks(const char* filter, uint64_t num_blocks, size_t at,
                                  StagedRing& ring) {
  const D64 d;
  const V64 base = hn::Set(d, reinterpret_cast<uint64_t>(filter));
  TAMIS_UNROLL
  for (size_t i = at; i < at + kStagedStep; i += hn::Lanes(d)) {
    V64 h = hn::Load(d, ring.hashes + i);
    if constexpr (kSource == Source::kXxh3) h = hn::Xor(h, hn::ShiftRight<28>(h));
#if HWY_TARGET == HWY_SSE4
    alignas(16) static constexpr uint8_t kLow[16] = {0, 1, 0, 1, 0, 1, 0, 1,
                                                     8, 9, 8, 9, 8, 9, 8, 9};
    const hn::Repartition<uint8_t, D64> d8;
    const auto bytes = hn::BitCast(d8, h);
    const auto low = hn::Load(d8, kLow);
    const auto high = hn::Add(low, hn::Set(d8, uint8_t{2}));
    hn::Store(hn::BitCast(d, hn::TableLookupBytes(bytes, low)), d, ring.low + i);
    hn::Store(hn::BitCast(d, hn::TableLookupBytes(bytes, high)), d, ring.high + i);
#else
    hn::Store(h, d, ring.hashes + i);
#endif
    hn::Store(hn::Add(base, BlockOffsets<split_block::kBlockBytes>(d, h, num_blocks)), d,
              ring.offsets[0] + i);
  }
}

#if HWY_TARGET == HWY_AVX2

// Narrowing saturates, so lanes that are not 0 do not become 0.
class StagedProbe {
 public:
  HWY_INLINE StagedProbe() {}  // an implicit constructor would lack the target
  static constexpr size_t kKeys = 4;
  // The results for 4 keys, with 4 bytes for each key in both halves. If bits of a key are missing,
  // the bytes of the key are not all 0.
  using Missing = __m256i;

  // Calls between(i) after the probe of key i.
  template <typename Between>
  HWY_INLINE Missing Probe(const StagedRing& ring, size_t at, const Between& between) const {
    __m256i words[kKeys];
    TAMIS_UNROLL
    for (size_t i = 0; i < kKeys; ++i) {
      words[i] = Present(ring, at + i);
      between(i);
    }
    const __m256i all = _mm256_packs_epi16(_mm256_packs_epi32(words[0], words[1]),
                                           _mm256_packs_epi32(words[2], words[3]));
    return _mm256_cmpeq_epi8(all, _mm256_setzero_si256());
  }
  // Returns one bit for each of 16 keys: whether no bit is missing.
  HWY_INLINE static uint16_t Bits(const Missing (&missing)[4]) {
    const __m256i both = _mm256_packs_epi16(_mm256_packs_epi32(missing[0], missing[1]),
                                            _mm256_packs_epi32(missing[2], missing[3]));
    const __m128i any =
        _mm_or_si128(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    return static_cast<uint16_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(any, _mm_setzero_si128())));
  }

 private:
  // Returns words that are not 0 where the block has the bit of the key.
  HWY_INLINE __m256i Present(const StagedRing& ring, size_t at) const {
    const __m256i hash = _mm256_set1_epi32(static_cast<int>(ring.hashes[at]));
    const __m256i shift = _mm256_srli_epi32(_mm256_mullo_epi32(hash, salts_), 27);
    return _mm256_and_si256(
        _mm256_sllv_epi32(one_, shift),
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ring.offsets[0][at])));
  }

  __m256i salts_ = _mm256_load_si256(reinterpret_cast<const __m256i*>(kSalts));
  __m256i one_ = _mm256_set1_epi32(1);
};

class StagedInserter {
 public:
  HWY_INLINE StagedInserter() {}
  HWY_INLINE void Insert(const StagedRing& ring, size_t at) const {
    SetBits(reinterpret_cast<uint32_t*>(ring.offsets[0][at]), ring.hashes[at]);
  }
};

#else

// The products of the low half of a hash and each salt.
class StagedProducts {
 public:
  HWY_INLINE StagedProducts() {}  // an implicit constructor would lack the target
  // Returns the upper 16 of the 32 bits of each product, from the products of 16-bit halves that
  // contribute to these bits.
  HWY_INLINE __m128i Upper(const StagedRing& ring, size_t at) const {
    const auto twice = [](const uint64_t& four) HWY_ATTR {
      return _mm_castpd_si128(_mm_loaddup_pd(reinterpret_cast<const double*>(&four)));
    };
    const __m128i low = twice(ring.low[at]), high = twice(ring.high[at]);
    return _mm_add_epi16(
        _mm_add_epi16(_mm_mulhi_epu16(low, salts_low_), _mm_mullo_epi16(low, salts_high_)),
        _mm_mullo_epi16(high, salts_low_));
  }

 private:
  static __m128i Salts(int shift) {
    alignas(16) uint16_t salts[split_block::kWords];
    for (int w = 0; w < split_block::kWords; ++w) {
      salts[w] = static_cast<uint16_t>(split_block::Salt(w) >> shift);
    }
    return _mm_load_si128(reinterpret_cast<const __m128i*>(salts));
  }

  __m128i salts_low_ = Salts(0), salts_high_ = Salts(16);
};

// Finds the bit of a word through its byte, for the eight words of two keys at a time. SSE4 lacks a
// shift with a count for each lane, but has lookups of 16 bytes.
class StagedProbe {
 public:
  HWY_INLINE StagedProbe() {}  // an implicit constructor would lack the target
  static constexpr size_t kKeys = 2;
  // The results for 2 keys, with a byte for each word. The byte is not 0 if the bit is missing in
  // the word.
  using Missing = __m128i;

  template <typename Between>
  HWY_INLINE Missing Probe(const StagedRing& ring, size_t at, const Between& between) const {
    // The index of the bit within 16 bytes of the block: 32 times the index of the word, plus the
    // index of the bit.
    const __m128i bits =
        _mm_add_epi8(_mm_packus_epi16(BitNumbers(ring, at), BitNumbers(ring, at + 1)), words_);
    between(0);
    const __m128i bytes = _mm_and_si128(_mm_srli_epi16(bits, 3), _mm_set1_epi8(15));
    const auto half = [&](size_t i, size_t n) HWY_ATTR {
      const auto* const block = reinterpret_cast<const __m128i*>(ring.offsets[0][at + i]);
      return _mm_shuffle_epi8(_mm_loadu_si128(block + n), bytes);
    };
    const __m128i first = _mm_blend_epi16(half(0, 0), half(0, 1), 0b00001100);
    const __m128i second = _mm_blend_epi16(half(1, 0), half(1, 1), 0b11000000);
    between(1);
    return _mm_andnot_si128(_mm_blend_epi16(first, second, 0b11110000),
                            _mm_shuffle_epi8(masks_, bits));
  }
  HWY_INLINE static uint16_t Bits(const Missing (&m)[8]) {
    const __m128i all =
        _mm_packs_epi16(_mm_packs_epi16(_mm_packs_epi16(m[0], m[1]), _mm_packs_epi16(m[2], m[3])),
                        _mm_packs_epi16(_mm_packs_epi16(m[4], m[5]), _mm_packs_epi16(m[6], m[7])));
    return static_cast<uint16_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128())));
  }

 private:
  // Returns the index of the bit of each word.
  HWY_INLINE __m128i BitNumbers(const StagedRing& ring, size_t at) const {
    return _mm_srli_epi16(products_.Upper(ring, at), 11);
  }

  StagedProducts products_;
  __m128i words_ = _mm_set1_epi32(0x60402000);
  __m128i masks_ = _mm_set1_epi64x(static_cast<int64_t>(0x8040201008040201));
};

// Makes bits as powers of 2: floats whose exponents are the indices of the bits (see WordBits).
// Computes their upper halves for all eight words at once.
class StagedInserter {
 public:
  HWY_INLINE StagedInserter() {}
  HWY_INLINE void Insert(const StagedRing& ring, size_t at) const {
    const __m128i exponents =
        _mm_and_si128(_mm_srli_epi16(products_.Upper(ring, at), 4), _mm_set1_epi16(31 << 7));
    const __m128i powers = _mm_add_epi16(exponents, _mm_set1_epi16(127 << 7));
    auto* const block = reinterpret_cast<__m128i*>(ring.offsets[0][at]);
    const auto set = [&](size_t half, __m128i floats) HWY_ATTR {
      const __m128i bits = _mm_cvttps_epi32(_mm_castsi128_ps(floats));
      _mm_storeu_si128(block + half, _mm_or_si128(_mm_loadu_si128(block + half), bits));
    };
    set(0, _mm_unpacklo_epi16(_mm_setzero_si128(), powers));
    set(1, _mm_unpackhi_epi16(_mm_setzero_si128(), powers));
  }

 private:
  StagedProducts products_;
};

#endif

// Calls visit(i, ring, at, middle) for each kStagedStep keys from i on, which are at position `at`
// of the ring. visit must call middle(k) for each k below kStagedStep, between its own work. n must
// be a multiple of kStagedStep.
template <Source kSource, Prefetch kPrefetch, typename Visit>
HWY_INLINE void ForEachStagedStep(const char* filter, uint64_t num_blocks, const Batch& batch,
                                  size_t n, const Visit& visit) {
  if (n == 0) return;  // avoids clearing the ring
  StagedRing ring;
  const uint64_t* const values = batch.values;
  const uint64_t seed_term = batch.hasher.seed_term;
  for (size_t i = 0; i < n && i < kFrontAhead; i += kStagedStep) {
    HashFront<kSource>(values + i, seed_term, ring.hashes + i);
  }
  for (size_t i = 0; i < n && i < kMiddleAhead; ++i)
    HashMiddle<kSource>(seed_term, ring.hashes + i);
  for (size_t i = 0; i < n && i < kBlocksAhead; i += kStagedStep) {
    HashBackAndBlocks<kSource>(filter, num_blocks, i, ring);
  }
  for (size_t i = 0; i < n; i += kStagedStep) {
    PrefetchRead(values + i + kFrontAhead + kReadAhead);
    PrefetchRead(values + i + kFrontAhead + kReadAhead + kStagedStep / 2);
    if (i + kFrontAhead < n) {
      HashFront<kSource>(values + i + kFrontAhead, seed_term,
                         ring.hashes + (i + kFrontAhead) % kRing);
    }
    if (i + kBlocksAhead < n) {
      HashBackAndBlocks<kSource>(filter, num_blocks, (i + kBlocksAhead) % kRing, ring);
    }
    if (i + kPrefetchAhead < n) {
      const uint64_t* const blocks = ring.offsets[0] + (i + kPrefetchAhead) % kRing;
      PrefetchStep<kPrefetch>(nullptr, blocks);
      PrefetchStep<kPrefetch>(nullptr, blocks + kStep);
    }
    // Also runs past the end, where nothing reads the results.
    uint64_t* const middle = ring.hashes + (i + kMiddleAhead) % kRing;
    visit(i, ring, i % kRing,
          [&](size_t k) HWY_ATTR { HashMiddle<kSource>(seed_term, middle + k); });
  }
}

// n must be a multiple of 64.
template <Source kSource, Prefetch kPrefetch>
HWY_INLINE void StagedContains(const char* filter, uint64_t num_blocks, const Batch& batch,
                               size_t n, uint64_t* bits) {
  const StagedProbe probe;
  auto* const halves = reinterpret_cast<uint8_t*>(bits);
  ForEachStagedStep<kSource, kPrefetch>(
      filter, num_blocks, batch, n,
      [&](size_t i, const StagedRing& ring, size_t at, const auto& middle) HWY_ATTR {
        constexpr size_t kKeys = StagedProbe::kKeys;
        StagedProbe::Missing missing[kStagedStep / kKeys];
        TAMIS_UNROLL
        for (size_t j = 0; j < kStagedStep; j += kKeys) {
          missing[j / kKeys] = probe.Probe(ring, at + j, [&](size_t k) HWY_ATTR { middle(j + k); });
        }
        const uint16_t present = StagedProbe::Bits(missing);
        hwy::CopyBytes<2>(&present, halves + i / 8);
      });
}

// n must be a multiple of kStagedStep.
template <Source kSource, Prefetch kPrefetch>
HWY_INLINE void StagedInsert(char* filter, uint64_t num_blocks, const Batch& batch, size_t n) {
  const StagedInserter inserter;
  ForEachStagedStep<kSource, kPrefetch>(
      filter, num_blocks, batch, n,
      [&](size_t, const StagedRing& ring, size_t at, const auto& middle) HWY_ATTR {
        TAMIS_UNROLL
        for (size_t j = 0; j < kStagedStep / 2; ++j) {
          inserter.Insert(ring, at + 2 * j);
          middle(2 * j);
          inserter.Insert(ring, at + 2 * j + 1);
          middle(2 * j + 1);
        }
      });
}

#endif  // TAMIS_SPLIT_BLOCK_STAGED

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
