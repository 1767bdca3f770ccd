// Split-block Bloom filter: probe and insert, mirroring tamis/split_block.h.

#if defined(TAMIS_SIMD_SPLIT_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_SPLIT_BLOCK_INL_H_
#undef TAMIS_SIMD_SPLIT_BLOCK_INL_H_
#else
#define TAMIS_SIMD_SPLIT_BLOCK_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>

#include "simd/hash-inl.h"
#include "simd/pipeline-inl.h"
#include "simd/unroll.h"
#include "tamis/detail/kernels.h"
#include "tamis/split_block.h"

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

namespace sb = split_block;

// One block, in one vector or two.
using DBlock = hn::CappedTag<uint32_t, sb::kWords>;
using VBlock = hn::Vec<DBlock>;

alignas(64) inline constexpr uint32_t kSalts[2 * sb::kWords] = {
    sb::Salt(0), sb::Salt(1), sb::Salt(2), sb::Salt(3), sb::Salt(4), sb::Salt(5),
    sb::Salt(6), sb::Salt(7), sb::Salt(0), sb::Salt(1), sb::Salt(2), sb::Salt(3),
    sb::Salt(4), sb::Salt(5), sb::Salt(6), sb::Salt(7)};

struct BlockRing {
  alignas(64) Ring hashes;
  alignas(64) Ring offsets[1];  // of the blocks, in bytes
};

// Locates kStep keys, in blocks of kBlockBytes, and writes them to ring positions [at, at + kStep).
template <Source kSource, uint64_t kBlockBytes>
HWY_INLINE void LocateBlocks(const uint64_t* HWY_RESTRICT values, uint64_t seed_term,
                             uint64_t num_blocks, size_t at, BlockRing& ring) {
  const D64 d;
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; i += hn::Lanes(d)) {
    const V64 h = HashLanes<kSource>(d, hn::LoadU(d, values + i), hn::Set(d, seed_term));
    // BlockIndex, then times the bytes of a block.
    const V64 scaled = hn::MulEven(hn::BitCast(D32(), SwapHalves(d, h)),
                                   hn::BitCast(D32(), hn::Set(d, num_blocks)));
    const V64 offset = hn::And(hn::ShiftRight<32 - std::countr_zero(kBlockBytes)>(scaled),
                               hn::Set(d, ~(kBlockBytes - 1)));
    static_assert(std::has_single_bit(kBlockBytes));
    hn::Store(h, d, ring.hashes + at + i);
    hn::Store(offset, d, ring.offsets[0] + at + i);
  }
}

// The bits of one key: those of words [w, w + Lanes).
template <class D>
HWY_INLINE hn::Vec<D> WordBits(D d, hn::Vec<D> hash, const uint32_t* HWY_RESTRICT salts) {
  return hn::Shl(hn::Set(d, 1u), hn::ShiftRight<27>(hn::Mul(hash, hn::Load(d, salts))));
}

// Calls visit(i, hashes, offsets) for each kStep keys from i on, whose blocks have been prefetched.
// n is a multiple of kStep.
template <Source kSource, Prefetch kPrefetch, uint64_t kBlockBytes, typename Visit>
HWY_INLINE void ForEachBlockStep(const char* filter, uint64_t num_blocks, const Batch& batch,
                                 size_t n, const Visit& visit) {
  BlockRing ring;
  const uint64_t seed_term = batch.hasher.seed_term;
  ForEachStep<kPrefetch>(
      batch.values, n, filter, ring.offsets,
      [&](const uint64_t* values, size_t at)
          HWY_ATTR { LocateBlocks<kSource, kBlockBytes>(values, seed_term, num_blocks, at, ring); },
      [&](size_t i, size_t at) HWY_ATTR { visit(i, ring.hashes + at, ring.offsets[0] + at); });
}

// The lanes in which the block has the bit of the hash, in all vectors that the block takes.
HWY_INLINE hn::Mask<DBlock> PresentLanes(const uint32_t* HWY_RESTRICT block, uint64_t h) {
  const DBlock d;
  const VBlock hash = hn::Set(d, static_cast<uint32_t>(h));
  auto all = hn::TestBit(hn::Load(d, block), WordBits(d, hash, kSalts));
  for (size_t w = hn::Lanes(d); w < sb::kWords; w += hn::Lanes(d)) {
    all = hn::And(all, hn::TestBit(hn::Load(d, block + w), WordBits(d, hash, kSalts + w)));
  }
  return all;
}

HWY_INLINE void SetBits(uint32_t* HWY_RESTRICT block, uint64_t h) {
  const DBlock d;
  const VBlock hash = hn::Set(d, static_cast<uint32_t>(h));
  for (size_t w = 0; w < sb::kWords; w += hn::Lanes(d)) {
    hn::Store(hn::Or(hn::Load(d, block + w), WordBits(d, hash, kSalts + w)), d, block + w);
  }
}

bool SplitBlockContainsOne(const uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  const uint32_t* block = words + sb::kWords * sb::BlockIndex(hash, num_blocks);
  return hn::AllTrue(DBlock(), PresentLanes(block, hash));
}

void SplitBlockInsertOne(uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  SetBits(words + sb::kWords * sb::BlockIndex(hash, num_blocks), hash);
}

// Probes kStep keys and writes one byte for each: kPresent if all its bits are there.
#if HWY_MAX_BYTES >= 64 && HWY_ARCH_X86
inline constexpr uint8_t kPresent = 0xFF;  // one bit per word

