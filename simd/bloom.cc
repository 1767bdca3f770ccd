// Classic Bloom filter: probe and insert, mirroring tamis/layout/bloom.h.
//
// On average, the second probe of an absent key finds a bit that is not set, and a present key
// takes all k probes. So a batch is probed in rounds. Each round gathers one word per key, drops
// the keys whose bit is missing, and prefetches the next word of the remaining keys. So memory is
// busy all the time. No round reads a word that the answer does not need, and no branch depends on
// the data.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/bloom.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include <algorithm>

#include "simd/families.h"
#include "simd/hash-inl.h"
#include "simd/pipeline-inl.h"
#include "tamis/detail/bloom_kernels.h"
#include "tamis/detail/compiler.h"
#include "tamis/layout/bloom.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Keys that pass through the rounds together: enough that a prefetch arrives within a round, and
// few enough that the lines of a round stay in the first-level cache. Measured in
// bench/NOTES_BLOOM.md.
inline constexpr size_t kRoundKeys = 256;
static_assert(kRoundKeys % 64 == 0);

// Filters of at most this number of bits are not prefetched: the processor overlaps the accesses to
// a cache without prefetches.
inline constexpr uint64_t kPrefetchReadBits = 8 * kFarBytes;
inline constexpr uint64_t kPrefetchWriteBits = 2 * kPrefetchReadBits;

// Computes bloom::MulHigh from four products of halves.
HWY_INLINE V64 MulHigh(D64 d, V64 a, V64 b) {
  const V64 low = hn::Set(d, 0xFFFFFFFF);
  const auto multiply = [&](V64 x, V64 y) HWY_ATTR {
    return hn::MulEven(hn::BitCast(D32(), x), hn::BitCast(D32(), y));
  };
  const V64 a_high = SwapHalves(d, a);
  const V64 b_high = SwapHalves(d, b);
  const V64 low_high = multiply(a, b_high);
  const V64 high_low = multiply(a_high, b);
  const V64 middle = hn::Add(hn::ShiftRight<32>(multiply(a, b)),
                             hn::Add(hn::And(low_high, low), hn::And(high_low, low)));
  return hn::Add(hn::Add(multiply(a_high, b_high), hn::ShiftRight<32>(middle)),
                 hn::Add(hn::ShiftRight<32>(low_high), hn::ShiftRight<32>(high_low)));
}

// Computes bloom::AddModulo for each lane.
HWY_INLINE V64 AddModulo(D64 d, V64 a, V64 b, V64 m) {
  const V64 sum = hn::Add(a, b);
  const V64 reduced = hn::Sub(sum, m);
#if HWY_TARGET <= HWY_AVX3
  (void)d;
  return hn::Min(reduced, sum);  // negative numbers are large
#else
  const hn::RebindToSigned<D64> d_signed;
  const auto signed_reduced = hn::BitCast(d_signed, reduced);
#if HWY_TARGET == HWY_AVX2
  return hn::BitCast(
      d, hn::IfNegativeThenElse(signed_reduced, hn::BitCast(d_signed, sum), signed_reduced));
#else
  return hn::Add(reduced, hn::And(hn::BitCast(d, hn::BroadcastSignBit(signed_reduced)), m));
#endif
#endif
}

#if HWY_TARGET == HWY_AVX2
// Entry m has the sources of the 32-bit halves of the 64-bit lanes whose bits are set in m. The
// lanes behind them are copies of the last one, or of lane 0.
struct LeftPack {
  alignas(32) uint32_t halves[16][8];
};
inline constexpr LeftPack kLeftPack = [] {
  LeftPack table{};
  for (uint32_t mask = 0; mask < 16; ++mask) {
    table.halves[mask][1] = 1;
    size_t at = 0;
    for (uint32_t lane = 0; lane < 4; ++lane) {
      if (((mask >> lane) & 1) == 0) continue;
      table.halves[mask][at++] = 2 * lane;
      table.halves[mask][at++] = 2 * lane + 1;
    }
    for (at = std::max(at, size_t{2}); at < 8; ++at) {
      table.halves[mask][at] = table.halves[mask][at - 2];
    }
  }
  return table;
}();
#endif

// Whether LanesToFront puts only zeros or copies behind the lanes of the mask.
inline constexpr bool kFrontOnly = HWY_TARGET <= HWY_AVX2;  // the best targets have low numbers

// Moves the lanes of the mask to the front. hn::Compress has its tables in functions, and GCC
// copies these 2 KiB to the stack at every call.
HWY_INLINE V64 LanesToFront(V64 v, hn::Mask<D64> mask) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 64
  return V64{_mm512_maskz_compress_epi64(mask.raw, v.raw)};
