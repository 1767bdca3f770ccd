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
// Full buffers are searched for after about this number of entries.
constexpr size_t kScatterEntries = 8192;

}  // namespace

template <typename Entry>
PartitionedWriter<Entry>::PartitionedWriter(Target target, uint64_t n, unsigned threads)
    : target_(std::move(target)), region_locks_(target_.num_regions) {
  scatter_keys_ =
      std::clamp<size_t>(kScatterEntries / target_.entries_per_key / 64 * 64, 64, kBatchKeys);
  scatter_entries_ = scatter_keys_ * target_.entries_per_key;
  const uint64_t regions = target_.num_regions;
  const uint64_t entries = n * target_.entries_per_key;
  const uint64_t wanted = target_.rarely ? entries * sizeof(Entry) : target_.bytes;
  const uint64_t buffer_bytes = std::clamp(wanted, kMinBufferBytes, kMaxBufferBytes);
  const uint64_t share = buffer_bytes / sizeof(Entry) / threads / regions;
  const uint64_t needed = entries / threads / regions;
  buffer_entries_ = std::min(share, needed + needed / 8) + scatter_entries_;
  buffers_.resize(threads);
  for (Buffers& buffers : buffers_) {
    buffers.entries = Storage::Allocate(regions * buffer_entries_ * sizeof(Entry), {});
    auto* begin = reinterpret_cast<Entry*>(buffers.entries.data());
    for (size_t i = 0; i < regions; ++i, begin += buffer_entries_) buffers.begins.push_back(begin);
    buffers.ends = buffers.begins;
  }
}

// After each slice, writes the regions whose buffers might overflow in the next one.
template <typename Entry>
void PartitionedWriter<Entry>::Add(unsigned thread, const Batch& batch, uint64_t) noexcept {
  Buffers& buffers = buffers_[thread];
  const ptrdiff_t full = static_cast<ptrdiff_t>(buffer_entries_ - scatter_entries_);
  for (size_t begin = 0; begin < batch.n; begin += scatter_keys_) {
    target_.scatter({batch.hasher, batch.values + begin, std::min(scatter_keys_, batch.n - begin)},
                    buffers.ends.data());
    for (size_t region = 0; region < target_.num_regions; ++region) {
      if (buffers.ends[region] - buffers.begins[region] > full) Write(buffers, region);
    }
  }
}

template <typename Entry>
void PartitionedWriter<Entry>::Run(size_t region) noexcept {
  for (Buffers& buffers : buffers_) Write(buffers, region);
}

template <typename Entry>
void PartitionedWriter<Entry>::Write(Buffers& buffers, size_t region) noexcept {
  Entry* const begin = buffers.begins[region];
  const std::lock_guard lock(region_locks_[region]);
  target_.write(region, {begin, static_cast<size_t>(buffers.ends[region] - begin)});
  buffers.ends[region] = begin;
}

template class PartitionedWriter<uint64_t>;
template class PartitionedWriter<uint32_t>;

HashWriter::Target HashTarget(
    uint64_t bytes, uint64_t num_blocks, const Kernels& kernels,
    std::function<void(const Batch& hashes, uint64_t first, uint64_t blocks)> insert) {
  const auto shift =  // region = block >> shift
      static_cast<unsigned>(std::countr_zero(RegionBlocks(bytes, num_blocks)));
  const auto scatter = [num_blocks, shift, &kernels](const Batch& batch, uint64_t** ends) {
    alignas(64) uint64_t hashes[kBatchKeys];
    kernels.hash(batch, hashes);
    WithBlockIndex(num_blocks, [&](const auto& block_of) {
      for (size_t i = 0; i < batch.n; ++i) {
        uint64_t*& end = ends[block_of(hashes[i]) >> shift];
        *end = hashes[i];
        PrefetchWrite(end + kHashesAhead);  // otherwise the store to it would wait for the line
        ++end;
      }
    });
  };
  const auto write = [num_blocks, shift, insert = std::move(insert)](
                         size_t region, std::span<const uint64_t> hashes) {
    const uint64_t first = uint64_t{region} << shift;
    const uint64_t blocks = std::min(uint64_t{1} << shift, num_blocks - first);
    insert(HashBatch(hashes.data(), hashes.size()), first, blocks);
  };
  return {.bytes = bytes,
          .num_regions = ((num_blocks - 1) >> shift) + 1,
          .entries_per_key = 1,
          .scatter = scatter,
          .write = write};
}

}  // namespace tamis::detail
