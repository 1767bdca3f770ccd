#include "core/src/bulk/absent_writer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/src/bulk/batches.h"
#include "core/src/bulk/partitioned_writer.h"

namespace tamis::detail {
namespace {

// Of the hashes of a slice: the more keys a region takes, the fewer times it is loaded; but memory
// also costs its first touch. Measured: bench/NOTES.md.
constexpr uint64_t kMinSliceBytes = uint64_t{8} << 20;
constexpr uint64_t kMaxSliceBytes = uint64_t{64} << 20;
constexpr size_t kLineHashes = 8;  // of a cache line

}  // namespace

AbsentWriter::AbsentWriter(Target target, const Kernels& kernels, uint64_t n, unsigned threads)
    : target_(std::move(target)), kernels_(kernels) {
  const uint64_t blocks = PartitionedWriter::RegionBlocks(target_.bytes, target_.num_blocks);
  shift_ = static_cast<unsigned>(std::countr_zero(blocks));
  num_regions_ = ((target_.num_blocks - 1) >> shift_) + 1;
  // Slices of one length, so that no memory is touched for a few.
  const uint64_t most =
      std::clamp(target_.bytes, kMinSliceBytes, kMaxSliceBytes) / sizeof(uint64_t);
  max_slice_keys_ = (n / (n / most + 1) / 64 + 1) * 64;
  const uint64_t share_keys = (max_slice_keys_ / threads / 64 + 1) * 64;
  // Every region may have one segment that is not full.
  const uint64_t segments = share_keys / kSegmentHashes + 1 + num_regions_;
  shares_.resize(threads);
  for (Share& share : shares_) {
    share.hashes = Storage::Allocate(segments * kSegmentHashes * sizeof(uint64_t), {});
    share.places = Storage::Allocate(share_keys * sizeof(uint32_t), {});
    share.fresh.resize(segments * kSegmentHashes / 64);
    share.next.resize(segments);
    share.firsts.resize(num_regions_);
    share.ends.resize(num_regions_);
    Clear(share);
  }
}

void AbsentWriter::Clear(Share& share) noexcept {
  std::fill(share.firsts.begin(), share.firsts.end(), kNone);
  std::fill(share.ends.begin(), share.ends.end(), 0);
  share.used = 0;
  share.keys = share.num_fresh = 0;
}

// Appends a segment to a list that is empty or whose segments are full. Returns its first place.
uint32_t AbsentWriter::Extend(Share& share, size_t region) noexcept {
  const uint32_t segment = share.used++;
  if (share.firsts[region] == kNone) {
    share.firsts[region] = segment;
  } else {
    share.next[share.ends[region] / kSegmentHashes - 1] = segment;
  }
  return segment * kSegmentHashes;
}

void AbsentWriter::Add(unsigned thread, const Batch& batch, uint64_t index) noexcept {
  Share& share = shares_[thread];
  if (share.keys == 0) share.first_index = index;
  alignas(64) uint64_t hashes[kBatchKeys];
  const unsigned shift = 32 + shift_;
  const uint64_t num_blocks = target_.num_blocks;
  uint32_t* const ends = share.ends.data();
  ForEachSlice(batch, [&](const Batch& slice, size_t) {
    kernels_.hash(slice, hashes);
    uint32_t* const places = share.place_of(share.keys);
    for (size_t i = 0; i < slice.n; ++i) {
      const size_t region = ((hashes[i] >> 32) * num_blocks) >> shift;
      uint32_t place = ends[region];
      if (place % kSegmentHashes == 0) place = Extend(share, region);
      uint64_t* const at = share.hash_at(place);
      *at = hashes[i];
      __builtin_prefetch(at + kLineHashes, 1);  // the store to it would wait for the line
      places[i] = place;
      ends[region] = place + 1;
    }
    share.keys += slice.n;
  });
}

void AbsentWriter::Run(size_t region) noexcept {
  for (Share& share : shares_) {
    uint32_t segment = share.firsts[region];
    if (segment == kNone) continue;
    const uint32_t last = (share.ends[region] - 1) / kSegmentHashes;
    for (;; segment = share.next[segment]) {
      const uint64_t begin = uint64_t{segment} * kSegmentHashes;
      const uint64_t n = segment == last ? share.ends[region] - begin : kSegmentHashes;
      target_.insert(HashBatch(share.hash_at(begin), n), share.fresh.data() + begin / 64);
      if (segment == last) break;
    }
  }
}

void AbsentWriter::Tell(unsigned thread, Outcomes& outcomes) noexcept {
  Share& share = shares_[thread];
  const uint64_t* const fresh = share.fresh.data();
  const uint32_t* const places = share.place_of(0);
  for (uint64_t begin = 0; begin < share.keys; begin += 64) {
    const size_t n = std::min<uint64_t>(64, share.keys - begin);
    // From the top down, one by one: a shift by i for each would cost more.
    uint64_t bits = 0;
    for (size_t i = n; i-- > 0;) {
      const uint32_t place = places[begin + i];
      bits = (bits << 1) | ((fresh[place / 64] >> (place % 64)) & 1);
    }
    outcomes.AddFresh(share.first_index + begin, &bits, n);
    share.num_fresh += static_cast<uint64_t>(std::popcount(bits));
  }
}

uint64_t AbsentWriter::EndSlice(Outcomes&) noexcept {
  uint64_t present = 0;
  for (Share& share : shares_) {
    present += share.keys - share.num_fresh;
    Clear(share);
  }
  return present;
}

}  // namespace tamis::detail
