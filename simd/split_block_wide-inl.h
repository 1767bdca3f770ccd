// Split-block filters with vectors of 64 bytes. One register holds two blocks. The hashes of 16
// later keys are computed, stage by stage, between the visits of 16 keys. So a chain of
// multiplications never waits for itself, and both ports for such vectors are always busy.
// bench/NOTES.md has the figures.

#if defined(TAMIS_SIMD_SPLIT_BLOCK_WIDE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_SPLIT_BLOCK_WIDE_INL_H_
#undef TAMIS_SIMD_SPLIT_BLOCK_WIDE_INL_H_
#else
#define TAMIS_SIMD_SPLIT_BLOCK_WIDE_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>
#include <utility>

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

#undef TAMIS_SPLIT_BLOCK_WIDE
#define TAMIS_SPLIT_BLOCK_WIDE (HWY_MAX_BYTES >= 64 && HWY_ARCH_X86)

#if TAMIS_SPLIT_BLOCK_WIDE

inline constexpr size_t kWideStep = 2 * kStep;

// The distance between two rings is not a multiple of 4 KiB: see CuckooRing.
struct WideRing {
  alignas(64) Ring hashes;
  alignas(64) uint64_t gap[24];
  // The upper half of each hash times the number of blocks. The upper half of that product is the
  // index of the block, and scalar code reads it directly, which takes no vector instruction.
  alignas(64) uint32_t products[2 * kRing];

  // Returns the offset of a block in the filter, in bytes.
  HWY_INLINE uint64_t Block(size_t at) const {
    return uint64_t{products[2 * at + 1]} * split_block::kBlockBytes;
  }
};

// Two neighbouring keys.
struct WidePair {
  size_t step;        // index in the batch of the first key of their step of kWideStep keys
  size_t at;          // index of the first of the two in the step
  V32 bits;           // bits of the two keys, in each word of both blocks
  uint64_t block[2];  // offsets in the filter in bytes
};

// Pairs are visited between the stages of two vectors. The second vector is one stage behind.
using WideSlots = std::make_index_sequence<kWideStep / 2>;
static_assert(kWideStep / 2 == kHashStages + 2);

// Runs a stage of the hash, or the stage that finds the block.
template <Source kSource, size_t kStage>
HWY_INLINE V64 LocateStage(V64 h, V64 seed_term, V64 num_blocks, size_t to, WideRing& ring) {
  const D64 d;
  const D32 d32;
  if constexpr (kStage < kHashStages) {
    h = HashStage<kSource, kStage>(d, h, seed_term);
    if constexpr (kStage == kHashStages - 1) hn::Store(h, d, ring.hashes + to);
  } else if constexpr (kStage == kHashStages) {
    const V64 product =
        hn::MulEven(hn::BitCast(d32, SwapHalves(d, h)), hn::BitCast(d32, num_blocks));
    hn::Store(hn::BitCast(d32, product), d32, ring.products + 2 * to);
  }
  return h;
}

// Locates kWideStep keys, and writes them to ring positions from `to` on. Calls between(slot) for
// each slot.
template <Source kSource, typename Between, size_t... kSlots>
HWY_INLINE void LocateWide(const uint64_t* values, V64 seed_term, V64 num_blocks, size_t to,
                           WideRing& ring, const Between& between, std::index_sequence<kSlots...>) {
  const D64 d;
  V64 first = hn::LoadU(d, values);
  V64 second = hn::LoadU(d, values + kStep);
  first = LocateStage<kSource, 0>(first, seed_term, num_blocks, to, ring);
  ((between(std::integral_constant<size_t, kSlots>()),
    first = LocateStage<kSource, kSlots + 1>(first, seed_term, num_blocks, to, ring),
    second = LocateStage<kSource, kSlots>(second, seed_term, num_blocks, to + kStep, ring)),
   ...);
}

template <size_t kSlot>
HWY_INLINE WidePair PairOfSlot(const WideRing& ring, size_t step) {
  // The low halves of hashes 2i and 2i + 1 of a vector, eight times each.
  alignas(64) static constexpr int32_t kPairs[kStep / 2][16] = {
      {0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2},
      {4, 4, 4, 4, 4, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6, 6},
      {8, 8, 8, 8, 8, 8, 8, 8, 10, 10, 10, 10, 10, 10, 10, 10},
      {12, 12, 12, 12, 12, 12, 12, 12, 14, 14, 14, 14, 14, 14, 14, 14}};
  constexpr size_t kAt = 2 * kSlot;
  const D32 d;
  const size_t first = step % kRing;
  const auto* const hashes =
      reinterpret_cast<const uint32_t*>(ring.hashes + first + kAt / kStep * kStep);
  const V32 hash = hn::TableLookupLanes(hn::Load(d, hashes),
                                        hn::SetTableIndices(d, kPairs[kSlot % (kStep / 2)]));
  return {
      step, kAt, WordBits(d, hash, kSalts), {ring.Block(first + kAt), ring.Block(first + kAt + 1)}};
}

template <Prefetch kPrefetch>
HWY_INLINE void PrefetchBlock(const char* filter, const WideRing& ring, size_t at) {
  if constexpr (kPrefetch == Prefetch::kL2) {
    PrefetchReadToL2(filter + ring.Block(at));
  } else if constexpr (kPrefetch == Prefetch::kL1) {
    PrefetchRead(filter + ring.Block(at));
  }
}