#elif HWY_TARGET == HWY_AVX2
  uint8_t bits[8];
  hn::StoreMaskBits(D64(), mask, bits);
  return hn::BitCast(D64(),
                     hn::TableLookupLanes(hn::BitCast(D32(), v),
                                          hn::SetTableIndices(D32(), kLeftPack.halves[bits[0]])));
#else
  return hn::Compress(v, mask);
#endif
}

// Computes bloom::Start for a vector of values.
template <Source kSource>
HWY_INLINE void StartWalks(D64 d, const uint64_t* HWY_RESTRICT values, const Batch& batch, V64 m,
                           V64& position, V64& step) {
  const V64 hash = HashLanes<kSource>(d, hn::LoadU(d, values), hn::Set(d, batch.hasher.seed_term));
  const V64 step_hash =
      hn::Mul(hn::Xor(hash, hn::ShiftRight<32>(hash)), hn::Set(d, bloom::kStepMultiplier));
  position = MulHigh(d, hash, m);
  step = MulHigh(d, step_hash, m);
}

// The keys that remain in a round, without gaps. There is room after the last key, because whole
// vectors are read and written.
struct BloomWalks {
  // The arrays are not a multiple of 4 KiB apart. Otherwise each load would wait for earlier stores
  // whose addresses have the same low bits.
  static constexpr size_t kRoom = 176;
  static_assert(kRoom >= kStep);
  alignas(64) uint64_t positions[kRoundKeys + kRoom];
  alignas(64) uint64_t steps[kRoundKeys + kRoom];
  alignas(64) uint64_t keys[kRoundKeys + kRoom];  // indices of the keys in the batch
};

// Prefetches the words of positions into the second-level cache, as Prefetch::kL2 does.
HWY_INLINE void PrefetchWords(const uint64_t* words, const uint64_t* HWY_RESTRICT positions,
                              size_t n) {
  TAMIS_UNROLL
  for (size_t i = 0; i < n; ++i) PrefetchReadToL2(words + positions[i] / bloom::kWordBits);
}

// Runs round `round` (1, 2, ...) over n keys. Returns the number of remaining keys, which are then
// at the front with their next positions, and prefetches their next words if asked to.
template <bool kPrefetch>
HWY_INLINE size_t BloomRound(const uint64_t* words, uint64_t num_bits, uint32_t round, size_t n,
                             BloomWalks& walks) {
  const D64 d;
  const hn::RebindToSigned<D64> d_signed;
  const V64 m = hn::Set(d, num_bits);
  const V64 i_step = hn::Set(d, round);
  size_t left = 0;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto within = hn::FirstN(d, n - i);
    const V64 position = hn::IfThenElseZero(within, hn::Load(d, walks.positions + i));
    const V64 step = hn::Load(d, walks.steps + i);
    const V64 key = hn::Load(d, walks.keys + i);
    const V64 word = hn::GatherIndex(d, words, hn::BitCast(d_signed, hn::ShiftRight<6>(position)));
    const V64 bit = hn::Shl(hn::Set(d, 1), hn::And(position, hn::Set(d, 63)));
    const auto present = hn::And(hn::TestBit(word, bit), within);
    // Writes at or before the place that was read.
    hn::StoreU(LanesToFront(AddModulo(d, position, step, m), present), d, walks.positions + left);
    hn::StoreU(LanesToFront(AddModulo(d, step, i_step, m), present), d, walks.steps + left);
    hn::StoreU(LanesToFront(key, present), d, walks.keys + left);
    const size_t before = left;
    left += hn::CountTrue(d, present);
    if constexpr (kPrefetch) {
      // A loop over only the new positions would end with a mispredicted branch. A second prefetch
      // of a word costs little.
      const size_t first = kFrontOnly ? before : std::max(left, hn::Lanes(d)) - hn::Lanes(d);
      PrefetchWords(words, walks.positions + first, hn::Lanes(d));
    }
  }
  return left;
}