HWY_INLINE void ProbeStep(const char* filter, const uint64_t* HWY_RESTRICT hashes,
                          const uint64_t* HWY_RESTRICT offsets, uint8_t* HWY_RESTRICT present) {
  // Two blocks go through one register: the low halves of hashes 2i and 2i + 1, eight times each.
  alignas(64) static constexpr int32_t kPairs[kStep / 2][16] = {
      {0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2},
      {4, 4, 4, 4, 4, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6, 6},
      {8, 8, 8, 8, 8, 8, 8, 8, 10, 10, 10, 10, 10, 10, 10, 10},
      {12, 12, 12, 12, 12, 12, 12, 12, 14, 14, 14, 14, 14, 14, 14, 14}};
  const D32 d;
  const DBlock d_block;
  const V32 all_hashes = hn::Load(d, reinterpret_cast<const uint32_t*>(hashes));
  const auto block = [&](size_t i) HWY_ATTR {
    return hn::Load(d_block, reinterpret_cast<const uint32_t*>(filter + offsets[i]));
  };
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; i += 2) {
    const V32 hash = hn::TableLookupLanes(all_hashes, hn::SetTableIndices(d, kPairs[i / 2]));
    const V32 blocks = hn::Combine(d, block(i + 1), block(i));
    hn::StoreMaskBits(d, hn::TestBit(blocks, WordBits(d, hash, kSalts)), present + i);
  }
}
#else
#if HWY_ARCH_X86
inline constexpr uint8_t kPresent = (1 << hn::MaxLanes(DBlock())) - 1;  // one bit per lane
#else
inline constexpr uint8_t kPresent = 1;
#endif

HWY_INLINE void ProbeStep(const char* filter, const uint64_t* HWY_RESTRICT hashes,
                          const uint64_t* HWY_RESTRICT offsets, uint8_t* HWY_RESTRICT present) {
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; ++i) {
    const auto* block = reinterpret_cast<const uint32_t*>(filter + offsets[i]);
#if HWY_ARCH_X86
    hn::StoreMaskBits(DBlock(), PresentLanes(block, hashes[i]), present + i);
#else
    present[i] = hn::AllTrue(DBlock(), PresentLanes(block, hashes[i]));
#endif
  }
}
#endif

// One bit for each of 64 bytes: whether it is kPresent.
HWY_INLINE uint64_t PresentBits(const uint8_t* HWY_RESTRICT present) {
  const hn::CappedTag<uint8_t, 64> d;
  alignas(8) uint8_t bits[8 + 8] = {};  // a mask of fewer than 8 lanes still takes a byte
  for (size_t i = 0; i < 64; i += hn::Lanes(d)) {
    hn::StoreMaskBits(d, hn::Eq(hn::Load(d, present + i), hn::Set(d, kPresent)), bits + i / 8);
  }
  uint64_t word;
  hwy::CopyBytes<8>(bits, &word);
  return word;
}

template <Source kSource, Prefetch kPrefetch>
void ContainsAll(const uint32_t* words, uint64_t num_blocks, const Batch& batch, uint64_t* bits) {
  const char* filter = reinterpret_cast<const char*>(words);
  const size_t whole = batch.n / 64 * 64;
  alignas(64) uint8_t present[64];
  ForEachBlockStep<kSource, kPrefetch, sb::kBlockBytes>(
      filter, num_blocks, batch, whole,
      [&](size_t i, const uint64_t* hashes, const uint64_t* offsets) HWY_ATTR {
        ProbeStep(filter, hashes, offsets, present + i % 64);
        if (i % 64 == 64 - kStep) bits[i / 64] = PresentBits(present);
      });
  if (whole == batch.n) return;
  uint64_t last = 0;
  for (size_t i = whole; i < batch.n; ++i) {
    const uint64_t hash = batch.hasher(batch.values[i]);
    last |= uint64_t{SplitBlockContainsOne(words, num_blocks, hash)} << (i - whole);
  }
  bits[whole / 64] = last;
}

template <Source kSource, Prefetch kPrefetch>
void InsertAll(uint32_t* words, uint64_t num_blocks, const Batch& batch) {
  char* filter = reinterpret_cast<char*>(words);
  const size_t whole = batch.n / kStep * kStep;
  ForEachBlockStep<kSource, kPrefetch, sb::kBlockBytes>(
      filter, num_blocks, batch, whole,
      [&](size_t, const uint64_t* hashes, const uint64_t* offsets) HWY_ATTR {
        TAMIS_UNROLL
        for (size_t i = 0; i < kStep; ++i) {
          SetBits(reinterpret_cast<uint32_t*>(filter + offsets[i]), hashes[i]);
        }
      });
  for (size_t i = whole; i < batch.n; ++i) {
    SplitBlockInsertOne(words, num_blocks, batch.hasher(batch.values[i]));
  }
}

void SplitBlockContains(const uint32_t* words, uint64_t num_blocks, const Batch& batch,
                        uint64_t* bits) {
  const bool far = num_blocks * sb::kBlockBytes > kFarBytes;
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    return far ? ContainsAll<source(), Prefetch::kL2>(words, num_blocks, batch, bits)
               : ContainsAll<source(), Prefetch::kL1>(words, num_blocks, batch, bits);
  });
}

void SplitBlockInsert(uint32_t* words, uint64_t num_blocks, const Batch& batch) {
  const bool far = num_blocks * sb::kBlockBytes > kFarBytes;
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    return far ? InsertAll<source(), Prefetch::kL2>(words, num_blocks, batch)
               : InsertAll<source(), Prefetch::kL1>(words, num_blocks, batch);
  });
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#endif  // include guard
