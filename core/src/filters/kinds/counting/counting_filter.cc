#include "tamis/filters/counting_filter.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/src/bulk/absent_writer.h"
#include "core/src/bulk/batches.h"
#include "core/src/bulk/outcomes.h"
#include "core/src/bulk/partitioned_writer.h"
#include "core/src/file/file_format.h"
#include "core/src/filters/base/combine.h"
#include "core/src/filters/base/sizing_checks.h"
#include "core/src/filters/kinds/counting/counting_kind.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"

namespace tamis {

using detail::Batch;
using detail::BulkWriter;
using detail::Kernels;
using detail::Outcomes;

namespace {

uint64_t BlocksFor(const FilterOptions& options) {
  const double fpr = detail::FprOrDefault(options);
  if (options.bytes == 0) {
    if (options.capacity == 0) {
      throw Error(ErrorCode::kInvalidArgument, "a filter needs a capacity of at least 1, or bytes");
    }
    return CountingBlocks(options.capacity, fpr);
  }
  const uint64_t blocks = options.bytes / counting::kBlockBytes;
  if (blocks < 1 || blocks > counting::kMaxBlocks) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("a counting filter of ", options.bytes, " bytes is out of range [",
                               counting::kBlockBytes, ", ",
                               counting::kMaxBlocks * counting::kBlockBytes, "]"));
  }
  return blocks;
}

uint64_t CapacityFor(const FilterOptions& options, uint64_t num_blocks) {
  return options.capacity != 0 ? options.capacity
                               : CountingCapacity(num_blocks, detail::FprOrDefault(options));
}

// Returns the number of bits set in map(word) over all words.
template <typename Map>
uint64_t PopCountOf(const Kernels& kernels, const uint64_t* words, uint64_t n, const Map& map) {
  constexpr size_t kChunk = 512;
  uint64_t mapped[kChunk];
  uint64_t sum = 0;
  for (uint64_t begin = 0; begin < n; begin += kChunk) {
    const size_t size = std::min<uint64_t>(kChunk, n - begin);
    for (size_t i = 0; i < size; ++i) mapped[i] = map(words[begin + i]);
    sum += kernels.popcount(mapped, size);
  }
  return sum;
}

// Calls change(hash) for the hashes of a batch in their order, and tell(i, changed) with its result
// for value i. Returns how many calls changed the filter.
template <typename ChangeHash, typename Tell>
size_t ChangeInOrder(const Kernels& kernels, const uint64_t* words, uint64_t num_blocks,
                     const Batch& batch, const ChangeHash& change, const Tell& tell) {
  size_t done = 0;
  alignas(64) uint64_t hashes[detail::kBatchKeys];
  detail::ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
    kernels.hash(slice, hashes);
    for (size_t i = 0; i < slice.n; ++i) {
      constexpr size_t kAhead = 16;
      const uint64_t next = hashes[std::min(i + kAhead, slice.n - 1)];
      detail::PrefetchWrite(words + counting::kWords * counting::BlockIndex(next, num_blocks));
      const bool changed = change(hashes[i]);
      done += changed;
      tell(begin + i, changed);
    }
  });
  return done;
}

}  // namespace

CountingBloomFilter::CountingBloomFilter(const FilterOptions& options)
    : CountingBloomFilter(options, BlocksFor(options)) {}

CountingBloomFilter::CountingBloomFilter(const FilterOptions& options, uint64_t num_blocks)
    : ErasableFilter(CapacityFor(options, num_blocks), options.hash,
                     detail::Storage::Allocate(num_blocks * counting::kBlockBytes, options.memory),
                     options.backend),
      num_blocks_(num_blocks) {}

CountingBloomFilter::CountingBloomFilter(const FileHeader& header, detail::Storage storage,
                                         const Backend* backend)
    : ErasableFilter(header, std::move(storage), backend), num_blocks_(header.geometry[0]) {}

CountingBloomFilter::CountingBloomFilter(CountingBloomFilter&& other) noexcept
    : ErasableFilter(std::move(other)),
      num_blocks_(std::exchange(other.num_blocks_, detail::kMovedBytes / counting::kBlockBytes)) {}

CountingBloomFilter& CountingBloomFilter::operator=(CountingBloomFilter&& other) noexcept {
  ErasableFilter::operator=(std::move(other));
  num_blocks_ = std::exchange(other.num_blocks_, detail::kMovedBytes / counting::kBlockBytes);
  return *this;
}

CountingBloomFilter::~CountingBloomFilter() = default;

CountingBloomFilter CountingBloomFilter::Load(const std::filesystem::path& path,
                                              const LoadOptions& options) {
  detail::OpenedFile file = detail::LoadFile(path, FilterKind::kCounting, options);
  return CountingBloomFilter(file.header, std::move(file.storage), options.backend);
}

CountingBloomFilter CountingBloomFilter::Map(const std::filesystem::path& path,
                                             const MapOptions& options) {
  detail::OpenedFile file = detail::MapFile(path, FilterKind::kCounting, options);
  return CountingBloomFilter(file.header, std::move(file.storage), options.backend);
}

FileHeader CountingBloomFilter::Header() const noexcept { return HeaderOf({num_blocks_, 0, 0}); }

