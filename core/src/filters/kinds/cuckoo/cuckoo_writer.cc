#include "core/src/filters/kinds/cuckoo/cuckoo_writer.h"

#include <algorithm>

#include "core/src/bulk/batches.h"
#include "tamis/detail/compiler.h"

namespace tamis::detail {
namespace {

// Limits for the bytes of all lists of a slice, which are one and a half times the filter within
// these limits. In longer slices each chunk is loaded fewer times, but more memory is touched for
// the first time, which takes time. Measured: bench/NOTES_CUCKOO.md.
constexpr uint64_t kMinListBytes = uint64_t{16} << 20;
constexpr uint64_t kMaxListBytes = uint64_t{512} << 20;  // or an eighth of the filter

// An entry of a list contains only 32 bits of the index of its key.
constexpr uint64_t kMaxSliceKeys = uint64_t{1} << 31;

constexpr size_t kLineWords = 8;  // the number in a cache line

}  // namespace

template <int kBits>
CuckooWriter<kBits>::CuckooWriter(Change change, const Kernels& kernels,
                                  cuckoo::Word<kBits>* buckets, const cuckoo::Geometry& geometry,
                                  uint64_t n, unsigned threads)
    : change_(change),
      kernels_(kernels),
      buckets_(buckets),
      geometry_(geometry),
      unchanged_(geometry.chunks) {
  const uint64_t filter_bytes = geometry.buckets() * sizeof(cuckoo::Word<kBits>);
  const uint64_t list_bytes = std::clamp(filter_bytes + filter_bytes / 2, kMinListBytes,
                                         std::max(kMaxListBytes, filter_bytes / 8));
  max_slice_keys_ = std::min({n, list_bytes / sizeof(uint64_t), kMaxSliceKeys}) / 64 * 64 + 64;
  // Every chunk may have one segment that is not full.
  const uint64_t segments =
      (max_slice_keys_ / threads + 1) / (kSegmentWords - 1) + 1 + geometry.chunks;
  shares_.resize(threads);
  for (Share& share : shares_) {
    share.storage = Storage::Allocate((segments + 1) * kSegmentBytes, {});
    auto* const begin = reinterpret_cast<uint64_t*>(share.storage.data());
    const size_t ahead = reinterpret_cast<uintptr_t>(begin) % kSegmentBytes / sizeof(uint64_t);
    share.segments = begin + (kSegmentWords - ahead) % kSegmentWords;
    share.begins.resize(geometry.chunks);
    share.ends.resize(geometry.chunks);
  }
}

// Appends a segment to a list that is empty or whose segments are full. Returns its first entry.
template <int kBits>
uint64_t* CuckooWriter<kBits>::Extend(Share& share, size_t chunk) noexcept {
  uint64_t* const segment = share.segments + kSegmentWords * share.used++;
  if (uint64_t* const end = share.ends[chunk]) {
    end[-static_cast<ptrdiff_t>(kSegmentWords)] = reinterpret_cast<uintptr_t>(segment);
  } else {
    share.begins[chunk] = segment;
  }
  return segment + 1;
}

template <int kBits>
void CuckooWriter<kBits>::Add(unsigned thread, const Batch& batch, uint64_t index) noexcept {
  Share& share = shares_[thread];
  share.keys += batch.n;
  alignas(64) uint64_t places[kBatchKeys];
  ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
    kernels_.cuckoo<kBits>().locate(geometry_, slice, places);
    uint64_t high = (index + begin) << 32;
    for (size_t i = 0; i < slice.n; ++i, high += uint64_t{1} << 32) {
      const size_t chunk = places[i] >> 32;
      uint64_t* end = share.ends[chunk];
      if (reinterpret_cast<uintptr_t>(end) % kSegmentBytes == 0) end = Extend(share, chunk);
      *end = high | (places[i] & 0xFFFFFFFF);
      PrefetchWrite(end + kLineWords);  // otherwise the store to it would wait for the line
      share.ends[chunk] = end + 1;
    }
  });
}

template <int kBits>
template <typename Visit>
void CuckooWriter<kBits>::ForEachSegment(const Share& share, size_t chunk,
                                         const Visit& visit) noexcept {
  uint64_t* const end = share.ends[chunk];
  if (end == nullptr) return;
  for (uint64_t* segment = share.begins[chunk];;) {
    uint64_t* const segment_end = segment + kSegmentWords;
    const bool last = segment < end && end <= segment_end;
    auto* const next = last ? end : reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(*segment));
    // The segments of a list are far apart, and hardware prefetchers do not follow them.
    for (size_t i = 0; i < kSegmentWords; i += kLineWords) PrefetchRead(next + i);
    visit(std::span(segment + 1, last ? end : segment_end));
    if (last) return;
    segment = next;
  }
}

template <int kBits>
template <typename Visit>
void CuckooWriter<kBits>::ForEachSegment(size_t chunk, const Visit& visit) noexcept {
  for (const Share& share : shares_) ForEachSegment(share, chunk, visit);
}

template <int kBits>
void CuckooWriter<kBits>::Run(size_t chunk) noexcept {
  cuckoo::Word<kBits>* const buckets = buckets_ + uint64_t{geometry_.chunk_buckets} * chunk;
  ForEachSegment(chunk, [&](std::span<uint64_t> entries) {
    const size_t done = kernels_.cuckoo<kBits>().change_chunk(
        change_, buckets, geometry_.chunk_buckets, entries.data(), entries.size());
    unchanged_[chunk] += static_cast<uint32_t>(entries.size() - done);
  });
}

// An entry has the low half of the index, which is unique in a slice of less than 2^32 keys.
template <int kBits>
uint64_t CuckooWriter<kBits>::IndexOf(uint64_t entry) const noexcept {
  return slice_begin_ + static_cast<uint32_t>((entry >> 32) - slice_begin_);
}

template <int kBits>
void CuckooWriter<kBits>::Tell(unsigned thread, Outcomes& outcomes) noexcept {
  for (size_t chunk = 0; chunk < geometry_.chunks; ++chunk) {
    ForEachSegment(shares_[thread], chunk, [&](std::span<uint64_t> entries) {
      for (const uint64_t entry : entries) TellPlace(entry, IndexOf(entry), outcomes);
    });
  }
}

template <int kBits>
uint64_t CuckooWriter<kBits>::EndSlice(Outcomes& outcomes) noexcept {
  uint64_t* const first = outcomes.next();
  uint64_t sum = 0;
  for (size_t chunk = 0; chunk < geometry_.chunks; ++chunk) {
    if (unchanged_[chunk] == 0) continue;
    sum += unchanged_[chunk];
    unchanged_[chunk] = 0;
    if (first == nullptr) continue;
    ForEachSegment(chunk, [&](std::span<uint64_t> entries) {
      for (const uint64_t entry : entries) {
        if ((entry & 0xFFFF) == 0) outcomes.Reject(IndexOf(entry));
      }
    });
  }
  std::sort(first, outcomes.next());
  for (Share& share : shares_) {
    slice_begin_ += share.keys;
    share.keys = share.used = 0;
    std::fill(share.ends.begin(), share.ends.end(), nullptr);
  }
  return sum;
}

template class CuckooWriter<8>;
template class CuckooWriter<12>;
template class CuckooWriter<16>;

}  // namespace tamis::detail
