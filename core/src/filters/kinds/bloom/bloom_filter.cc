#include "tamis/filters/bloom_filter.h"

#include <algorithm>
#include <utility>

#include "core/src/bulk/outcomes.h"
#include "core/src/bulk/union_writer.h"
#include "core/src/file/file_format.h"
#include "core/src/filters/base/combine.h"
#include "core/src/filters/base/sizing_checks.h"
#include "core/src/filters/kinds/bloom/bloom_kind.h"
#include "core/src/filters/kinds/bloom/position_target.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"

namespace tamis {

using detail::Batch;
using detail::BulkWriter;
using detail::Kernels;
using detail::Outcomes;

BloomFilter::Geometry BloomFilter::GeometryFor(const FilterOptions& options) {
  const double fpr = detail::FprOrDefault(options);
  uint64_t bits = 0;
  uint64_t capacity = options.capacity;
  if (options.bytes == 0) {
    if (capacity == 0) {
      throw Error(ErrorCode::kInvalidArgument, "a filter needs a capacity of at least 1, or bytes");
    }
    bits = BloomBits(capacity, fpr);
  } else {
    constexpr uint64_t kWordBytes = bloom::kWordBits / 8;
    const uint64_t words = options.bytes / kWordBytes;
    if (words < 1 || words > bloom::kMaxBits / bloom::kWordBits) {
      throw Error(ErrorCode::kInvalidArgument,
                  detail::StrCat("a Bloom filter of ", options.bytes, " bytes is out of range [",
                                 kWordBytes, ", ", bloom::kMaxBits / 8, "]"));
    }
    bits = words * bloom::kWordBits;
    if (capacity == 0) capacity = BloomCapacity(bits, fpr);
  }
  return {bits, BloomHashes(bits, capacity), capacity};
}

BloomFilter::BloomFilter(const FilterOptions& options)
    : BloomFilter(options, GeometryFor(options)) {}

BloomFilter::BloomFilter(const FilterOptions& options, const Geometry& geometry)
    : ChangeableFilter(geometry.capacity, options.hash,
                       detail::Storage::Allocate(geometry.num_bits / 8, options.memory),
                       options.backend),
      num_bits_(geometry.num_bits),
      num_hashes_(geometry.num_hashes) {}

BloomFilter::BloomFilter(const FileHeader& header, detail::Storage storage, const Backend* backend)
    : ChangeableFilter(header, std::move(storage), backend),
      num_bits_(header.geometry[0]),
      num_hashes_(static_cast<uint32_t>(header.geometry[1])) {}

BloomFilter::BloomFilter(BloomFilter&& other) noexcept
    : ChangeableFilter(std::move(other)),
      num_bits_(std::exchange(other.num_bits_, 8 * detail::kMovedBytes)),
      num_hashes_(other.num_hashes_) {}

BloomFilter& BloomFilter::operator=(BloomFilter&& other) noexcept {
  ChangeableFilter::operator=(std::move(other));
  num_bits_ = std::exchange(other.num_bits_, 8 * detail::kMovedBytes);
  num_hashes_ = other.num_hashes_;
  return *this;
}

BloomFilter::~BloomFilter() = default;

BloomFilter BloomFilter::Load(const std::filesystem::path& path, const LoadOptions& options) {
  detail::OpenedFile file = detail::LoadFile(path, FilterKind::kBloom, options);
  return BloomFilter(file.header, std::move(file.storage), options.backend);
}

BloomFilter BloomFilter::Map(const std::filesystem::path& path, const MapOptions& options) {
  detail::OpenedFile file = detail::MapFile(path, FilterKind::kBloom, options);
  return BloomFilter(file.header, std::move(file.storage), options.backend);
}

FileHeader BloomFilter::Header() const noexcept { return HeaderOf({num_bits_, num_hashes_, 0}); }

double BloomFilter::theoretical_fpr() const noexcept {
  return BloomFpr(static_cast<double>(capacity_), num_bits_, num_hashes_);
}

double BloomFilter::estimated_count() const noexcept {
  const uint64_t bits_set = backend_->kernels->popcount(words(), bytes() / sizeof(uint64_t));
  return BloomEstimatedCount(bits_set, num_bits_, num_hashes_);
}

double BloomFilter::expected_fpr() const noexcept {
  return BloomFpr(estimated_count(), num_bits_, num_hashes_);
}

double BloomFilter::estimated_union_count(const BloomFilter& other) const {
  detail::RequireMergeable(detail::kBloomKind, *this, other);
  const uint64_t bits_set = detail::UnionPopCount(*backend_->kernels, payload(), other.payload());
  return BloomEstimatedCount(bits_set, num_bits_, num_hashes_);
}

double BloomFilter::estimated_intersection_count(const BloomFilter& other) const {
  const double both = estimated_union_count(other);
  return std::max(0.0, estimated_count() + other.estimated_count() - both);
}

void BloomFilter::Merge(const BloomFilter& other) {
  RequireWritable();
  detail::RequireMergeable(detail::kBloomKind, *this, other);
  other.RequireIntact();
  backend_->kernels->merge(words(), other.words(), bytes() / sizeof(uint64_t));
  AddCounts(other);
}

void BloomFilter::Intersect(const BloomFilter& other) {
  RequireWritable();
  detail::RequireMergeable(detail::kBloomKind, *this, other);
  other.RequireIntact();
  backend_->kernels->intersect(words(), other.words(), bytes() / sizeof(uint64_t));
  inserted_ = std::min(inserted_, other.inserted_);
  key_types_.Add(other.key_types_);
  Changed();
}

BloomFilter BloomFilter::Clone(const MemoryOptions& memory) const {
  RequireIntact();
  BloomFilter copy(Header(), detail::Storage::Allocate(bytes(), memory), backend_);
  backend_->kernels->merge(copy.words(), words(), bytes() / sizeof(uint64_t));
  return copy;
}

bool BloomFilter::ProbeOne(uint64_t hash) const noexcept { return ContainsHash(hash); }

bool BloomFilter::ChangeOne(Change change, uint64_t hash) noexcept {
  if (change == Change::kInsertIfAbsent && ContainsHash(hash)) return false;
  return InsertOne(hash);
}

void BloomFilter::Probe(const Kernels& kernels, const Batch& batch, uint64_t* bits) const noexcept {
  kernels.bloom.contains(words(), num_bits_, num_hashes_, batch, bits);
}

size_t BloomFilter::ChangeBatch(Change change, const Kernels& kernels, const Batch& batch,
                                uint64_t first, Outcomes& outcomes) noexcept {
  if (change == Change::kInsertIfAbsent) {
    return detail::InsertAbsent(
        kernels, batch, first, outcomes, [&](const Batch& slice, uint64_t* fresh) {
          kernels.bloom.insert_if_absent(words(), num_bits_, num_hashes_, slice, fresh);
        });
  }
  kernels.bloom.insert(words(), num_bits_, num_hashes_, batch);
  return batch.n;
}

std::unique_ptr<BulkWriter> BloomFilter::MakeWriter(Change change, const Kernels& kernels,
                                                    uint64_t n, unsigned threads) {
  // Whether a key is new depends on bits of several regions.
  if (change != Change::kInsert) return nullptr;
  return std::make_unique<detail::PositionWriter>(
      detail::PositionTarget(words(), num_bits_, num_hashes_, kernels), n, threads);
}

std::unique_ptr<BulkWriter> BloomFilter::MakeUnionWriter(const Kernels& kernels, unsigned threads) {
  const auto insert = [this, &kernels](const Batch& batch, uint64_t* into) {
    kernels.bloom.insert(into, num_bits_, num_hashes_, batch);
  };
  return std::make_unique<detail::UnionWriter>(
      detail::UnionWriter::Target{words(), bytes() / sizeof(uint64_t), insert}, kernels, threads);
}

}  // namespace tamis