template <Source kSource, bool kPrefetch>
void BloomContainsAll(const uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                      const Batch& batch, uint64_t* bits) {
  const D64 d;
  const V64 m = hn::Set(d, num_bits);
  BloomWalks walks;
  for (size_t begin = 0; begin < batch.n; begin += kRoundKeys) {
    const uint64_t* const values = batch.values + begin;
    const size_t n = std::min(kRoundKeys, batch.n - begin);
    const size_t whole = n / kStep * kStep;
    uint64_t* const out = bits + begin / 64;
    std::fill_n(out, (n + 63) / 64, 0);

    for (size_t i = 0; i < whole; i += kStep) {
      PrefetchRead(values + i + kReadAhead);
      TAMIS_UNROLL
      for (size_t j = i; j < i + kStep; j += hn::Lanes(d)) {
        V64 position, step;
        StartWalks<kSource>(d, values + j, batch, m, position, step);
        hn::Store(position, d, walks.positions + j);
        hn::Store(step, d, walks.steps + j);
        hn::Store(hn::Iota(d, j), d, walks.keys + j);
      }
      if constexpr (kPrefetch) PrefetchWords(words, walks.positions + i, kStep);
    }
    size_t left = whole;
    for (uint32_t round = 1; left != 0 && round < num_hashes; ++round) {
      left = BloomRound<kPrefetch>(words, num_bits, round, left, walks);
    }
    left = BloomRound<false>(words, num_bits, num_hashes, left, walks);
    for (size_t i = 0; i < left; ++i) out[walks.keys[i] / 64] |= uint64_t{1} << walks.keys[i] % 64;
    for (size_t i = whole; i < n; ++i) {
      const uint64_t hash = batch.hasher(values[i]);
      out[i / 64] |= uint64_t{bloom::Contains(words, num_bits, num_hashes, hash)} << (i % 64);
    }
  }
}

// About the number of positions that are located together, which are the positions of at least
// kStep keys. If they are prefetched, this is done while earlier positions are written.
inline constexpr size_t kLocated = kStep * bloom::kMaxHashes;
inline constexpr size_t kPrefetched = 128;

// Stores the positions of n keys, a multiple of kStep. The i-th position of key j is
// positions[i * n + j].
template <Source kSource>
HWY_INLINE void Locate(const uint64_t* HWY_RESTRICT values, size_t n, const Batch& batch,
                       uint64_t num_bits, uint32_t num_hashes, uint64_t* HWY_RESTRICT positions) {
#if HWY_MAX_BYTES <= 16
  // Two lanes of 32-bit multiplications take longer than the 64-bit multiplications of two keys.
  for (size_t j = 0; j < n; ++j) {
    bloom::Walk walk = bloom::Start(batch.hasher(values[j]), num_bits);
    uint64_t* at = positions + j;
    for (uint32_t round = 1;; ++round, at += n) {
      *at = walk.position;
      if (round == num_hashes) break;
      walk = bloom::Next(walk, round, num_bits);
    }
  }
#else
  const D64 d;
  const V64 m = hn::Set(d, num_bits);
  for (size_t j = 0; j < n; j += hn::Lanes(d)) {
    V64 position, step;
    StartWalks<kSource>(d, values + j, batch, m, position, step);
    uint64_t* at = positions + j;
    for (uint32_t round = 1;; ++round, at += n) {
      hn::Store(position, d, at);
      if (round == num_hashes) break;
      position = AddModulo(d, position, step, m);
      step = AddModulo(d, step, hn::Set(d, round), m);
    }
  }
#endif
}

// Returns the number of keys that have about `positions` positions, a multiple of kStep.
HWY_INLINE size_t KeysOf(size_t positions, uint32_t num_hashes) {
  return std::max(positions / num_hashes / kStep * kStep, kStep);
}

// Calls write(positions, first, n) for the keys of a batch in their order, and returns the number
// of keys. Omits the keys after the last whole step. The i-th position of key first + j is
// positions[i * n + j]. If the filter is large, its word was prefetched.
template <Source kSource, typename Write>
HWY_INLINE size_t ForEachLocated(const uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                                 const Batch& batch, const Write& write) {
  alignas(64) uint64_t positions[2][kLocated];
  const size_t whole = batch.n / kStep * kStep;
  const bool prefetch = num_bits > kPrefetchWriteBits;
  const size_t most = KeysOf(prefetch ? kPrefetched : kLocated, num_hashes);
  size_t located = 0;  // number of keys before `begin` to be written
  for (size_t begin = 0, turn = 0; begin < whole; begin += most, turn ^= 1) {
    const size_t n = std::min(most, whole - begin);
    Locate<kSource>(batch.values + begin, n, batch, num_bits, num_hashes, positions[turn]);
    if (prefetch) PrefetchWords(words, positions[turn], n * num_hashes);
    if (located != 0) write(positions[turn ^ 1], begin - located, located);
    located = n;
    if (begin + n == whole) write(positions[turn], begin, n);
  }
  return whole;
}

