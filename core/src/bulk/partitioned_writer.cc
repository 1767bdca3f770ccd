#include "core/src/bulk/partitioned_writer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/src/bulk/batches.h"
#include "core/src/bulk/regions.h"
#include "tamis/detail/compiler.h"

namespace tamis::detail {
namespace {

// Limits for the buffers of all threads together. With larger buffers each region is loaded fewer
// times.
constexpr uint64_t kMinBufferBytes = uint64_t{8} << 20;
constexpr uint64_t kMaxBufferBytes = uint64_t{128} << 20;
constexpr size_t kHashesAhead = 8;  // the number in a cache line

}  // namespace

PartitionedWriter::PartitionedWriter(Target target, const Kernels& kernels, uint64_t n,
                                     unsigned threads)
    : target_(std::move(target)), kernels_(kernels) {
  shift_ = static_cast<unsigned>(std::countr_zero(RegionBlocks(target_.bytes, target_.num_blocks)));
  num_regions_ = ((target_.num_blocks - 1) >> shift_) + 1;
  region_locks_ = std::vector<std::mutex>(num_regions_);
  const uint64_t wanted = target_.rarely ? n * sizeof(uint64_t) : target_.bytes;
  const uint64_t buffer_bytes = std::clamp(wanted, kMinBufferBytes, kMaxBufferBytes);
  const uint64_t share = buffer_bytes / sizeof(uint64_t) / threads / num_regions_;
  const uint64_t needed = n / threads / num_regions_;
  // kBatchKeys is the room for one more batch, because a whole batch may fall in one region.
  buffer_hashes_ = std::min(share, needed + needed / 8) + kBatchKeys;
  buffers_.resize(threads);
  for (Buffers& buffers : buffers_) {
    buffers.hashes = Storage::Allocate(num_regions_ * buffer_hashes_ * sizeof(uint64_t), {});
    auto* begin = reinterpret_cast<uint64_t*>(buffers.hashes.data());
    for (size_t i = 0; i < num_regions_; ++i, begin += buffer_hashes_) {
      buffers.begins.push_back(begin);
    }
    buffers.ends = buffers.begins;
  }
}

void PartitionedWriter::Add(unsigned thread, const Batch& batch, uint64_t) noexcept {
  alignas(64) uint64_t hashes[kBatchKeys];
  ForEachSlice(batch, [&](const Batch& slice, size_t) {
    kernels_.hash(slice, hashes);
    Scatter(buffers_[thread], hashes, slice.n);
  });
}

void PartitionedWriter::Scatter(Buffers& buffers, const uint64_t* hashes, size_t n) noexcept {
  uint64_t** const ends = buffers.ends.data();
  const unsigned shift = 32 + shift_;
  const uint64_t num_blocks = target_.num_blocks;
  for (size_t i = 0; i < n; ++i) {
    uint64_t*& end = ends[((hashes[i] >> 32) * num_blocks) >> shift];
    *end = hashes[i];
    PrefetchWrite(end + kHashesAhead);  // otherwise the store to it would wait for the line
    ++end;
  }
  const ptrdiff_t full = static_cast<ptrdiff_t>(buffer_hashes_ - kBatchKeys);
  for (size_t region = 0; region < num_regions_; ++region) {
    if (buffers.ends[region] - buffers.begins[region] > full) Write(buffers, region);
  }
}

void PartitionedWriter::Run(size_t region) noexcept {
  for (Buffers& buffers : buffers_) Write(buffers, region);
}

void PartitionedWriter::Write(Buffers& buffers, size_t region) noexcept {
  uint64_t* const begin = buffers.begins[region];
  const uint64_t first = uint64_t{region} << shift_;
  const uint64_t blocks = std::min(uint64_t{1} << shift_, target_.num_blocks - first);
  const std::lock_guard lock(region_locks_[region]);
  target_.insert(HashBatch(begin, static_cast<size_t>(buffers.ends[region] - begin)), first,
                 blocks);
  buffers.ends[region] = begin;
}

}  // namespace tamis::detail
