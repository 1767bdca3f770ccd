// The arguments of kernels: plain values that are copied to the device. All pointers are to device
// memory, and all counts have 64 bits.
#ifndef TAMIS_CUDA_SRC_KERNEL_CALLS_H_
#define TAMIS_CUDA_SRC_KERNEL_CALLS_H_

#include <cstdint>
#include <variant>

#include "tamis/cuda/cuckoo_ref.cuh"
#include "tamis/cuda/filter_ref.cuh"
#include "tamis/cuda/fuse_ref.cuh"
#include "tamis/detail/change.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/hash.h"

namespace tamis::cuda {

inline constexpr uint64_t kWarpLanes = 32;

enum class Width : uint8_t { kU64, kU32, kI32 };

// Integers or hashes.
struct KeyColumn {
  const void* values;
  uint64_t n;
  Width width;
  tamis::detail::KeyHasher hasher;

  static constexpr bool kHasNulls = false;
};

// Keys with a validity bitmap. Calls with such a column have kernels of their own, so that other
// calls need no check for each key.
struct MaskedColumn : KeyColumn {
  static constexpr bool kHasNulls = true;

  const uint8_t* validity;  // need not be aligned
  uint32_t first_bit;       // in [0, 8)

  // The lanes of a warp read four or five neighbouring bytes. Bytes without a bit of these keys are
  // not read.
  TAMIS_HD bool IsValid(uint64_t i) const { return (ValidBit(i) & 1) != 0; }
  // Returns IsValid(i) in the lowest bit. The other bits are undefined.
  TAMIS_HD uint32_t ValidBit(uint64_t i) const {
    const uint64_t bit = first_bit + i;
    return uint32_t{validity[bit / 8]} >> (bit % 8);
  }
};

// Each output may be nullptr.
template <typename Ref, typename Column = KeyColumn>
struct ContainsCall {
  Ref filter;
  Column keys;
  uint32_t* bits;   // 2 * BitmapWords(n) elements: the halves of 64-bit words
  uint8_t* bytes;   // n elements, 0 or 1
  uint64_t* count;  // the kernel adds the number of hits
};

// The most common lookups: 64-bit keys hashed by XXH3, with a count and at most one other output;
// for keys with nulls, only lookups that write a bitmap. These calls have kernels of their own,
// without branches on the kind of keys and outputs.
enum class Answers : uint8_t { kBits, kBytes, kNone };

template <typename Ref, Answers kAnswers, bool kCounted, typename Column = KeyColumn>
struct CommonContainsCall {
  ContainsCall<Ref, Column> call;
  uint64_t words;  // number of bitmap words of 32 keys
};

// An insertion into a split-block filter, which has room for every key.
template <typename Ref>
struct InsertCall {
  Ref filter;
  KeyColumn keys;
};

// An insertion of keys with nulls, which are not inserted. Each output may be nullptr.
template <typename Ref>
struct MaskedInsertCall {
  Ref filter;
  MaskedColumn keys;
  uint32_t* nulls;      // 2 * BitmapWords(n) elements: a bit for each key that is null
  uint64_t* num_nulls;  // the kernel adds their number
};

// An insertion that can fail for a key, or an erasure. Insertions and erasures fail for nulls.
template <typename Ref, Change kChange, typename Column = KeyColumn>
struct ChangeCall {
  Ref filter;
  Column keys;
  uint32_t* failed;      // 2 * BitmapWords(n) elements: a bit for each key for which it failed
  uint64_t* num_failed;  // the kernel adds their number
};

// Repeats an insertion for the keys whose bits are 1 in `failed`, except nulls, with longer
// searches in separate memory. Few threads run it, because few keys need it.
inline constexpr uint64_t kRetryWarps = 128;

template <typename Ref, typename Column = KeyColumn>
struct RetryCall {
  Ref filter;
  Column keys;
  uint32_t* failed;
  uint64_t* num_failed;
  uint32_t* nodes;  // Ref::kManyNodes for each thread
};

// into[i] |= from[i], or &=
enum class Combination : uint8_t { kUnion, kIntersection };

template <Combination kHow>
struct CombineCall {
  uint64_t* into;
  const uint64_t* from;
  uint64_t n;
};

// hashes[i] = hash of string i
template <typename Offset>
struct HashColumnCall {
  const char* bytes;
  const Offset* offsets;  // n + 1
  uint64_t n;
  HashSpec spec;
  uint64_t* hashes;
};

// Three kernels convert a bitmap to the list of its ones. The kernels work on tiles of kTileWords
// words.
inline constexpr uint64_t kTileWords = 1024;

struct CountTilesCall {
  const uint32_t* bits;
  uint64_t num_words;
  uint64_t* tile_counts;  // one per tile
};

// Replaces each count by the sum of the counts before it, and writes the total to `*sum` if `sum`
// is not nullptr. One warp does all the work.
struct ScanTilesCall {
  uint64_t* tile_counts;
  uint64_t num_tiles;
  uint64_t* sum;
};

template <typename Index>
struct ListOnesCall {
  const uint32_t* bits;
  uint64_t num_words;
  const uint64_t* tile_starts;
  Index* out;
};

using KernelCall = std::variant<
    ContainsCall<SplitBlockRef>, ContainsCall<CuckooRef<8>>, ContainsCall<CuckooRef<12>>,
    ContainsCall<CuckooRef<16>>, InsertCall<SplitBlockRef>,
    ChangeCall<CuckooRef<8>, Change::kInsert>, ChangeCall<CuckooRef<12>, Change::kInsert>,
    ChangeCall<CuckooRef<16>, Change::kInsert>, ChangeCall<CuckooRef<8>, Change::kErase>,
    ChangeCall<CuckooRef<12>, Change::kErase>, ChangeCall<CuckooRef<16>, Change::kErase>,
    CombineCall<Combination::kUnion>, CombineCall<Combination::kIntersection>,
    HashColumnCall<int32_t>, HashColumnCall<int64_t>, CountTilesCall, ScanTilesCall,
    ListOnesCall<uint32_t>, ListOnesCall<uint64_t>, RetryCall<CuckooRef<8>>,
    RetryCall<CuckooRef<12>>, RetryCall<CuckooRef<16>>, ContainsCall<SplitBlockRef, MaskedColumn>,
    ContainsCall<CuckooRef<8>, MaskedColumn>, ContainsCall<CuckooRef<12>, MaskedColumn>,
    ContainsCall<CuckooRef<16>, MaskedColumn>, MaskedInsertCall<SplitBlockRef>,
    ChangeCall<CuckooRef<8>, Change::kInsert, MaskedColumn>,
    ChangeCall<CuckooRef<12>, Change::kInsert, MaskedColumn>,
    ChangeCall<CuckooRef<16>, Change::kInsert, MaskedColumn>,
    ChangeCall<CuckooRef<8>, Change::kErase, MaskedColumn>,
    ChangeCall<CuckooRef<12>, Change::kErase, MaskedColumn>,
    ChangeCall<CuckooRef<16>, Change::kErase, MaskedColumn>, RetryCall<CuckooRef<8>, MaskedColumn>,
    RetryCall<CuckooRef<12>, MaskedColumn>, RetryCall<CuckooRef<16>, MaskedColumn>,
    ContainsCall<FuseRef<8>>, ContainsCall<FuseRef<12>>, ContainsCall<FuseRef<16>>,
    ContainsCall<FuseRef<32>>, ContainsCall<FuseRef<8>, MaskedColumn>,
    ContainsCall<FuseRef<12>, MaskedColumn>, ContainsCall<FuseRef<16>, MaskedColumn>,
    ContainsCall<FuseRef<32>, MaskedColumn>>;

// The amount of work of a call, from which the launch follows.
struct Work {
  uint64_t warps;         // number that does the work in one round; fewer take several rounds
  bool resident = false;  // launch only as many warps as run at a time: each adds costs
};

constexpr uint64_t WarpsFor(uint64_t n, uint64_t per_warp) {
  return n / per_warp + (n % per_warp != 0);
}

template <typename Ref, typename Column>
constexpr Work WorkOf(const ContainsCall<Ref, Column>& call) {
  // Both halves of the last word of a bitmap are written. Each block that counts adds to one shared
  // word.
  return {2 * WarpsFor(call.keys.n, 2 * kWarpLanes), call.count != nullptr};
}
template <typename Ref, Answers kAnswers, bool kCounted, typename Column>
constexpr Work WorkOf(const CommonContainsCall<Ref, kAnswers, kCounted, Column>& common) {
  return {common.words, kCounted};
}
template <typename Ref>
constexpr Work WorkOf(const InsertCall<Ref>& call) {
  return {WarpsFor(call.keys.n, kWarpLanes)};
}
template <typename Ref>
constexpr Work WorkOf(const MaskedInsertCall<Ref>& call) {
  return {2 * WarpsFor(call.keys.n, 2 * kWarpLanes), call.num_nulls != nullptr};
}
template <typename Ref, Change kChange, typename Column>
constexpr Work WorkOf(const ChangeCall<Ref, kChange, Column>& call) {
  return {2 * WarpsFor(call.keys.n, 2 * kWarpLanes)};
}
template <typename Ref, typename Column>
constexpr Work WorkOf(const RetryCall<Ref, Column>&) {
  return {kRetryWarps};
}
template <Combination kHow>
constexpr Work WorkOf(const CombineCall<kHow>& call) {
  return {WarpsFor(call.n, kWarpLanes)};
}
template <typename Offset>
constexpr Work WorkOf(const HashColumnCall<Offset>& call) {
  return {WarpsFor(call.n, kWarpLanes)};
}
constexpr Work WorkOf(const CountTilesCall& call) { return {WarpsFor(call.num_words, kTileWords)}; }
constexpr Work WorkOf(const ScanTilesCall&) { return {1}; }
template <typename Index>
constexpr Work WorkOf(const ListOnesCall<Index>& call) {
  return {WarpsFor(call.num_words, kTileWords)};
}

// Calls run(call) with the common form of the call if there is one, otherwise with the call itself.
template <typename Call, typename Run>
auto WithKernelOf(const Call& call, const Run& run) {
  return run(call);
}
template <typename Ref, typename Column, typename Run>
auto WithKernelOf(const ContainsCall<Ref, Column>& call, const Run& run) {
  const bool bits = call.bits != nullptr;
  const bool bytes = call.bytes != nullptr;
  const bool counted = call.count != nullptr;
  const uint64_t words = WorkOf(call).warps;
  if (call.keys.width != Width::kU64 || call.keys.hasher.source != tamis::detail::Source::kXxh3 ||
      bits + bytes + counted == 0 || (bits && bytes)) {
    return run(call);
  }
  if constexpr (Column::kHasNulls) {
    if (!bits) return run(call);
    if (counted) return run(CommonContainsCall<Ref, Answers::kBits, true, Column>{call, words});
    return run(CommonContainsCall<Ref, Answers::kBits, false, Column>{call, words});
  } else {
    if (bits && counted) return run(CommonContainsCall<Ref, Answers::kBits, true>{call, words});
    if (bits) return run(CommonContainsCall<Ref, Answers::kBits, false>{call, words});
    if (bytes && counted) return run(CommonContainsCall<Ref, Answers::kBytes, true>{call, words});
    if (bytes) return run(CommonContainsCall<Ref, Answers::kBytes, false>{call, words});
    return run(CommonContainsCall<Ref, Answers::kNone, true>{call, words});
  }
}

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_KERNEL_CALLS_H_