template <Source kSource>
void BloomScatterAll(uint64_t num_bits, uint32_t num_hashes, const Batch& batch, unsigned shift,
                     uint32_t** ends) {
  constexpr size_t kLinesAhead = 2;
  constexpr size_t kEntriesAhead = kLinesAhead * 64 / sizeof(uint32_t);
  const auto append = [=](uint64_t position) HWY_ATTR {
    uint32_t*& end = ends[position >> shift];
    uint32_t* const at = end;
    *at = static_cast<uint32_t>(position);
    PrefetchWrite(at + kEntriesAhead);  // otherwise a later store would wait for the line
    end = at + 1;
  };
  alignas(64) uint64_t positions[kLocated];
  const size_t whole = batch.n / kStep * kStep;
  const size_t most = KeysOf(kLocated, num_hashes);
  for (size_t begin = 0; begin < whole; begin += most) {
    const size_t n = std::min(most, whole - begin);
    Locate<kSource>(batch.values + begin, n, batch, num_bits, num_hashes, positions);
    for (size_t i = 0; i < n * num_hashes; ++i) append(positions[i]);
  }
  for (size_t i = whole; i < batch.n; ++i) {
    bloom::Walk walk = bloom::Start(batch.hasher(batch.values[i]), num_bits);
    for (uint32_t round = 1;; ++round) {
      append(walk.position);
      if (round == num_hashes) break;
      walk = bloom::Next(walk, round, num_bits);
    }
  }
}

template <Source kSource>
void BloomInsertAll(uint64_t* words, uint64_t num_bits, uint32_t num_hashes, const Batch& batch) {
  const auto write = [&](const uint64_t* positions, size_t, size_t n) {
    for (size_t i = 0; i < n * num_hashes; i += kStep) {
      TAMIS_UNROLL
      for (size_t j = i; j < i + kStep; ++j) bloom::SetBit(words, positions[j]);
    }
  };
  const size_t whole = ForEachLocated<kSource>(words, num_bits, num_hashes, batch, write);
  for (size_t i = whole; i < batch.n; ++i) {
    bloom::Insert(words, num_bits, num_hashes, batch.hasher(batch.values[i]));
  }
}

// Inserts key by key, because two keys may have the same positions.
template <Source kSource>
void BloomInsertAllIfAbsent(uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                            const Batch& batch, uint64_t* fresh) {
  std::fill_n(fresh, (batch.n + 63) / 64, 0);
  const auto write = [&](const uint64_t* positions, size_t first, size_t n) {
    for (size_t j = 0; j < n; ++j) {
      uint64_t missing = 0;
      for (size_t i = j; i < n * num_hashes; i += n) {
        const uint64_t position = positions[i];
        uint64_t& word = words[position / bloom::kWordBits];
        const uint64_t bit = uint64_t{1} << (position % bloom::kWordBits);
        missing |= bit & ~word;
        word |= bit;
      }
      fresh[(first + j) / 64] |= uint64_t{missing != 0} << ((first + j) % 64);
    }
  };
  const size_t whole = ForEachLocated<kSource>(words, num_bits, num_hashes, batch, write);
  for (size_t i = whole; i < batch.n; ++i) {
    const uint64_t hash = batch.hasher(batch.values[i]);
    if (bloom::Contains(words, num_bits, num_hashes, hash)) continue;
    bloom::Insert(words, num_bits, num_hashes, hash);
    fresh[i / 64] |= uint64_t{1} << (i % 64);
  }
}

void BloomContains(const uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                   const Batch& batch, uint64_t* bits) {
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    if (num_bits > kPrefetchReadBits) {
      BloomContainsAll<source(), true>(words, num_bits, num_hashes, batch, bits);
    } else {
      BloomContainsAll<source(), false>(words, num_bits, num_hashes, batch, bits);
    }
  });
}

void BloomInsert(uint64_t* words, uint64_t num_bits, uint32_t num_hashes, const Batch& batch) {
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    BloomInsertAll<source()>(words, num_bits, num_hashes, batch);
  });
}

void BloomInsertIfAbsent(uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                         const Batch& batch, uint64_t* fresh) {
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    BloomInsertAllIfAbsent<source()>(words, num_bits, num_hashes, batch, fresh);
  });
}

void BloomScatter(uint64_t num_bits, uint32_t num_hashes, const Batch& batch, unsigned shift,
                  uint32_t** ends) {
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    BloomScatterAll<source()>(num_bits, num_hashes, batch, shift, ends);
  });
}

[[maybe_unused]] constexpr BloomKernels kBloom = {.contains = BloomContains,
                                                  .insert = BloomInsert,
                                                  .insert_if_absent = BloomInsertIfAbsent,
                                                  .scatter = BloomScatter};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::detail::simd {

TAMIS_DEFINE_FAMILY(BloomKernels, bloom, kBloom)

}  // namespace tamis::detail::simd
#endif  // HWY_ONCE
