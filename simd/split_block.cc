// Split-block Bloom filter: probe and insert, mirroring tamis/layout/split_block.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/split_block.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include "simd/blocks-inl.h"
#include "simd/families.h"
#include "simd/split_block_bits-inl.h"
#include "simd/split_block_staged-inl.h"
#include "simd/split_block_wide-inl.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/split_block_kernels.h"
#include "tamis/layout/split_block.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

namespace sb = split_block;

// Returns the lanes in which the block has the bit of the hash, in all vectors of the block.
HWY_INLINE hn::Mask<DBlock> PresentLanes(const uint32_t* HWY_RESTRICT block, uint64_t h) {
  const DBlock d;
  const VBlock hash = hn::Set(d, static_cast<uint32_t>(h));
  auto all = hn::TestBit(hn::LoadU(d, block), WordBits(d, hash, kSalts));
  for (size_t w = hn::Lanes(d); w < sb::kWords; w += hn::Lanes(d)) {
    all = hn::And(all, hn::TestBit(hn::LoadU(d, block + w), WordBits(d, hash, kSalts + w)));
  }
  return all;
}

// Sets the bits of a hash. Returns the lanes in which the block already had them, like
// PresentLanes.
HWY_INLINE hn::Mask<DBlock> TestAndSetBits(uint32_t* HWY_RESTRICT block, uint64_t h) {
  const DBlock d;
  const VBlock hash = hn::Set(d, static_cast<uint32_t>(h));
  const auto set = [&](size_t w) HWY_ATTR {
    const VBlock old = hn::LoadU(d, block + w);
    const VBlock bits = WordBits(d, hash, kSalts + w);
    hn::StoreU(hn::Or(old, bits), d, block + w);
    return hn::TestBit(old, bits);
  };
  auto all = set(0);
  for (size_t w = hn::Lanes(d); w < sb::kWords; w += hn::Lanes(d)) all = hn::And(all, set(w));
  return all;
}

bool SplitBlockContainsOne(const uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  const uint32_t* block = words + sb::kWords * sb::BlockIndex(hash, num_blocks);
  return hn::AllTrue(DBlock(), PresentLanes(block, hash));
}

void SplitBlockInsertOne(uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  SetBits(words + sb::kWords * sb::BlockIndex(hash, num_blocks), hash);
}

// The byte of a key if all lanes of PresentLanes are set.
#if HWY_ARCH_X86
inline constexpr uint8_t kAllLanes = (1 << hn::MaxLanes(DBlock())) - 1;  // one bit per lane
#elif TAMIS_NEON64
inline constexpr uint8_t kAllLanes = 0xFF;
#else
inline constexpr uint8_t kAllLanes = 1;
#endif

// Calls lanes(i), which returns lanes as PresentLanes does, for kStep keys in their order. Writes a
// byte for each key: kAllLanes if all lanes are set.
template <typename Lanes>
HWY_INLINE void StorePresent(const Lanes& lanes, uint8_t* HWY_RESTRICT present) {
#if TAMIS_NEON64
  // Finds the least lane of all keys at once, because moving data from vectors to other registers
  // is slow.
  static_assert(kStep == 8);
  uint32x4_t all[kStep];
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; ++i) all[i] = hn::VecFromMask(DBlock(), lanes(i)).raw;
  const auto least_of_4 = [&](size_t i) HWY_ATTR {
    return vreinterpretq_u16_u32(
        vpminq_u32(vpminq_u32(all[i], all[i + 1]), vpminq_u32(all[i + 2], all[i + 3])));
  };
  vst1_u8(present, vmovn_u16(vuzp1q_u16(least_of_4(0), least_of_4(4))));
#else
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; ++i) {
#if HWY_ARCH_X86
    hn::StoreMaskBits(DBlock(), lanes(i), present + i);
#else
    present[i] = hn::AllTrue(DBlock(), lanes(i));
#endif
  }
#endif
}

// Probes kStep keys. Writes one byte for each: kAllLanes if all its bits are set.
HWY_INLINE void ProbeStep(const char* filter, const uint64_t* HWY_RESTRICT hashes,
                          const uint64_t* HWY_RESTRICT offsets, uint8_t* HWY_RESTRICT present) {
  StorePresent(
      [&](size_t i) HWY_ATTR {
        return PresentLanes(reinterpret_cast<const uint32_t*>(filter + offsets[i]), hashes[i]);
      },
      present);
}

