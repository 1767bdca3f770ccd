// Split-block Bloom filter: probe and insert, mirroring tamis/split_block.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/split_block.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include "simd/blocks-inl.h"
#include "simd/families.h"
#include "simd/unroll.h"
#include "tamis/detail/split_block_kernels.h"
#include "tamis/split_block.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

namespace sb = split_block;

// One block, in one vector or two. Those of a view may begin at any multiple of 4 bytes, so they
// are loaded and stored as not aligned, which with AVX2 and later costs aligned ones nothing.
using DBlock = hn::CappedTag<uint32_t, sb::kWords>;
using VBlock = hn::Vec<DBlock>;

alignas(64) inline constexpr uint32_t kSalts[2 * sb::kWords] = {
    sb::Salt(0), sb::Salt(1), sb::Salt(2), sb::Salt(3), sb::Salt(4), sb::Salt(5),
    sb::Salt(6), sb::Salt(7), sb::Salt(0), sb::Salt(1), sb::Salt(2), sb::Salt(3),
    sb::Salt(4), sb::Salt(5), sb::Salt(6), sb::Salt(7)};

// The bits of one key: those of words [w, w + Lanes).
template <class D>
HWY_INLINE hn::Vec<D> WordBits(D d, hn::Vec<D> hash, const uint32_t* HWY_RESTRICT salts) {
  return hn::Shl(hn::Set(d, 1u), hn::ShiftRight<27>(hn::Mul(hash, hn::Load(d, salts))));
}

// The lanes in which the block has the bit of the hash, in all vectors that the block takes.
HWY_INLINE hn::Mask<DBlock> PresentLanes(const uint32_t* HWY_RESTRICT block, uint64_t h) {
  const DBlock d;
  const VBlock hash = hn::Set(d, static_cast<uint32_t>(h));
  auto all = hn::TestBit(hn::LoadU(d, block), WordBits(d, hash, kSalts));
  for (size_t w = hn::Lanes(d); w < sb::kWords; w += hn::Lanes(d)) {
    all = hn::And(all, hn::TestBit(hn::LoadU(d, block + w), WordBits(d, hash, kSalts + w)));
  }
  return all;
}

HWY_INLINE void SetBits(uint32_t* HWY_RESTRICT block, uint64_t h) {
  const DBlock d;
  const VBlock hash = hn::Set(d, static_cast<uint32_t>(h));
  for (size_t w = 0; w < sb::kWords; w += hn::Lanes(d)) {
    hn::StoreU(hn::Or(hn::LoadU(d, block + w), WordBits(d, hash, kSalts + w)), d, block + w);
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
    return hn::LoadU(d_block, reinterpret_cast<const uint32_t*>(filter + offsets[i]));
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

[[maybe_unused]] constexpr SplitBlockKernels kSplitBlock = {.contains = SplitBlockContains,
                                                            .insert = SplitBlockInsert,
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
