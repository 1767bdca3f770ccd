// The kernels for filters of all kinds: hashes, outputs from bits, and whole filters.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/common.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "simd/families.h"
#include "simd/hash-inl.h"
#include "simd/strings-inl.h"
#include "simd/xxh64_rests-inl.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

template <Source kSource>
void HashAll(const Batch& batch, uint64_t* hashes) {
  const D64 d;
  const uint64_t* const values = batch.values;
  const size_t n = batch.n;
  const uint64_t seed_term = batch.hasher.seed_term;
  size_t i = 0;
#if !TAMIS_SCALAR_HASHES
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    PrefetchRead(values + i + kReadAhead);
    const V64 value = hn::LoadU(d, values + i);
    hn::StoreU(HashLanes<kSource>(d, value, hn::Set(d, seed_term)), d, hashes + i);
  }
#else
  (void)d;
#endif
  for (; i < n; ++i) hashes[i] = HashOne<kSource>(values[i], seed_term);
}

// Hashes the keys of two vectors.
template <int kC, int kD>
HWY_INLINE void SipStep(const KeyHasher& hasher, const uint64_t* values, uint64_t* hashes) {
  const D64 d;
  V64 a = hn::LoadU(d, values);
  V64 b = hn::LoadU(d, values + hn::Lanes(d));
  SipTwo<kC, kD>(d, hn::Set(d, hasher.seed_term), hn::Set(d, hasher.second_term), a, b);
  hn::StoreU(a, d, hashes);
  hn::StoreU(b, d, hashes + hn::Lanes(d));
}

template <int kC, int kD>
void SipAll(const Batch& batch, uint64_t* hashes) {
  const size_t step = 2 * hn::Lanes(D64());
  const KeyHasher hasher = batch.hasher;
  const uint64_t* const values = batch.values;
  const size_t n = batch.n;
  size_t i = 0;
  for (; i + step <= n; i += step) {
    PrefetchRead(values + i + kReadAhead);
    PrefetchRead(values + i + kReadAhead + kStep);
    SipStep<kC, kD>(hasher, values + i, hashes + i);
  }
  if (i == n) return;
  // Hashes the remaining keys as a vector. Hashing them one by one would take longer than the rest
  // of a small batch.
  alignas(64) uint64_t rest[2 * kStep] = {};
  std::copy_n(values + i, n - i, rest);
  SipStep<kC, kD>(hasher, rest, rest);
  std::copy_n(rest, n - i, hashes + i);
}

void Hash(const Batch& batch, uint64_t* hashes) {
  switch (batch.hasher.source) {
    case Source::kSip13:
      return SipAll<1, 3>(batch, hashes);
    case Source::kSip24:
      return SipAll<2, 4>(batch, hashes);
    case Source::kXxh3Of4:
      return HashAll<Source::kXxh3Of4>(batch, hashes);
    case Source::kXxh64Of4:
      return HashAll<Source::kXxh64Of4>(batch, hashes);
    default:
      WithSource(batch.hasher.source,
                 [&](auto source) HWY_ATTR { HashAll<source()>(batch, hashes); });
  }
}

void BitsToBytes(const uint64_t* bits, size_t n, uint8_t* HWY_RESTRICT bytes) {
  const hn::CappedTag<uint8_t, 64> d;
  const auto one = hn::Set(d, uint8_t{1});
  const size_t whole = n / 64 * 64;
  for (size_t i = 0; i < whole; i += 64) {
    alignas(8) uint8_t word[8 + 8] = {};  // LoadMaskBits may read 8 bytes from any of the first 8
    hwy::CopyBytes<8>(bits + i / 64, word);
    for (size_t j = 0; j < 64; j += hn::Lanes(d)) {
      hn::StoreU(hn::IfThenElseZero(hn::LoadMaskBits(d, word + j / 8), one), d, bytes + i + j);
    }
  }
  for (size_t i = whole; i < n; ++i) bytes[i] = (bits[i / 64] >> (i % 64)) & 1;
}

// CompressStore can write whole vectors. The next vector overwrites the indices past the hits.
// `out` has room for whole vectors, because hits never outnumber keys.
template <typename Index>
size_t BitsToIndices(const uint64_t* bits, size_t n, uint64_t first, Index* HWY_RESTRICT out) {
  const hn::CappedTag<Index, 64 / sizeof(Index)> d;
  const size_t chunk = hn::Lanes(d);
  size_t found = 0, i = 0;
#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 64
  const auto step = hn::Set(d, static_cast<Index>(chunk));
  auto index = hn::Iota(d, static_cast<Index>(first));
  for (; i + 64 <= n; i += 64) {
    for (size_t j = 0; j < 64; j += chunk) {
      alignas(8) uint8_t mask_bits[8];
      const uint64_t rest = bits[i / 64] >> j;
      hwy::CopyBytes<8>(&rest, mask_bits);
      found += hn::CompressStore(index, hn::LoadMaskBits(d, mask_bits), d, out + found);
      index = hn::Add(index, step);
    }
  }
#endif
  (void)chunk;
  for (; i < n; i += 64) {
    for (uint64_t rest = bits[i / 64]; rest != 0; rest &= rest - 1) {
      out[found++] = static_cast<Index>(first + i + std::countr_zero(rest));
    }
  }
  return found;
}

uint64_t PopCount(const uint64_t* HWY_RESTRICT words, size_t n) {
  const hn::ScalableTag<uint64_t> d;
  auto sum = hn::Zero(d);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    sum = hn::Add(sum, hn::PopulationCount(hn::LoadU(d, words + i)));
  }
  uint64_t total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < n; ++i) total += std::popcount(words[i]);
  return total;
}

void Merge(uint64_t* HWY_RESTRICT into, const uint64_t* HWY_RESTRICT from, size_t n) {
  const hn::ScalableTag<uint64_t> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreU(hn::Or(hn::LoadU(d, into + i), hn::LoadU(d, from + i)), d, into + i);
  }
  for (; i < n; ++i) into[i] |= from[i];
}

void Intersect(uint64_t* HWY_RESTRICT into, const uint64_t* HWY_RESTRICT from, size_t n) {
  const hn::ScalableTag<uint64_t> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreU(hn::And(hn::LoadU(d, into + i), hn::LoadU(d, from + i)), d, into + i);
  }
  for (; i < n; ++i) into[i] &= from[i];
}

[[maybe_unused]] constexpr CommonKernels kCommon = {.hash = Hash,
                                                    .xxh64_rests = HashXxh64Rests,
                                                    .sort_by_length = SortByLength,
                                                    .end_xxh3 = EndAllXxh3,
                                                    .bits_to_bytes = BitsToBytes,
                                                    .bits_to_indices32 = BitsToIndices<uint32_t>,
                                                    .bits_to_indices64 = BitsToIndices<uint64_t>,
                                                    .popcount = PopCount,
                                                    .merge = Merge,
                                                    .intersect = Intersect};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::detail::simd {

TAMIS_DEFINE_FAMILY(CommonKernels, common, kCommon)

}  // namespace tamis::detail::simd
#endif  // HWY_ONCE
