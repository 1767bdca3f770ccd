#include "core/src/bulk/partitioned_insert.h"

#include <algorithm>
#include <bit>

#include "core/src/bulk/bulk.h"

namespace tamis {
namespace {

// Measured: bench/NOTES.md. Smaller regions make more streams to scatter to, and larger ones leave
// the second-level cache.
constexpr uint64_t kRegionBytes = uint64_t{2} << 20;
constexpr uint64_t kMaxRegions = 256;
// Of all lanes together: the more keys a region is written with, the fewer times it is loaded.
constexpr uint64_t kMinBufferBytes = uint64_t{8} << 20;
constexpr uint64_t kMaxBufferBytes = uint64_t{128} << 20;
constexpr size_t kLineHashes = 8;  // of a cache line

}  // namespace

bool PartitionedInserter::Pays(const Filter& filter, uint64_t n) noexcept {
  // Each cache line of the filter must be written several times for its region to be worth loading.
  constexpr uint64_t kMinFilterBytes = uint64_t{64} << 20;
  return filter.NumParts() > 1 && filter.bytes() >= kMinFilterBytes && n >= filter.bytes() / 8;
}

PartitionedInserter::PartitionedInserter(Filter& filter, const Kernels& kernels, uint64_t n,
                                         unsigned lanes)
    : filter_(filter), kernels_(kernels), num_parts_(filter.NumParts()) {
  const uint64_t regions = std::clamp<uint64_t>(filter.bytes() / kRegionBytes, 1, kMaxRegions);
  shift_ = static_cast<unsigned>(std::bit_width((num_parts_ - 1) / regions));
  num_regions_ = ((num_parts_ - 1) >> shift_) + 1;
  region_locks_ = std::vector<std::mutex>(num_regions_);
  const uint64_t buffer_bytes = std::clamp(filter.bytes(), kMinBufferBytes, kMaxBufferBytes);
  const uint64_t share = buffer_bytes / sizeof(uint64_t) / lanes / num_regions_;
  const uint64_t needed = n / lanes / num_regions_;
  // Beyond what is needed there is room for one batch, which may go to one region as a whole.
  buffer_hashes_ = std::min(share, needed + needed / 8) + kBatchKeys;
  lanes_.resize(lanes);
  for (Lane& lane : lanes_) {
    lane.hashes = detail::Storage::Allocate(num_regions_ * buffer_hashes_ * sizeof(uint64_t), {});
    auto* begin = reinterpret_cast<uint64_t*>(lane.hashes.data());
    for (size_t i = 0; i < num_regions_; ++i, begin += buffer_hashes_) lane.begins.push_back(begin);
    lane.ends = lane.begins;
  }
}

void PartitionedInserter::Add(unsigned lane, const Batch& batch, uint64_t) noexcept {
  alignas(64) uint64_t hashes[kBatchKeys];
  for (size_t begin = 0; begin < batch.n; begin += kBatchKeys) {
    Batch part = batch;
    part.values += begin;
    part.n = std::min(kBatchKeys, batch.n - begin);
    kernels_.hash(part, hashes);
    Scatter(lanes_[lane], hashes, part.n);
  }
}

void PartitionedInserter::Scatter(Lane& lane, const uint64_t* hashes, size_t n) noexcept {
  uint64_t** const ends = lane.ends.data();
  const unsigned shift = 32 + shift_;
  const uint64_t num_parts = num_parts_;
  for (size_t i = 0; i < n; ++i) {
    uint64_t*& end = ends[((hashes[i] >> 32) * num_parts) >> shift];
    *end = hashes[i];
    __builtin_prefetch(end + kLineHashes, 1);  // the store to it would wait for the line
    ++end;
  }
  const ptrdiff_t full = static_cast<ptrdiff_t>(buffer_hashes_ - kBatchKeys);
  for (size_t region = 0; region < num_regions_; ++region) {
    if (lane.ends[region] - lane.begins[region] > full) Write(lane, region);
  }
}

void PartitionedInserter::Run(size_t lane) noexcept {
  for (size_t region = 0; region < num_regions_; ++region) Write(lanes_[lane], region);
}

void PartitionedInserter::Write(Lane& lane, size_t region) noexcept {
  uint64_t* const begin = lane.begins[region];
  const std::lock_guard lock(region_locks_[region]);
  Rejects none;
  filter_.ChangeBatch(Change::kInsert, kernels_,
                      HashBatch(begin, static_cast<size_t>(lane.ends[region] - begin)), 0, none);
  lane.ends[region] = begin;
}

}  // namespace tamis
