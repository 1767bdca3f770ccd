#include "core/src/filters/cuckoo/cuckoo_writer.h"

#include <algorithm>

#include "core/src/bulk/bulk.h"

namespace tamis {
namespace {

// Of the lists of a round: one and a half times the filter within these limits. The more keys a
// chunk is changed by, the fewer times it is loaded; but memory also costs its first touch.
// Measured: bench/NOTES.md.
constexpr uint64_t kMinListBytes = uint64_t{16} << 20;
constexpr uint64_t kMaxListBytes = uint64_t{512} << 20;  // or an eighth of the filter

// Entries of a list have 32 bits of a key's index.
constexpr uint64_t kMaxRoundKeys = uint64_t{1} << 31;

constexpr size_t kLineWords = 8;  // of a cache line

}  // namespace

template <int kBits>
CuckooWriter<kBits>::CuckooWriter(Change change, const Kernels& kernels,
                                  cuckoo::Word<kBits>* buckets, const cuckoo::Geometry& geometry,
                                  uint64_t n, unsigned lanes)
    : change_(change),
      kernels_(kernels),
      buckets_(buckets),
      geometry_(geometry),
      rejected_(geometry.chunks) {
  const uint64_t filter_bytes = geometry.buckets() * sizeof(cuckoo::Word<kBits>);
  const uint64_t list_bytes = std::clamp(filter_bytes + filter_bytes / 2, kMinListBytes,
                                         std::max(kMaxListBytes, filter_bytes / 8));
  round_keys_ = std::min({n, list_bytes / sizeof(uint64_t), kMaxRoundKeys}) / 64 * 64 + 64;
  // Every chunk may have one segment that is not full.
  const uint64_t segments = (round_keys_ / lanes + 1) / (kSegmentWords - 1) + 1 + geometry.chunks;
  lanes_.resize(lanes);
  for (Lane& lane : lanes_) {
    lane.storage = detail::Storage::Allocate((segments + 1) * kSegmentBytes, {});
    auto* const begin = reinterpret_cast<uint64_t*>(lane.storage.data());
    const size_t ahead = reinterpret_cast<uintptr_t>(begin) % kSegmentBytes / sizeof(uint64_t);
    lane.segments = begin + (kSegmentWords - ahead) % kSegmentWords;
    lane.begins.resize(geometry.chunks);
    lane.ends.resize(geometry.chunks);
  }
}

// Appends a segment to a list that is empty or whose segments are full.
template <int kBits>
uint64_t* CuckooWriter<kBits>::Extend(Lane& lane, size_t chunk) noexcept {
  uint64_t* const segment = lane.segments + kSegmentWords * lane.used++;
  if (uint64_t* const end = lane.ends[chunk]) {
    end[-static_cast<ptrdiff_t>(kSegmentWords)] = reinterpret_cast<uintptr_t>(segment);
  } else {
    lane.begins[chunk] = segment;
  }
  return segment + 1;
}

template <int kBits>
void CuckooWriter<kBits>::Add(unsigned lane_index, const Batch& batch, uint64_t index) noexcept {
  Lane& lane = lanes_[lane_index];
  lane.keys += batch.n;
  alignas(64) uint64_t places[kBatchKeys];
  for (size_t begin = 0; begin < batch.n; begin += kBatchKeys) {
    Batch part = batch;
    part.values += begin;
    part.n = std::min(kBatchKeys, batch.n - begin);
    kernels_.cuckoo<kBits>().locate(geometry_, part, places);
    uint64_t high = (index + begin) << 32;
    for (size_t i = 0; i < part.n; ++i, high += uint64_t{1} << 32) {
      const size_t chunk = places[i] >> 32;
      uint64_t* end = lane.ends[chunk];
      if (reinterpret_cast<uintptr_t>(end) % kSegmentBytes == 0) end = Extend(lane, chunk);
      *end = high | (places[i] & 0xFFFFFFFF);
      __builtin_prefetch(end + kLineWords, 1);  // the store to it would wait for the line
      lane.ends[chunk] = end + 1;
    }
  }
}

template <int kBits>
template <typename Visit>
void CuckooWriter<kBits>::ForEachSegment(size_t chunk, const Visit& visit) noexcept {
  for (const Lane& lane : lanes_) {
    uint64_t* const end = lane.ends[chunk];
    if (end == nullptr) continue;
    for (uint64_t* segment = lane.begins[chunk];;) {
      uint64_t* const segment_end = segment + kSegmentWords;
      const bool last = segment < end && end <= segment_end;
      auto* const next = last ? end : reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(*segment));
      // The segments of a list are far apart, which hardware prefetchers do not follow.
      for (size_t i = 0; i < kSegmentWords; i += kLineWords) __builtin_prefetch(next + i);
      visit(std::span(segment + 1, last ? end : segment_end));
      if (last) break;
      segment = next;
    }
  }
}

template <int kBits>
void CuckooWriter<kBits>::Run(size_t chunk) noexcept {
  cuckoo::Word<kBits>* const buckets = buckets_ + uint64_t{geometry_.chunk_buckets} * chunk;
  ForEachSegment(chunk, [&](std::span<uint64_t> entries) {
    const size_t done = kernels_.cuckoo<kBits>().change_chunk(
        change_, buckets, geometry_.chunk_buckets, entries.data(), entries.size());
    rejected_[chunk] += static_cast<uint32_t>(entries.size() - done);
  });
}

template <int kBits>
uint64_t CuckooWriter<kBits>::EndRound(Rejects& rejects) noexcept {
  uint64_t* const first = rejects.next();
  uint64_t sum = 0;
  for (size_t chunk = 0; chunk < geometry_.chunks; ++chunk) {
    if (rejected_[chunk] == 0) continue;
    sum += rejected_[chunk];
    rejected_[chunk] = 0;
    if (first == nullptr) continue;
    ForEachSegment(chunk, [&](std::span<uint64_t> entries) {
      for (const uint64_t entry : entries) {
        if ((entry & 0xFFFF) != 0) continue;
        // The entry has the low half of the index; a round is shorter than what that repeats after.
        const auto offset = static_cast<uint32_t>((entry >> 32) - round_begin_);
        rejects.Add(round_begin_ + offset);
      }
    });
  }
  std::sort(first, rejects.next());
  for (Lane& lane : lanes_) {
    round_begin_ += lane.keys;
    lane.keys = lane.used = 0;
    std::fill(lane.ends.begin(), lane.ends.end(), nullptr);
  }
  return sum;
}

template class CuckooWriter<8>;
template class CuckooWriter<12>;
template class CuckooWriter<16>;

}  // namespace tamis
