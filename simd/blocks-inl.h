// Parts that filters of blocks share: the blocks of keys, in the order of visits.

#if defined(TAMIS_SIMD_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_BLOCKS_INL_H_
#undef TAMIS_SIMD_BLOCKS_INL_H_
#else
#define TAMIS_SIMD_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>

#include "simd/hash-inl.h"
#include "simd/pipeline-inl.h"
#include "tamis/detail/batch.h"
#include "tamis/detail/compiler.h"
#include "tamis/layout/split_block.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

struct BlockRing {
  alignas(64) Ring hashes;
  alignas(64) Ring offsets[1];  // offsets of the blocks, in bytes
};

// Returns the offset of the block of each hash in bytes: BlockIndex times kBlockBytes.
template <uint64_t kBlockBytes>
HWY_INLINE V64 BlockOffsets(D64 d, V64 hash, uint64_t num_blocks) {
  static_assert(std::has_single_bit(kBlockBytes));
  const V64 scaled = hn::MulEven(hn::BitCast(D32(), SwapHalves(d, hash)),
                                 hn::BitCast(D32(), hn::Set(d, num_blocks)));
  return hn::And(hn::ShiftRight<32 - std::countr_zero(kBlockBytes)>(scaled),
                 hn::Set(d, ~(kBlockBytes - 1)));
}

// The part of a hash that selects the block: split_block::BlockIndex32 or BlockIndex64. A filter
// whose index takes 64 bits is so large that each visit waits for memory. So it needs no vectors.
enum class IndexBits { k32, k64 };

// Locates kStep keys, in blocks of kBlockBytes, and writes them to ring positions [at, at + kStep).
template <Source kSource, uint64_t kBlockBytes, IndexBits kIndexBits>
HWY_INLINE void LocateBlocks(const uint64_t* HWY_RESTRICT values, uint64_t seed_term,
                             uint64_t num_blocks, size_t at, BlockRing& ring) {
  if constexpr (kIndexBits == IndexBits::k64) {
    for (size_t i = 0; i < kStep; ++i) {
      const uint64_t h = HashOne<kSource>(values[i], seed_term);
      ring.hashes[at + i] = h;
      ring.offsets[0][at + i] = split_block::BlockIndex64(h, num_blocks) * kBlockBytes;
    }
    return;
  }
#if TAMIS_SCALAR_HASHES
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; ++i) {
    const uint64_t h = HashOne<kSource>(values[i], seed_term);
    ring.hashes[at + i] = h;
    ring.offsets[0][at + i] = ((h >> 32) * num_blocks >> 32) * kBlockBytes;
  }
#else
  const D64 d;
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; i += hn::Lanes(d)) {
    const V64 h = HashLanes<kSource>(d, hn::LoadU(d, values + i), hn::Set(d, seed_term));
    hn::Store(h, d, ring.hashes + at + i);
    hn::Store(BlockOffsets<kBlockBytes>(d, h, num_blocks), d, ring.offsets[0] + at + i);
  }
#endif
}

// Calls visit(i, hashes, offsets) for each kStep keys from i on, after their blocks were
// prefetched. n must be a multiple of kStep.
template <Source kSource, Prefetch kPrefetch, uint64_t kBlockBytes, IndexBits kIndexBits,
          typename Visit>
HWY_INLINE void ForEachBlockStep(const char* filter, uint64_t num_blocks, const Batch& batch,
                                 size_t n, const Visit& visit) {
  BlockRing ring;
  const uint64_t seed_term = batch.hasher.seed_term;
  ForEachStep<kPrefetch>(
      batch.values, n, filter, ring.offsets,
      [&](size_t i, size_t at) HWY_ATTR {
        const uint64_t* const values = batch.values + (i < n ? i : 0);
        LocateBlocks<kSource, kBlockBytes, kIndexBits>(values, seed_term, num_blocks, at, ring);
      },
      [&](size_t i, size_t at) HWY_ATTR { visit(i, ring.hashes + at, ring.offsets[0] + at); });
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
