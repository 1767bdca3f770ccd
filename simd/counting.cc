// Counting Bloom filter: probe, insert and erase, mirroring tamis/layout/counting.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/counting.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include "simd/blocks-inl.h"
#include "simd/families.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/counting_kernels.h"
#include "tamis/layout/counting.h"
#include "tamis/layout/split_block.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// The salts of split-block filters, each in a word of its own.
alignas(64) inline constexpr uint64_t kWideSalts[counting::kWords] = {
    split_block::Salt(0), split_block::Salt(1), split_block::Salt(2), split_block::Salt(3),
    split_block::Salt(4), split_block::Salt(5), split_block::Salt(6), split_block::Salt(7)};

// Computes counting::CounterShift for words [w, w + Lanes).
HWY_INLINE V64 CounterShifts(D64 d, uint64_t hash, size_t w) {
  const V64 product = hn::MulEven(hn::BitCast(D32(), hn::Set(d, hash)),
                                  hn::BitCast(D32(), hn::Load(d, kWideSalts + w)));
  return hn::And(hn::ShiftRight<28 - 2>(product), hn::Set(d, 0x3C));
}

// Returns the lanes in which a counter of the hash is 0, in any vector of the block.
HWY_INLINE hn::Mask<D64> ZeroLanes(const uint64_t* HWY_RESTRICT block, uint64_t hash) {
  const D64 d;
  const auto is_zero = [&](size_t w) HWY_ATTR {
    const V64 counter = hn::Shl(hn::Set(d, counting::kMaxCount), CounterShifts(d, hash, w));
    return hn::Eq(hn::And(hn::Load(d, block + w), counter), hn::Zero(d));
  };
  auto any = is_zero(0);
  for (size_t w = hn::Lanes(d); w < counting::kWords; w += hn::Lanes(d)) {
    any = hn::Or(any, is_zero(w));
  }
  return any;
}

// Adds one to each counter of the hash that is not saturated, or subtracts one from it.
template <bool kErase>
HWY_INLINE void CountBlock(uint64_t* HWY_RESTRICT block, uint64_t hash) {
  const D64 d;
  for (size_t w = 0; w < counting::kWords; w += hn::Lanes(d)) {
    const V64 shift = CounterShifts(d, hash, w);
    const V64 counter = hn::Shl(hn::Set(d, counting::kMaxCount), shift);
    const V64 word = hn::Load(d, block + w);
    const V64 one = hn::Shl(hn::Set(d, 1), shift);
    const V64 step = hn::IfThenZeroElse(hn::Eq(hn::And(word, counter), counter), one);
    hn::Store(kErase ? hn::Sub(word, step) : hn::Add(word, step), d, block + w);
  }
}

bool CountingContainsOne(const uint64_t* words, uint64_t num_blocks, uint64_t hash) {
  const uint64_t* block = words + counting::kWords * counting::BlockIndex(hash, num_blocks);
  return hn::AllFalse(D64(), ZeroLanes(block, hash));
}

void CountingInsertOne(uint64_t* words, uint64_t num_blocks, uint64_t hash) {
  CountBlock<false>(words + counting::kWords * counting::BlockIndex(hash, num_blocks), hash);
}

bool CountingEraseOne(uint64_t* words, uint64_t num_blocks, uint64_t hash) {
  uint64_t* block = words + counting::kWords * counting::BlockIndex(hash, num_blocks);
  if (!hn::AllFalse(D64(), ZeroLanes(block, hash))) return false;
  CountBlock<true>(block, hash);
  return true;
}

template <Source kSource, Prefetch kPrefetch>
void CountingContainsAll(const uint64_t* words, uint64_t num_blocks, const Batch& batch,
                         uint64_t* bits) {
  const char* filter = reinterpret_cast<const char*>(words);
  const size_t whole = batch.n / 64 * 64;
  uint64_t found = 0;
  ForEachBlockStep<kSource, kPrefetch, counting::kBlockBytes, IndexBits::k32>(
      filter, num_blocks, batch, whole,
      [&](size_t i, const uint64_t* hashes, const uint64_t* offsets) HWY_ATTR {
        TAMIS_UNROLL
        for (size_t j = 0; j < kStep; ++j) {
          const auto* block = reinterpret_cast<const uint64_t*>(filter + offsets[j]);
          const bool present = hn::AllFalse(D64(), ZeroLanes(block, hashes[j]));
          found = (found >> 1) | (uint64_t{present} << 63);
        }
        if (i % 64 == 64 - kStep) bits[i / 64] = found;
      });
  if (whole == batch.n) return;
  uint64_t last = 0;
  for (size_t i = whole; i < batch.n; ++i) {
    const uint64_t hash = batch.hasher(batch.values[i]);
    last |= uint64_t{CountingContainsOne(words, num_blocks, hash)} << (i - whole);
  }
  bits[whole / 64] = last;
}

template <Source kSource, Prefetch kPrefetch>
void CountingInsertAll(uint64_t* words, uint64_t num_blocks, const Batch& batch) {
  char* filter = reinterpret_cast<char*>(words);
  const size_t whole = batch.n / kStep * kStep;
  ForEachBlockStep<kSource, kPrefetch, counting::kBlockBytes, IndexBits::k32>(
      filter, num_blocks, batch, whole,
      [&](size_t, const uint64_t* hashes, const uint64_t* offsets) HWY_ATTR {
        TAMIS_UNROLL
        for (size_t j = 0; j < kStep; ++j) {
          CountBlock<false>(reinterpret_cast<uint64_t*>(filter + offsets[j]), hashes[j]);
        }
      });
  for (size_t i = whole; i < batch.n; ++i) {
    CountingInsertOne(words, num_blocks, batch.hasher(batch.values[i]));
  }
}

void CountingContains(const uint64_t* words, uint64_t num_blocks, const Batch& batch,
                      uint64_t* bits) {
  const bool far = num_blocks * counting::kBlockBytes > kFarBytes;
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    return far ? CountingContainsAll<source(), Prefetch::kL2>(words, num_blocks, batch, bits)
               : CountingContainsAll<source(), Prefetch::kL1>(words, num_blocks, batch, bits);
  });
}

void CountingInsert(uint64_t* words, uint64_t num_blocks, const Batch& batch) {
  const bool far = num_blocks * counting::kBlockBytes > kFarBytes;
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    return far ? CountingInsertAll<source(), Prefetch::kL2>(words, num_blocks, batch)
               : CountingInsertAll<source(), Prefetch::kL1>(words, num_blocks, batch);
  });
}

[[maybe_unused]] constexpr CountingKernels kCounting = {.contains = CountingContains,
                                                        .insert = CountingInsert,
                                                        .contains_one = CountingContainsOne,
                                                        .insert_one = CountingInsertOne,
                                                        .erase_one = CountingEraseOne};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::detail::simd {

TAMIS_DEFINE_FAMILY(CountingKernels, counting, kCounting)

}  // namespace tamis::detail::simd
#endif  // HWY_ONCE