// Inserts kStep keys. Writes one byte for each: kAllLanes if all its bits were already set.
HWY_INLINE void InsertStep(char* filter, const uint64_t* HWY_RESTRICT hashes,
                           const uint64_t* HWY_RESTRICT offsets, uint8_t* HWY_RESTRICT present) {
  StorePresent(
      [&](size_t i) HWY_ATTR {
        return TestAndSetBits(reinterpret_cast<uint32_t*>(filter + offsets[i]), hashes[i]);
      },
      present);
}

// The operations on whole steps of a batch, for all targets and filters. Filters whose index has 32
// bits have faster ones on some targets.
template <Source kSource, Prefetch kPrefetch, IndexBits kIndexBits>
void ContainsSteps(const char* filter, uint64_t num_blocks, const Batch& batch, size_t n,
                   uint64_t* bits) {
  alignas(64) uint8_t present[64];
  ForEachBlockStep<kSource, kPrefetch, sb::kBlockBytes, kIndexBits>(
      filter, num_blocks, batch, n,
      [&](size_t i, const uint64_t* hashes, const uint64_t* offsets) HWY_ATTR {
        ProbeStep(filter, hashes, offsets, present + i % 64);
        if (i % 64 == 64 - kStep) bits[i / 64] = PresentBits(present, kAllLanes);
      });
}

template <Source kSource, Prefetch kPrefetch, IndexBits kIndexBits>
void InsertSteps(char* filter, uint64_t num_blocks, const Batch& batch, size_t n) {
  ForEachBlockStep<kSource, kPrefetch, sb::kBlockBytes, kIndexBits>(
      filter, num_blocks, batch, n,
      [&](size_t, const uint64_t* hashes, const uint64_t* offsets) HWY_ATTR {
        TAMIS_UNROLL
        for (size_t i = 0; i < kStep; ++i) {
          SetBits(reinterpret_cast<uint32_t*>(filter + offsets[i]), hashes[i]);
        }
      });
}

template <Source kSource, Prefetch kPrefetch, IndexBits kIndexBits>
void InsertStepsIfAbsent(char* filter, uint64_t num_blocks, const Batch& batch, size_t n,
                         uint64_t* fresh) {
  alignas(64) uint8_t present[64];
  ForEachBlockStep<kSource, kPrefetch, sb::kBlockBytes, kIndexBits>(
      filter, num_blocks, batch, n,
      [&](size_t i, const uint64_t* hashes, const uint64_t* offsets) HWY_ATTR {
        InsertStep(filter, hashes, offsets, present + i % 64);
        if (i % 64 == 64 - kStep) fresh[i / 64] = ~PresentBits(present, kAllLanes);
      });
}

template <Source kSource, Prefetch kPrefetch, IndexBits kIndexBits>
void ContainsAll(const uint32_t* words, uint64_t num_blocks, const Batch& batch, uint64_t* bits) {
  const char* filter = reinterpret_cast<const char*>(words);
  const size_t whole = batch.n / 64 * 64;
  if constexpr (kIndexBits == IndexBits::k64) {
    ContainsSteps<kSource, kPrefetch, kIndexBits>(filter, num_blocks, batch, whole, bits);
  } else {
#if TAMIS_SPLIT_BLOCK_WIDE
    WideContains<kSource, kPrefetch>(filter, num_blocks, batch, whole, bits);
#elif TAMIS_SPLIT_BLOCK_STAGED
    StagedContains<kSource, kPrefetch>(filter, num_blocks, batch, whole, bits);
#else
    ContainsSteps<kSource, kPrefetch, kIndexBits>(filter, num_blocks, batch, whole, bits);
#endif
  }
  if (whole == batch.n) return;
  uint64_t last = 0;
  for (size_t i = whole; i < batch.n; ++i) {
    const uint64_t hash = batch.hasher(batch.values[i]);
    last |= uint64_t{SplitBlockContainsOne(words, num_blocks, hash)} << (i - whole);
  }
  bits[whole / 64] = last;
}

