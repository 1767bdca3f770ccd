#include "tamis/filters/split_block_filter.h"

#include <algorithm>
#include <utility>

#include "core/src/bulk/absent_writer.h"
#include "core/src/bulk/outcomes.h"
#include "core/src/bulk/partitioned_writer.h"
#include "core/src/file/file_format.h"
#include "core/src/filters/base/combine.h"
#include "core/src/filters/base/sizing_checks.h"
#include "core/src/filters/kinds/split_block/split_block_kind.h"
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

namespace sb = split_block;

uint64_t BlocksFor(const FilterOptions& options) {
  const double fpr = detail::FprOrDefault(options);
  if (options.bytes == 0) {
    if (options.capacity == 0) {
      throw Error(ErrorCode::kInvalidArgument, "a filter needs a capacity of at least 1, or bytes");
    }
    return SplitBlockBlocks(options.capacity, fpr);
  }
  const uint64_t blocks = options.bytes / sb::kBlockBytes;
  if (blocks < 1 || blocks > sb::kMaxBlocks) {
    throw Error(
        ErrorCode::kInvalidArgument,
        detail::StrCat("a split-block filter of ", options.bytes, " bytes is out of range [",
                       sb::kBlockBytes, ", ", sb::kMaxBlocks * sb::kBlockBytes, "]"));
  }
  return blocks;
}

// Returns the capacity in the options. If they have only bytes, returns the number of keys that the
// filter holds at its rate.
uint64_t CapacityFor(const FilterOptions& options, uint64_t num_blocks) {
  return options.capacity != 0 ? options.capacity
                               : SplitBlockCapacity(num_blocks, detail::FprOrDefault(options));
}

}  // namespace

SplitBlockBloomFilter::SplitBlockBloomFilter(const FilterOptions& options)
    : SplitBlockBloomFilter(options, BlocksFor(options)) {}

SplitBlockBloomFilter::SplitBlockBloomFilter(const FilterOptions& options, uint64_t num_blocks)
    : ChangeableFilter(CapacityFor(options, num_blocks), options.hash,
                       detail::Storage::Allocate(num_blocks * sb::kBlockBytes, options.memory),
                       options.backend),
      num_blocks_(num_blocks) {}

SplitBlockBloomFilter::SplitBlockBloomFilter(const FileHeader& header, detail::Storage storage,
                                             const Backend* backend)
    : ChangeableFilter(header, std::move(storage), backend), num_blocks_(header.geometry[0]) {}

SplitBlockBloomFilter::SplitBlockBloomFilter(SplitBlockBloomFilter&& other) noexcept
    : ChangeableFilter(std::move(other)),
      num_blocks_(std::exchange(other.num_blocks_, detail::kMovedBytes / sb::kBlockBytes)) {}

SplitBlockBloomFilter& SplitBlockBloomFilter::operator=(SplitBlockBloomFilter&& other) noexcept {
  ChangeableFilter::operator=(std::move(other));
  num_blocks_ = std::exchange(other.num_blocks_, detail::kMovedBytes / sb::kBlockBytes);
  return *this;
}

SplitBlockBloomFilter::~SplitBlockBloomFilter() = default;

SplitBlockBloomFilter SplitBlockBloomFilter::Load(const std::filesystem::path& path,
                                                  const LoadOptions& options) {
  detail::OpenedFile file = detail::LoadFile(path, FilterKind::kSplitBlock, options);
  return SplitBlockBloomFilter(file.header, std::move(file.storage), options.backend);
}

SplitBlockBloomFilter SplitBlockBloomFilter::Map(const std::filesystem::path& path,
                                                 const MapOptions& options) {
  detail::OpenedFile file = detail::MapFile(path, FilterKind::kSplitBlock, options);
  return SplitBlockBloomFilter(file.header, std::move(file.storage), options.backend);
}

FileHeader SplitBlockBloomFilter::Header() const noexcept { return HeaderOf({num_blocks_, 0, 0}); }

double SplitBlockBloomFilter::estimated_count() const noexcept { return view().estimated_count(); }

double SplitBlockBloomFilter::expected_fpr() const noexcept { return view().expected_fpr(); }

void SplitBlockBloomFilter::Merge(const SplitBlockBloomFilter& other) {
  RequireWritable();
  detail::RequireMergeable(detail::kSplitBlockKind, *this, other);
  other.RequireIntact();
  backend_->kernels->merge(reinterpret_cast<uint64_t*>(storage_.data()),
                           reinterpret_cast<const uint64_t*>(other.storage_.data()),
                           bytes() / sizeof(uint64_t));
  AddCounts(other);
}

void SplitBlockBloomFilter::Intersect(const SplitBlockBloomFilter& other) {
  RequireWritable();
  detail::RequireMergeable(detail::kSplitBlockKind, *this, other);
  other.RequireIntact();
  backend_->kernels->intersect(reinterpret_cast<uint64_t*>(storage_.data()),
                               reinterpret_cast<const uint64_t*>(other.storage_.data()),
                               bytes() / sizeof(uint64_t));
  inserted_ = std::min(inserted_, other.inserted_);
  key_types_.Add(other.key_types_);
  Changed();
}