double CountingBloomFilter::estimated_count() const noexcept {
  return CountingEstimatedCount(
      PopCountOf(*backend_->kernels, words(), num_words(), counting::NonZero), num_blocks_);
}

double CountingBloomFilter::expected_fpr() const noexcept {
  return CountingFpr(estimated_count(), num_blocks_);
}

uint64_t CountingBloomFilter::CopiesOfHash(uint64_t hash) const noexcept {
  const uint64_t* const block =
      words() + counting::kWords * counting::BlockIndex(hash, num_blocks_);
  uint64_t copies = counting::kMaxCount;
  for (int w = 0; w < counting::kWords; ++w) {
    copies = std::min(copies, counting::Count(block[w], counting::CounterShift(hash, w)));
  }
  return copies == counting::kMaxCount ? std::numeric_limits<uint64_t>::max() : copies;
}

uint64_t CountingBloomFilter::saturated() const noexcept {
  return PopCountOf(*backend_->kernels, words(), num_words(), counting::Saturated);
}

void CountingBloomFilter::Merge(const CountingBloomFilter& other) {
  RequireWritable();
  detail::RequireMergeable(detail::kCountingKind, *this, other);
  other.RequireIntact();
  uint64_t* const into = words();
  const uint64_t* const from = other.words();
  for (uint64_t i = 0; i < num_words(); ++i) into[i] = counting::ClampedSum(into[i], from[i]);
  AddCounts(other);
}

SplitBlockBloomFilter CountingBloomFilter::Freeze(const MemoryOptions& memory) const {
  RequireIntact();
  FileHeader header = Header();
  header.kind = FilterKind::kSplitBlock;
  const uint64_t half = bytes() / 2;
  SplitBlockBloomFilter frozen(header, detail::Storage::Allocate(half, memory), backend_);
  for (uint64_t i = 0; i < num_words(); ++i) frozen.words()[i] = counting::FrozenWord(words()[i]);
  return frozen;
}

CountingBloomFilter CountingBloomFilter::Clone(const MemoryOptions& memory) const {
  RequireIntact();
  CountingBloomFilter copy(Header(), detail::Storage::Allocate(bytes(), memory), backend_);
  std::memcpy(copy.storage_.data(), storage_.data(), bytes());
  return copy;
}

bool CountingBloomFilter::ProbeOne(uint64_t hash) const noexcept { return ContainsHash(hash); }

bool CountingBloomFilter::ChangeOne(Change change, uint64_t hash) noexcept {
  if (change == Change::kErase) return EraseHash(hash);
  if (change == Change::kInsertIfAbsent && ContainsHash(hash)) return false;
  return InsertOne(hash);
}

void CountingBloomFilter::Probe(const Kernels& kernels, const Batch& batch,
                                uint64_t* bits) const noexcept {
  kernels.counting.contains(words(), num_blocks_, batch, bits);
}

void CountingBloomFilter::InsertAbsent(const Kernels& kernels, const Batch& batch,
                                       uint64_t* fresh) noexcept {
  std::fill_n(fresh, BitmapWords(batch.n), uint64_t{0});
  ChangeInOrder(
      kernels, words(), num_blocks_, batch,
      [&](uint64_t hash) {
        if (kernels.counting.contains_one(words(), num_blocks_, hash)) return false;
        kernels.counting.insert_one(words(), num_blocks_, hash);
        return true;
      },
      [&](size_t i, bool inserted) { fresh[i / 64] |= uint64_t{inserted} << (i % 64); });
}

size_t CountingBloomFilter::ChangeBatch(Change change, const Kernels& kernels, const Batch& batch,
                                        uint64_t first, Outcomes& outcomes) noexcept {
  switch (change) {
    case Change::kInsert:
      kernels.counting.insert(words(), num_blocks_, batch);
      return batch.n;
    case Change::kErase:
      return ChangeInOrder(
          kernels, words(), num_blocks_, batch,
          [&](uint64_t hash) { return kernels.counting.erase_one(words(), num_blocks_, hash); },
          [&](size_t i, bool erased) {
            if (!erased) outcomes.Reject(first + i);
          });
    case Change::kInsertIfAbsent:
      return detail::InsertAbsent(
          kernels, batch, first, outcomes,
          [&](const Batch& slice, uint64_t* fresh) { InsertAbsent(kernels, slice, fresh); });
  }
  return 0;
}

std::unique_ptr<BulkWriter> CountingBloomFilter::MakeWriter(Change change, const Kernels& kernels,
                                                            uint64_t n, unsigned threads) {
  if (change == Change::kInsertIfAbsent) {
    const auto insert = [this, &kernels](const Batch& hashes, uint64_t* fresh) {
      InsertAbsent(kernels, hashes, fresh);
    };
    return std::make_unique<detail::AbsentWriter>(
        detail::AbsentWriter::Target{{bytes(), num_blocks_}, insert}, kernels, n, threads);
  }
  // The order of keys determines which keys are refused, and this writer does not keep the order.
  if (change == Change::kErase) return nullptr;
  const auto insert = [this, &kernels](const Batch& hashes, uint64_t, uint64_t) {
    kernels.counting.insert(words(), num_blocks_, hashes);
  };
  return std::make_unique<detail::HashWriter>(
      detail::HashTarget(bytes(), num_blocks_, kernels, insert), n, threads);
}

}  // namespace tamis