template <Source kSource, Prefetch kPrefetch, IndexBits kIndexBits>
void InsertAll(uint32_t* words, uint64_t num_blocks, const Batch& batch) {
  char* filter = reinterpret_cast<char*>(words);
  size_t whole;
  if constexpr (kIndexBits == IndexBits::k64) {
    whole = batch.n / kStep * kStep;
    InsertSteps<kSource, kPrefetch, kIndexBits>(filter, num_blocks, batch, whole);
  } else {
#if TAMIS_SPLIT_BLOCK_WIDE
    whole = batch.n / kWideStep * kWideStep;
    WideInsert<kSource, kPrefetch>(filter, num_blocks, batch, whole);
#elif TAMIS_SPLIT_BLOCK_STAGED
    whole = batch.n / kStagedStep * kStagedStep;
    StagedInsert<kSource, kPrefetch>(filter, num_blocks, batch, whole);
#else
    whole = batch.n / kStep * kStep;
    InsertSteps<kSource, kPrefetch, kIndexBits>(filter, num_blocks, batch, whole);
#endif
  }
  for (size_t i = whole; i < batch.n; ++i) {
    SplitBlockInsertOne(words, num_blocks, batch.hasher(batch.values[i]));
  }
}

template <Source kSource, Prefetch kPrefetch, IndexBits kIndexBits>
void InsertAllIfAbsent(uint32_t* words, uint64_t num_blocks, const Batch& batch, uint64_t* fresh) {
  char* filter = reinterpret_cast<char*>(words);
  const size_t whole = batch.n / 64 * 64;
  if constexpr (kIndexBits == IndexBits::k64) {
    InsertStepsIfAbsent<kSource, kPrefetch, kIndexBits>(filter, num_blocks, batch, whole, fresh);
  } else {
#if TAMIS_SPLIT_BLOCK_WIDE
    WideInsertIfAbsent<kSource, kPrefetch>(filter, num_blocks, batch, whole, fresh);
#else
    InsertStepsIfAbsent<kSource, kPrefetch, kIndexBits>(filter, num_blocks, batch, whole, fresh);
#endif
  }
  if (whole == batch.n) return;
  uint64_t last = 0;
  for (size_t i = whole; i < batch.n; ++i) {
    const uint64_t hash = batch.hasher(batch.values[i]);
    uint32_t* const block = words + sb::kWords * sb::BlockIndex(hash, num_blocks);
    const bool present_one = hn::AllTrue(DBlock(), TestAndSetBits(block, hash));
    last |= uint64_t{!present_one} << (i - whole);
  }
  fresh[whole / 64] = last;
}

// Filters of up to this size fit in every second-level cache. Blocks arrive from there early enough
// without prefetching.
inline constexpr uint64_t kNearBytes = uint64_t{256} << 10;

void SplitBlockContains(const uint32_t* words, uint64_t num_blocks, const Batch& batch,
                        uint64_t* bits) {
  using enum Prefetch;
  using enum IndexBits;
  const uint64_t bytes = num_blocks * sb::kBlockBytes;
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    const auto all = num_blocks > sb::kMaxBlocks32 ? ContainsAll<source(), kL2, k64>
                     : bytes > kFarBytes           ? ContainsAll<source(), kL2, k32>
                     : bytes > kNearBytes          ? ContainsAll<source(), kL1, k32>
                                                   : ContainsAll<source(), kNone, k32>;
    all(words, num_blocks, batch, bits);
  });
}

void SplitBlockInsert(uint32_t* words, uint64_t num_blocks, const Batch& batch) {
  using enum Prefetch;
  using enum IndexBits;
  const bool far = num_blocks * sb::kBlockBytes > kFarBytes;
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    const auto all = num_blocks > sb::kMaxBlocks32 ? InsertAll<source(), kL2, k64>
                     : far                         ? InsertAll<source(), kL2, k32>
                                                   : InsertAll<source(), kL1, k32>;
    all(words, num_blocks, batch);
  });
}

void SplitBlockInsertIfAbsent(uint32_t* words, uint64_t num_blocks, const Batch& batch,
                              uint64_t* fresh) {
  using enum Prefetch;
  using enum IndexBits;
  const bool far = num_blocks * sb::kBlockBytes > kFarBytes;
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    const auto all = num_blocks > sb::kMaxBlocks32 ? InsertAllIfAbsent<source(), kL2, k64>
                     : far                         ? InsertAllIfAbsent<source(), kL2, k32>
                                                   : InsertAllIfAbsent<source(), kL1, k32>;
    all(words, num_blocks, batch, fresh);
  });
}

[[maybe_unused]] constexpr SplitBlockKernels kSplitBlock = {
    .contains = SplitBlockContains,
    .insert = SplitBlockInsert,
    .insert_if_absent = SplitBlockInsertIfAbsent,
    .contains_one = SplitBlockContainsOne,
    .insert_one = SplitBlockInsertOne};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::detail::simd {

TAMIS_DEFINE_FAMILY(SplitBlockKernels, split_block, kSplitBlock)

}  // namespace tamis::detail::simd
#endif  // HWY_ONCE
