// Filter banks: lookups, counts and transposition, mirroring tamis/layout/bank.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/bank.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "simd/families.h"
#include "simd/split_block_bits-inl.h"
#include "tamis/detail/bank_kernels.h"
#include "tamis/detail/compiler.h"
#include "tamis/layout/bank.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

namespace sb = split_block;

// A row, in one vector or several.
using DRow = hn::CappedTag<uint64_t, bank::kRowWords>;
using VRow = hn::Vec<DRow>;

// ---- Lookups ----

// Number of pairs of a key and a group that are prefetched ahead. Each has eight cache lines.
inline constexpr size_t kPairsAhead = 12;
// Number of keys whose rows are computed in advance.
inline constexpr size_t kKeysAtOnce = 128;

// The parts of a key's hash that locate its rows in any group.
struct KeyRows {
  alignas(32) uint32_t offsets[sb::kWords];  // offsets from the start of the block, in bytes
  uint64_t block_fraction;                   // the high half of the hash
};

HWY_INLINE void LocateRows(uint64_t hash, KeyRows& key) {
  const DBlock d;
  alignas(32) static constexpr uint32_t kFirst[sb::kWords] = {
      0 * 2048, 1 * 2048, 2 * 2048, 3 * 2048, 4 * 2048, 5 * 2048, 6 * 2048, 7 * 2048};
  const VBlock low = hn::Set(d, static_cast<uint32_t>(hash));
  for (size_t w = 0; w < sb::kWords; w += hn::Lanes(d)) {
    const VBlock bit = hn::ShiftRight<27>(hn::Mul(low, hn::Load(d, kSalts + w)));
    hn::Store(hn::Add(hn::ShiftLeft<6>(bit), hn::Load(d, kFirst + w)), d, key.offsets + w);
  }
  key.block_fraction = hash >> 32;
}

HWY_INLINE const char* BlockOfKey(const BankRows& group, const KeyRows& key) {
  const uint64_t block = (key.block_fraction * group.num_blocks) >> 32;
  return reinterpret_cast<const char*>(group.rows) + block * bank::kBlockBytes;
}

HWY_INLINE void AndRows(const BankRows& group, const KeyRows& key, uint64_t* out) {
  const DRow d;
  const char* const block = BlockOfKey(group, key);
  for (size_t word = 0; word < bank::kRowWords; word += hn::Lanes(d)) {
    VRow members = hn::LoadU(d, group.live + word);
    TAMIS_UNROLL
    for (int w = 0; w < sb::kWords; ++w) {
      const auto* const row = reinterpret_cast<const uint64_t*>(block + key.offsets[w]);
      members = hn::And(members, hn::Load(d, row + word));
    }
    hn::StoreU(members, d, out + word);
  }
}

void BankLookUp(const BankRows* groups, size_t num_groups, const Batch& batch, uint64_t* bits,
                size_t stride) {
  if (num_groups == 0) return;
  KeyRows keys[kKeysAtOnce];
  for (size_t begin = 0; begin < batch.n; begin += kKeysAtOnce) {
    const size_t n = std::min(kKeysAtOnce, batch.n - begin);
    for (size_t i = 0; i < n; ++i) LocateRows(batch.hasher(batch.values[begin + i]), keys[i]);
    size_t next_key = 0, next_group = 0;  // the pair to prefetch
    const auto prefetch = [&]() HWY_ATTR {
      if (next_key == n) return;
      const char* const block = BlockOfKey(groups[next_group], keys[next_key]);
      TAMIS_UNROLL
      for (int w = 0; w < sb::kWords; ++w) {
        PrefetchRead(block + keys[next_key].offsets[w]);
      }
      if (++next_group == num_groups) next_group = 0, ++next_key;
    };
    for (size_t pair = 0; pair < kPairsAhead; ++pair) prefetch();
    for (size_t i = 0; i < n; ++i) {
      uint64_t* const out = bits + (begin + i) * stride;
      for (size_t g = 0; g < num_groups; ++g) {
        prefetch();
        AndRows(groups[g], keys[i], out + bank::kRowWords * g);
      }
    }
  }
}

// ---- Counts ----

// Counts of eight bits, stored by planes: plane p has bit p of the count of each bit position.
inline constexpr size_t kPlanes = 8;
inline constexpr size_t kMostRows = (size_t{1} << kPlanes) - 1;