// Calls visit(pair) for all keys up to n, in order. Calls after_step(end) after each kWideStep
// keys, when all keys up to `end` were visited. n must be a multiple of kWideStep.
template <Source kSource, Prefetch kPrefetch, typename Visit, typename AfterStep>
HWY_INLINE void ForEachWidePair(const char* filter, uint64_t num_blocks, const Batch& batch,
                                size_t n, const Visit& visit, const AfterStep& after_step) {
  const D64 d;
  const uint64_t* const values = batch.values;
  const V64 seed = hn::Set(d, batch.hasher.seed_term);
  const V64 blocks = hn::Set(d, num_blocks);
  WideRing ring;
  for (size_t i = 0; i < n && i < kLocateAhead; i += kWideStep) {
    LocateWide<kSource>(
        values + i, seed, blocks, i, ring, [](auto) {}, WideSlots());
  }
  for (size_t i = 0; i < n && i < kPrefetchAhead; ++i) PrefetchBlock<kPrefetch>(filter, ring, i);
  for (size_t i = 0; i < n; i += kWideStep) {
    const size_t ahead = i + kLocateAhead;
    // Past the end, prefetches the current blocks again.
    const size_t soon = (i + kPrefetchAhead < n ? i + kPrefetchAhead : i) % kRing;
    PrefetchRead(values + ahead + kReadAhead);
    PrefetchRead(values + ahead + kReadAhead + kStep);
    // Past the end, locates the first keys again. Nothing reads the results.
    LocateWide<kSource>(
        values + (ahead < n ? ahead : 0), seed, blocks, ahead % kRing, ring,
        [&](auto slot) HWY_ATTR {
          visit(PairOfSlot<slot()>(ring, i));
          PrefetchBlock<kPrefetch>(filter, ring, soon + 2 * slot());
          PrefetchBlock<kPrefetch>(filter, ring, soon + 2 * slot() + 1);
        },
        WideSlots());
    after_step(i + kWideStep);
  }
}

// Writes a bit for each of 16 lanes.
HWY_INLINE void StoreMask(hn::Mask<D32> mask, uint8_t* HWY_RESTRICT bits) {
  hn::StoreMaskBits(D32(), mask, bits);
#if TAMIS_GNU
  // Without this barrier, GCC first gathers the masks of all pairs in a vector, with instructions
  // for a port that is already busy.
  asm("" : "+m"(bits[0]));
#endif
}

// Writes to `old`, in order, a bit for each word of both blocks: whether the word has the pair's
// bit.
HWY_INLINE void TestPair(const char* filter, const WidePair& pair, uint8_t* HWY_RESTRICT old) {
  const D32 d;
  const auto block = [&](size_t i) HWY_ATTR {
    return hn::LoadU(DBlock(), reinterpret_cast<const uint32_t*>(filter + pair.block[i]));
  };
  StoreMask(hn::TestBit(hn::Combine(d, block(1), block(0)), pair.bits), old);
}

// Sets bits in a block. Returns the words as they were before.
HWY_INLINE VBlock SetWideBits(char* filter, uint64_t offset, VBlock bits) {
  const DBlock d;
  auto* const block = reinterpret_cast<uint32_t*>(filter + offset);
  const VBlock old = hn::LoadU(d, block);
  hn::StoreU(hn::Or(old, bits), d, block);
  return old;
}

// n must be a multiple of 64.
template <Source kSource, Prefetch kPrefetch>
HWY_INLINE void WideContains(const char* filter, uint64_t num_blocks, const Batch& batch, size_t n,
                             uint64_t* bits) {
  alignas(64) uint8_t present[64];
  ForEachWidePair<kSource, kPrefetch>(
      filter, num_blocks, batch, n,
      [&](const WidePair& pair)
          HWY_ATTR { TestPair(filter, pair, present + pair.step % 64 + pair.at); },
      [&](size_t end) HWY_ATTR {
        if (end % 64 == 0) bits[end / 64 - 1] = PresentBits(present, 0xFF);
      });
}

// n must be a multiple of kWideStep.
template <Source kSource, Prefetch kPrefetch>
HWY_INLINE void WideInsert(char* filter, uint64_t num_blocks, const Batch& batch, size_t n) {
  ForEachWidePair<kSource, kPrefetch>(
      filter, num_blocks, batch, n,
      [&](const WidePair& pair) HWY_ATTR {
        SetWideBits(filter, pair.block[0], hn::LowerHalf(DBlock(), pair.bits));
        SetWideBits(filter, pair.block[1], hn::UpperHalf(DBlock(), pair.bits));
      },
      [](size_t) {});
}

// n must be a multiple of 64.
template <Source kSource, Prefetch kPrefetch>
HWY_INLINE void WideInsertIfAbsent(char* filter, uint64_t num_blocks, const Batch& batch, size_t n,
                                   uint64_t* fresh) {
  alignas(64) uint8_t present[64];
  ForEachWidePair<kSource, kPrefetch>(
      filter, num_blocks, batch, n,
      [&](const WidePair& pair) HWY_ATTR {
        const D32 d;
        // Both keys may have the same block.
        const VBlock first = SetWideBits(filter, pair.block[0], hn::LowerHalf(DBlock(), pair.bits));
        const VBlock second =
            SetWideBits(filter, pair.block[1], hn::UpperHalf(DBlock(), pair.bits));
        StoreMask(hn::TestBit(hn::Combine(d, second, first), pair.bits),
                  present + pair.step % 64 + pair.at);
      },
      [&](size_t end) HWY_ATTR {
        if (end % 64 == 0) fresh[end / 64 - 1] = ~PresentBits(present, 0xFF);
      });
}

#endif  // TAMIS_SPLIT_BLOCK_WIDE

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
