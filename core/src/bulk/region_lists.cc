#include "core/src/bulk/region_lists.h"

#include <bit>

#include "core/src/bulk/batches.h"
#include "core/src/bulk/regions.h"
#include "tamis/detail/compiler.h"

namespace tamis::detail {
namespace {

constexpr size_t kLineHashes = 8;  // the number in a cache line

}  // namespace

RegionLists::RegionLists(const RegionTarget& target, uint64_t max_keys)
    : num_blocks_(target.num_blocks),
      shift_(
          static_cast<unsigned>(std::countr_zero(RegionBlocks(target.bytes, target.num_blocks)))) {
  const size_t regions = ((target.num_blocks - 1) >> shift_) + 1;
  // Every region may have one segment that is not full.
  const uint64_t segments = max_keys / kSegmentHashes + 1 + regions;
  hashes_ = Storage::Allocate(segments * kSegmentHashes * sizeof(uint64_t), {});
  places_ = Storage::Allocate(max_keys * sizeof(uint32_t), {});
  bits_.resize(segments * kSegmentHashes / 64);
  next_.resize(segments);
  firsts_.resize(regions);
  ends_.resize(regions);
  Clear();
}

void RegionLists::Clear() noexcept {
  std::fill(firsts_.begin(), firsts_.end(), kNone);
  std::fill(ends_.begin(), ends_.end(), 0);
  used_ = 0;
  keys_ = 0;
}

// Appends a segment to a list that is empty or whose segments are full. Returns its first place.
uint32_t RegionLists::Extend(size_t region) noexcept {
  const uint32_t segment = used_++;
  if (firsts_[region] == kNone) {
    firsts_[region] = segment;
  } else {
    next_[ends_[region] / kSegmentHashes - 1] = segment;
  }
  return segment * kSegmentHashes;
}

void RegionLists::Add(const Kernels& kernels, const Batch& batch) noexcept {
  alignas(64) uint64_t hashes[kBatchKeys];
  const unsigned shift = shift_;
  uint32_t* const ends = ends_.data();
  ForEachSlice(batch, [&](const Batch& slice, size_t) {
    kernels.hash(slice, hashes);
    uint32_t* const places = place_of(keys_);
    WithBlockIndex(num_blocks_, [&](const auto& block_of) {
      for (size_t i = 0; i < slice.n; ++i) {
        const size_t region = block_of(hashes[i]) >> shift;
        uint32_t place = ends[region];
        if (place % kSegmentHashes == 0) place = Extend(region);
        uint64_t* const at = hash_at(place);
        *at = hashes[i];
        PrefetchWrite(at + kLineHashes);  // otherwise the store to it would wait for the line
        places[i] = place;
        ends[region] = place + 1;
      }
    });
    keys_ += slice.n;
  });
}

}  // namespace tamis::detail