template <class V>
HWY_INLINE void AddTo(V& plane, V& carry) {
  const V both = hn::And(plane, carry);
  plane = hn::Xor(plane, carry);
  carry = both;
}

// Counts the ones of at most kMostRows rows, in the words of one vector. Writes plane p of word w
// to planes[p * bank::kRowWords + w].
HWY_INLINE void CountPlanes(const uint64_t* bits, size_t n, size_t stride, uint64_t* planes) {
  const DRow d;
  VRow p0 = hn::Zero(d), p1 = p0, p2 = p0, p3 = p0, p4 = p0, p5 = p0, p6 = p0, p7 = p0;
  for (size_t i = 0; i < n; ++i) {
    VRow carry = hn::LoadU(d, bits + i * stride);
    AddTo(p0, carry);
    AddTo(p1, carry);
    AddTo(p2, carry);
    AddTo(p3, carry);
    AddTo(p4, carry);
    AddTo(p5, carry);
    AddTo(p6, carry);
    p7 = hn::Xor(p7, carry);
  }
  constexpr size_t kStride = bank::kRowWords;
  hn::Store(p0, d, planes);
  hn::Store(p1, d, planes + 1 * kStride);
  hn::Store(p2, d, planes + 2 * kStride);
  hn::Store(p3, d, planes + 3 * kStride);
  hn::Store(p4, d, planes + 4 * kStride);
  hn::Store(p5, d, planes + 5 * kStride);
  hn::Store(p6, d, planes + 6 * kStride);
  hn::Store(p7, d, planes + 7 * kStride);
}

void BankCount(const uint64_t* bits, size_t n, size_t stride, size_t words, uint64_t* counts) {
  const size_t lanes = hn::Lanes(DRow());
  size_t word = 0;
  for (; word + lanes <= words; word += lanes) {
    for (size_t begin = 0; begin < n; begin += kMostRows) {
      alignas(64) uint64_t planes[kPlanes * bank::kRowWords];
      CountPlanes(bits + begin * stride + word, std::min(kMostRows, n - begin), stride, planes);
      for (size_t lane = 0; lane < lanes; ++lane) {
        uint64_t* const out = counts + 64 * (word + lane);
        for (size_t bit = 0; bit < 64; ++bit) {
          uint64_t count = 0;
          for (size_t p = 0; p < kPlanes; ++p) {
            count |= ((planes[p * bank::kRowWords + lane] >> bit) & 1) << p;
          }
          out[bit] += count;
        }
      }
    }
  }
  for (; word < words; ++word) {
    for (size_t i = 0; i < n; ++i) {
      for (uint64_t rest = bits[i * stride + word]; rest != 0; rest &= rest - 1) {
        ++counts[64 * word + static_cast<size_t>(std::countr_zero(rest))];
      }
    }
  }
}

// ---- Transposition: like bank/src/bit_matrix.h, with one square in each lane ----

// The bits in which a square of kSize x kSize is exchanged with its neighbour.
template <int kSize>
inline constexpr uint64_t kLowHalves = ~uint64_t{0} / ((uint64_t{1} << kSize) + 1);

template <int kSize, class D, class V>
HWY_INLINE void Exchange(D d, V& a, V& b) {
  const V swapped = hn::And(hn::Xor(hn::ShiftRight<kSize>(a), b), hn::Set(d, kLowHalves<kSize>));
  a = hn::Xor(a, hn::ShiftLeft<kSize>(swapped));
  b = hn::Xor(b, swapped);
}

// Runs three of the six steps: those for words kSize, 2 kSize and 4 kSize apart. Loads eight words
// by load(i), and passes each result to store(i, word).
template <int kSize, class D, typename LoadWord, typename StoreWord>
HWY_INLINE void ThreeSteps(D d, const LoadWord& load, const StoreWord& store) {
  auto v0 = load(0), v1 = load(1), v2 = load(2), v3 = load(3);
  auto v4 = load(4), v5 = load(5), v6 = load(6), v7 = load(7);
  Exchange<4 * kSize>(d, v0, v4);
  Exchange<4 * kSize>(d, v1, v5);
  Exchange<4 * kSize>(d, v2, v6);
  Exchange<4 * kSize>(d, v3, v7);
  Exchange<2 * kSize>(d, v0, v2);
  Exchange<2 * kSize>(d, v1, v3);
  Exchange<2 * kSize>(d, v4, v6);
  Exchange<2 * kSize>(d, v5, v7);
  Exchange<kSize>(d, v0, v1);
  Exchange<kSize>(d, v2, v3);
  Exchange<kSize>(d, v4, v5);
  Exchange<kSize>(d, v6, v7);
  store(0, v0), store(1, v1), store(2, v2), store(3, v3);
  store(4, v4), store(5, v5), store(6, v6), store(7, v7);
}

