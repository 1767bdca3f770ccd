// The bodies of all kernels, as templates over a lane of a warp. A GPU runs them with the lanes of
// the hardware, and tests run the same code with emulated lanes.
//
// A lane has Index() in [0, 32) and Warp() in [0, NumWarps()). All lanes of a warp take two steps
// together: Ballot(flag), which returns one bit per lane, and Shuffle(value, from), which returns
// the value of lane `from`. All lanes of a block take one step together: BlockAdd(sum, value) adds
// the values of all lanes, in total less than 2^32, to *sum by one atomic addition. A warp takes
// every NumWarps()-th piece of the work.
#ifndef TAMIS_CUDA_SRC_KERNEL_BODIES_H_
#define TAMIS_CUDA_SRC_KERNEL_BODIES_H_

#include <cstdint>

#include "cuda/src/hash_bytes.h"
#include "cuda/src/kernel_calls.h"
#include "tamis/cuda/device_memory.cuh"
#include "tamis/detail/compiler.h"

namespace tamis::cuda {

TAMIS_HD uint64_t LoadKey(const KeyColumn& keys, uint64_t i) {
  switch (keys.width) {
    case Width::kU32:
      return detail::LoadOnce(static_cast<const uint32_t*>(keys.values) + i);
    case Width::kI32:
      return static_cast<uint64_t>(
          int64_t{detail::LoadOnce(static_cast<const int32_t*>(keys.values) + i)});
    case Width::kU64:
      break;
  }
  return detail::LoadOnce(static_cast<const uint64_t*>(keys.values) + i);
}

// Looks up one key per lane. hash_of(i) is the hash of key i. `bits`, `bytes` and `counted` select
// the outputs.
template <typename Lane, typename Ref, typename Column, typename HashOf>
TAMIS_HD void LookUp(const Lane& lane, const ContainsCall<Ref, Column>& call, uint64_t words,
                     const HashOf& hash_of, bool bits, bool bytes, bool counted) {
  uint32_t found = 0;
  for (uint64_t word = lane.Warp(); word < words; word += lane.NumWarps()) {
    const uint64_t i = kWarpLanes * word + lane.Index();
    bool hit = false;
    if (i < call.keys.n) {
      if constexpr (Column::kHasNulls) {
        // Reads the value even if it is null, so that the two loads do not wait for each other.
        const uint32_t valid = call.keys.ValidBit(i);
        hit = call.filter.ContainsHashIf(valid, hash_of(i));
      } else {
        hit = call.filter.ContainsHash(hash_of(i));
      }
      if (bytes) detail::StoreOnce(call.bytes + i, static_cast<uint8_t>(hit));
    }
    if (counted) found += hit;
    if (bits) {
      const uint32_t hits = lane.Ballot(hit);
      if (lane.Index() == 0) detail::StoreOnce(call.bits + word, hits);
    }
  }
  if (counted) lane.BlockAdd(call.count, found);
}

template <typename Lane, typename Ref, typename Column>
TAMIS_HD void RunLane(const Lane& lane, const ContainsCall<Ref, Column>& call) {
  LookUp(
      lane, call, (call.keys.n + 63) / 64 * 2,
      [&](uint64_t i) { return call.keys.hasher(LoadKey(call.keys, i)); }, call.bits != nullptr,
      call.bytes != nullptr, call.count != nullptr);
}

template <typename Lane, typename Ref, Answers kAnswers, bool kCounted, typename Column>
TAMIS_HD void RunLane(const Lane& lane,
                      const CommonContainsCall<Ref, kAnswers, kCounted, Column>& common) {
  const auto* const keys = static_cast<const uint64_t*>(common.call.keys.values);
  LookUp(
      lane, common.call, common.words,
      [&](uint64_t i) {
        return hash::Xxh3(detail::LoadOnce(keys + i), common.call.keys.hasher.seed_term);
      },
      kAnswers == Answers::kBits, kAnswers == Answers::kBytes, kCounted);
}

// Each lane hashes one key. Then all lanes write the blocks together.
template <typename Lane>
TAMIS_HD void RunLane(const Lane& lane, const InsertCall<SplitBlockRef>& call) {
  const uint64_t n = call.keys.n;
  for (uint64_t first = kWarpLanes * lane.Warp(); first < n;
       first += kWarpLanes * lane.NumWarps()) {
    const uint64_t i = first + lane.Index();
    const uint64_t hash = i < n ? call.keys.hasher(LoadKey(call.keys, i)) : 0;
    call.filter.InsertHashTogether(lane, hash, i < n);
  }
}

template <typename Lane>
TAMIS_HD void RunLane(const Lane& lane, const MaskedInsertCall<SplitBlockRef>& call) {
  const uint64_t n = call.keys.n;
  uint32_t num_nulls = 0;
  for (uint64_t word = lane.Warp(); word < (n + 63) / 64 * 2; word += lane.NumWarps()) {
    const uint64_t i = kWarpLanes * word + lane.Index();
    const bool valid = i < n && call.keys.IsValid(i);
    const uint64_t hash = i < n ? call.keys.hasher(LoadKey(call.keys, i)) : 0;
    call.filter.InsertHashTogether(lane, hash, valid);
    const bool null = i < n && !valid;
    num_nulls += null;
    if (call.nulls != nullptr) {
      const uint32_t nulls = lane.Ballot(null);
      if (lane.Index() == 0) detail::StoreOnce(call.nulls + word, nulls);
    }
  }
  if (call.num_nulls != nullptr) lane.BlockAdd(call.num_nulls, num_nulls);
}

// One lane per key.
template <typename Lane, typename Ref, Change kChange, typename Column>
TAMIS_HD void RunLane(const Lane& lane, const ChangeCall<Ref, kChange, Column>& call) {
  const uint64_t words = (call.keys.n + 63) / 64 * 2;
  for (uint64_t word = lane.Warp(); word < words; word += lane.NumWarps()) {
    const uint64_t i = kWarpLanes * word + lane.Index();
    bool failed = false;
    if (i < call.keys.n) {
      const uint64_t hash = call.keys.hasher(LoadKey(call.keys, i));
      if constexpr (Column::kHasNulls) failed = !call.keys.IsValid(i);
      if (!failed) {
        failed = !(kChange == Change::kInsert ? call.filter.InsertHash(hash)
                                              : call.filter.EraseHash(hash));
      }
    }
    const uint32_t failures = lane.Ballot(failed);
    if (lane.Index() == 0) {
      detail::StoreOnce(call.failed + word, failures);
      // Few keys fail, so threads rarely wait for each other here.
      if (failures != 0) {
        detail::AtomicAdd(call.num_failed, static_cast<uint64_t>(detail::PopCount(failures)));
      }
    }
  }
}

// One lane per word of the bitmap.
template <typename Lane, typename Ref, typename Column>
TAMIS_HD void RunLane(const Lane& lane, const RetryCall<Ref, Column>& call) {
  // Usually no key has failed, and there is nothing to do. Other threads may already have reduced
  // the number, for keys whose bits they cleared.
  if (detail::LoadShared(call.num_failed) == 0) return;
  const uint64_t thread = kWarpLanes * lane.Warp() + lane.Index();
  const uint64_t threads = kWarpLanes * lane.NumWarps();
  uint32_t* const nodes = call.nodes + Ref::kManyNodes * thread;
  for (uint64_t word = thread; word < (call.keys.n + 31) / 32; word += threads) {
    const uint32_t before = call.failed[word];
    uint32_t after = before;
    for (uint32_t rest = before; rest != 0; rest &= rest - 1) {
      const uint64_t i = 32 * word + detail::LowestBit(rest);
      if constexpr (Column::kHasNulls) {
        if (!call.keys.IsValid(i)) continue;
      }
      const uint64_t hash = call.keys.hasher(LoadKey(call.keys, i));
      if (call.filter.InsertHash(hash, nodes, Ref::kManyNodes)) after ^= rest & (0 - rest);
    }
    if (after == before) continue;
    call.failed[word] = after;
    detail::AtomicAdd(call.num_failed, uint64_t{0} - detail::PopCount(before ^ after));
  }
}

template <typename Lane, Combination kHow>
TAMIS_HD void RunLane(const Lane& lane, const CombineCall<kHow>& call) {
  const uint64_t step = kWarpLanes * lane.NumWarps();
  for (uint64_t i = kWarpLanes * lane.Warp() + lane.Index(); i < call.n; i += step) {
    const uint64_t other = detail::LoadOnce(call.from + i);
    call.into[i] = kHow == Combination::kUnion ? call.into[i] | other : call.into[i] & other;
  }
}

// One lane per string.
template <typename Lane, typename Offset>
TAMIS_HD void RunLane(const Lane& lane, const HashColumnCall<Offset>& call) {
  const uint64_t step = kWarpLanes * lane.NumWarps();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(call.bytes);
  for (uint64_t i = kWarpLanes * lane.Warp() + lane.Index(); i < call.n; i += step) {
    const auto begin = static_cast<uint64_t>(call.offsets[i]);
    const auto end = static_cast<uint64_t>(call.offsets[i + 1]);
    const bool whole_words = hash::WordReader::StaysWithin(
        bytes + begin, end - begin, bytes + static_cast<uint64_t>(call.offsets[0]),
        bytes + static_cast<uint64_t>(call.offsets[call.n]));
    call.hashes[i] = whole_words
                         ? hash::OfBytes<hash::WordReader>(bytes + begin, end - begin, call.spec)
                         : hash::OfBytes<hash::ByteReader>(bytes + begin, end - begin, call.spec);
  }
}

// Returns the sum of the values of the lanes up to and including this one.
template <typename Lane>
TAMIS_HD uint32_t InclusiveSum(const Lane& lane, uint32_t value) {
  for (uint32_t distance = 1; distance < kWarpLanes; distance *= 2) {
    const bool reaches = lane.Index() >= distance;
    const uint32_t other = lane.Shuffle(value, reaches ? lane.Index() - distance : 0);
    if (reaches) value += other;
  }
  return value;
}

template <typename Lane>
TAMIS_HD uint64_t Shuffle64(const Lane& lane, uint64_t value, uint32_t from) {
  const uint32_t low = lane.Shuffle(static_cast<uint32_t>(value), from);
  const uint32_t high = lane.Shuffle(static_cast<uint32_t>(value >> 32), from);
  return uint64_t{high} << 32 | low;
}

// Calls visit(word, index) for the words of a tile, 32 at a time. Past the end of the bitmap the
// word is 0, because all lanes must take part.
template <typename Lane, typename Visit>
TAMIS_HD void ForEachRow(const Lane& lane, const uint32_t* bits, uint64_t num_words, uint64_t tile,
                         const Visit& visit) {
  for (uint64_t row = 0; row < kTileWords; row += kWarpLanes) {
    const uint64_t i = kTileWords * tile + row + lane.Index();
    visit(i < num_words ? bits[i] : 0, i);
  }
}

template <typename Lane>
TAMIS_HD void RunLane(const Lane& lane, const CountTilesCall& call) {
  const uint64_t tiles = (call.num_words + kTileWords - 1) / kTileWords;
  for (uint64_t tile = lane.Warp(); tile < tiles; tile += lane.NumWarps()) {
    uint32_t ones = 0;  // at most 32 * kTileWords in all lanes together
    ForEachRow(lane, call.bits, call.num_words, tile,
               [&](uint32_t word, uint64_t) { ones += detail::PopCount(word); });
    const uint32_t sum = InclusiveSum(lane, ones);
    if (lane.Index() == kWarpLanes - 1) call.tile_counts[tile] = sum;
  }
}

template <typename Lane>
TAMIS_HD void RunLane(const Lane& lane, const ScanTilesCall& call) {
  if (lane.Warp() != 0) return;
  uint64_t before = 0;
  for (uint64_t first = 0; first < call.num_tiles; first += kWarpLanes) {
    const uint64_t i = first + lane.Index();
    const auto count = static_cast<uint32_t>(i < call.num_tiles ? call.tile_counts[i] : 0);
    const uint32_t sum = InclusiveSum(lane, count);
    if (i < call.num_tiles) call.tile_counts[i] = before + sum - count;
    before += lane.Shuffle(sum, kWarpLanes - 1);
  }
  if (lane.Index() == 0 && call.sum != nullptr) *call.sum = before;
}

// Takes the words of a row one by one, with one lane per bit, so that the ones of a word are
// written side by side.
template <typename Lane, typename Index>
TAMIS_HD void RunLane(const Lane& lane, const ListOnesCall<Index>& call) {
  const uint64_t tiles = (call.num_words + kTileWords - 1) / kTileWords;
  const uint32_t bit = uint32_t{1} << lane.Index();
  for (uint64_t tile = lane.Warp(); tile < tiles; tile += lane.NumWarps()) {
    Index* out = call.out + call.tile_starts[tile];
    ForEachRow(lane, call.bits, call.num_words, tile, [&](uint32_t words, uint64_t i) {
      const uint64_t first = 32 * (i - lane.Index());  // first bit of the row
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
      for (uint32_t k = 0; k < kWarpLanes; ++k) {
        const uint32_t word = lane.Shuffle(words, k);
        if ((word & bit) != 0) {
          out[detail::PopCount(word & (bit - 1))] =
              static_cast<Index>(first + kWarpLanes * k + lane.Index());
        }
        out += detail::PopCount(word);
      }
    });
  }
}

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_KERNEL_BODIES_H_