double SplitBlockBloomFilter::estimated_union_count(const SplitBlockBloomFilter& other) const {
  detail::RequireMergeable(detail::kSplitBlockKind, *this, other);
  const uint64_t bits_set = detail::UnionPopCount(*backend_->kernels, payload(), other.payload());
  return SplitBlockEstimatedCount(bits_set, num_blocks_);
}

double SplitBlockBloomFilter::estimated_intersection_count(
    const SplitBlockBloomFilter& other) const {
  const double both = estimated_union_count(other);
  return std::max(0.0, estimated_count() + other.estimated_count() - both);
}

SplitBlockBloomFilter SplitBlockBloomFilter::Folded(const MemoryOptions& memory) const {
  if (num_blocks_ % 2 != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("a filter of ", num_blocks_,
                               " blocks cannot be folded: an even number is needed"));
  }
  if (num_blocks_ > sb::kMaxBlocks32 && num_blocks_ / 2 <= sb::kMaxBlocks32) {
    throw Error(
        ErrorCode::kInvalidArgument,
        detail::StrCat("a filter of ", num_blocks_, " blocks cannot be folded: the half has ",
                       "at most ", sb::kMaxBlocks32, " blocks, which other bits choose"));
  }
  RequireIntact();
  FileHeader header = Header();
  header.geometry[0] = num_blocks_ / 2;
  SplitBlockBloomFilter half(header, detail::Storage::Allocate(bytes() / 2, memory), backend_);
  const uint32_t* from = words();
  uint32_t* into = half.words();
  for (uint64_t block = 0; block < half.num_blocks_; ++block) {
    for (int w = 0; w < sb::kWords; ++w) {
      into[sb::kWords * block + w] =
          from[sb::kWords * 2 * block + w] | from[sb::kWords * (2 * block + 1) + w];
    }
  }
  return half;
}

SplitBlockBloomFilter SplitBlockBloomFilter::Clone(const MemoryOptions& memory) const {
  RequireIntact();
  SplitBlockBloomFilter copy(Header(), detail::Storage::Allocate(bytes(), memory), backend_);
  backend_->kernels->merge(reinterpret_cast<uint64_t*>(copy.storage_.data()),
                           reinterpret_cast<const uint64_t*>(storage_.data()),
                           bytes() / sizeof(uint64_t));
  return copy;
}

ConstSplitBlockView SplitBlockBloomFilter::view() const noexcept {
  return {words(), num_blocks_, hash_, hasher_, *backend_};
}

SplitBlockView SplitBlockBloomFilter::mutable_view() {
  RequireWritable();
  key_types_.Add(KeyType::kUnknown);  // the types of keys in the view are unknown
  has_views_ = true;
  Changed();  // the view may change blocks but leave inserted_ as it is
  return {view(), &inserted_};
}

bool SplitBlockBloomFilter::ProbeOne(uint64_t hash) const noexcept { return ContainsHash(hash); }

bool SplitBlockBloomFilter::ChangeOne(Change change, uint64_t hash) noexcept {
  if (storage_.read_only()) return false;
  if (change == Change::kInsertIfAbsent && ContainsHash(hash)) return false;
  detail::SplitBlockInsertOwn(backend_->kernels->split_block, words(), num_blocks_, hash);
  ++inserted_;
  return true;
}

void SplitBlockBloomFilter::Probe(const Kernels& kernels, const Batch& batch,
                                  uint64_t* bits) const noexcept {
  kernels.split_block.contains(words(), num_blocks_, batch, bits);
}

size_t SplitBlockBloomFilter::ChangeBatch(Change change, const Kernels& kernels, const Batch& batch,
                                          uint64_t first, Outcomes& outcomes) noexcept {
  if (change == Change::kInsertIfAbsent) {
    return detail::InsertAbsent(
        kernels, batch, first, outcomes, [&](const Batch& slice, uint64_t* fresh) {
          kernels.split_block.insert_if_absent(words(), num_blocks_, slice, fresh);
        });
  }
  kernels.split_block.insert(words(), num_blocks_, batch);
  return batch.n;
}

std::unique_ptr<BulkWriter> SplitBlockBloomFilter::MakeWriter(Change change, const Kernels& kernels,
                                                              uint64_t n, unsigned threads) {
  if (change == Change::kInsertIfAbsent) {
    const auto insert = [this, &kernels](const Batch& hashes, uint64_t* fresh) {
      kernels.split_block.insert_if_absent(words(), num_blocks_, hashes, fresh);
    };
    return std::make_unique<detail::AbsentWriter>(
        detail::AbsentWriter::Target{{bytes(), num_blocks_}, insert}, kernels, n, threads);
  }
  const auto insert = [this, &kernels](const Batch& hashes, uint64_t, uint64_t) {
    kernels.split_block.insert(words(), num_blocks_, hashes);
  };
  return std::make_unique<detail::HashWriter>(
      detail::HashTarget(bytes(), num_blocks_, kernels, insert), n, threads);
}

}  // namespace tamis