// Words by which filters are prefetched ahead. There are more filters than hardware prefetchers can
// follow.
inline constexpr size_t kWordsAhead = 32;

// Transposes words [word, word + Lanes(d)) of 64 filters to the rows from 64 * word on. `rows`
// points to the word of these filters in the first row. Filters whose bit in `mask` is 0 do not
// exist.
template <class D>
HWY_INLINE void TransposeSquares(D d, const uint64_t* const* filters, uint64_t mask, uint64_t word,
                                 uint64_t* rows) {
  const size_t lanes = hn::Lanes(d);
  alignas(64) uint64_t squares[64 * bank::kRowWords];
  const auto member = [&](size_t c) HWY_ATTR {
    if (((mask >> c) & 1) == 0) return hn::Zero(d);
    if (word % 8 == 0) PrefetchRead(filters[c] + word + kWordsAhead);
    return hn::LoadU(d, filters[c] + word);
  };
  for (size_t k = 0; k < 8; ++k) {
    ThreeSteps<8>(
        d, [&](size_t i) HWY_ATTR { return member(k + 8 * i); },
        [&](size_t i, auto v) HWY_ATTR { hn::Store(v, d, squares + (k + 8 * i) * lanes); });
  }
  for (size_t k = 0; k < 64; k += 8) {
    ThreeSteps<1>(
        d, [&](size_t i) HWY_ATTR { return hn::Load(d, squares + (k + i) * lanes); },
        [&](size_t i, auto v) HWY_ATTR { hn::Store(v, d, squares + (k + i) * lanes); });
  }
  for (size_t lane = 0; lane < lanes; ++lane) {
    uint64_t* row = rows + 64 * lane * bank::kRowWords;
    if (mask == ~uint64_t{0}) {
      for (size_t r = 0; r < 64; ++r) row[r * bank::kRowWords] = squares[r * lanes + lane];
    } else {
      for (size_t r = 0; r < 64; ++r, row += bank::kRowWords) {
        *row = (*row & ~mask) | squares[r * lanes + lane];
      }
    }
  }
}

// Transposes Lanes(d) words of all members, 64 members at a time. The rows, at most two blocks,
// stay in the first-level cache until they are complete.
template <class D>
HWY_INLINE void TransposeWords(D d, const uint64_t* const* filters, const uint64_t* mask,
                               uint64_t word, uint64_t* rows) {
  for (size_t w = 0; w < bank::kRowWords; ++w) {
    if (mask[w] == 0) continue;
    TransposeSquares(d, filters + 64 * w, mask[w], word, rows + 64 * word * bank::kRowWords + w);
  }
}

void BankTranspose(const uint64_t* const* filters, const uint64_t* mask, uint64_t num_blocks,
                   uint64_t* rows) {
  constexpr uint64_t kBlockWords = sb::kBlockBits / 64;
  const DRow d;
  const hn::CappedTag<uint64_t, kBlockWords> d_block;
  const uint64_t num_words = num_blocks * kBlockWords;
  uint64_t word = 0;
  for (; word + hn::Lanes(d) <= num_words; word += hn::Lanes(d)) {
    TransposeWords(d, filters, mask, word, rows);
  }
  for (; word < num_words; word += hn::Lanes(d_block)) {
    TransposeWords(d_block, filters, mask, word, rows);
  }
}

[[maybe_unused]] constexpr BankKernels kBank = {
    .look_up = BankLookUp, .count = BankCount, .transpose = BankTranspose};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::detail::simd {

TAMIS_DEFINE_FAMILY(BankKernels, bank, kBank)

}  // namespace tamis::detail::simd
#endif  // HWY_ONCE
