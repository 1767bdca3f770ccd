// The split-block Bloom filter: the fast default.
#ifndef TAMIS_FILTERS_SPLIT_BLOCK_FILTER_H_
#define TAMIS_FILTERS_SPLIT_BLOCK_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "tamis/detail/build_from.h"
#include "tamis/detail/split_block_inline.h"
#include "tamis/filters/changeable_filter.h"
#include "tamis/filters/split_block_view.h"
#include "tamis/layout/split_block.h"

namespace tamis {

// A key falls into one 256-bit block, and sets one bit in each of its eight 32-bit words: a probe
// touches one cache line. 10.5 bits per key at a false-positive rate of 1%, 16.9 at 0.1%, 26.3 at
// 0.01%. The bits are those of Apache Parquet's Bloom filters if the hash is {HashKind::kXxh64, 0}
// and the keys are the bytes that Parquet hashes. Strings and 64-bit integers are; INT32 and other
// types of fixed width are if they are handed over as a FixedColumn.
//
// From 1 to 2^32 - 1 blocks (128 GiB), any number of them.
class SplitBlockBloomFilter final : public ChangeableFilter {
 public:
  static constexpr FilterKind kKind = FilterKind::kSplitBlock;

  // Throws Error(kInvalidArgument) for options out of range, Error(kOutOfMemory) for more bytes
  // than the machine has, Error(kUnknownBackend) if TAMIS_BACKEND names none.
  explicit SplitBlockBloomFilter(const FilterOptions& options);

  // Builds a filter from all keys of a range that can be read twice: a container, a view, or Keys.
  // It is sized for their number at options.fpr; options.capacity and options.bytes must be 0.
  // Throws as Build (build.h).
  template <detail::KeyRange R>
  static SplitBlockBloomFilter From(const R& keys, const FilterOptions& options = {}) {
    return detail::FilterFrom<SplitBlockBloomFilter>(keys, options);
  }

  // Reads a file and verifies all of it. Throws FormatError or Error(kIo).
  static SplitBlockBloomFilter Load(const std::filesystem::path& path,
                                    const LoadOptions& options = {});
  // Maps a file, read-only and without a copy; pages are read when they are first probed. The file
  // must not change while it is mapped: replacing it by Save is safe, writing into it is not, and
  // if it is truncated a probe ends the process (SIGBUS).
  static SplitBlockBloomFilter Map(const std::filesystem::path& path,
                                   const MapOptions& options = {});

  SplitBlockBloomFilter(SplitBlockBloomFilter&&) noexcept;
  SplitBlockBloomFilter& operator=(SplitBlockBloomFilter&&) noexcept;
  ~SplitBlockBloomFilter() override;

  FilterKind kind() const noexcept override { return kKind; }
  uint64_t num_blocks() const noexcept { return num_blocks_; }
  double estimated_count() const noexcept override;
  double expected_fpr() const noexcept override;
  FileHeader Header() const noexcept override;

  using ChangeableFilter::Insert;
  using ChangeableFilter::InsertIfAbsent;
  using Filter::Contains;

  // One key. Integers are keys by their value widened to 64 bits (see Keys).
  TAMIS_INLINE bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  TAMIS_INLINE bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, hash_));
  }
  TAMIS_INLINE bool ContainsHash(uint64_t hash) const noexcept {
    return detail::SplitBlockContainsOne(backend_->kernels->split_block, words(), num_blocks_,
                                         hash);
  }

  // One key. Returns true, or false if the filter is read_only().
  TAMIS_INLINE bool Insert(uint64_t key) noexcept {
    return Note(KeyType::kInteger, InsertOne(hasher_(key)));
  }
  TAMIS_INLINE bool Insert(std::string_view key) noexcept {
    return Note(KeyType::kBytes, InsertOne(HashBytes(key, hash_)));
  }
  TAMIS_INLINE bool InsertHash(uint64_t hash) noexcept {
    return Note(KeyType::kUnknown, InsertOne(hash));
  }

  // One key, if it is absent. Returns whether it was inserted, and so is new.
  TAMIS_INLINE bool InsertIfAbsent(uint64_t key) noexcept {
    return Note(KeyType::kInteger, InsertOneIfAbsent(hasher_(key)));
  }
  TAMIS_INLINE bool InsertIfAbsent(std::string_view key) noexcept {
    return Note(KeyType::kBytes, InsertOneIfAbsent(HashBytes(key, hash_)));
  }
  TAMIS_INLINE bool InsertHashIfAbsent(uint64_t hash) noexcept {
    return Note(KeyType::kUnknown, InsertOneIfAbsent(hash));
  }

  // Views of the blocks, to ask and to insert into; valid as long as the filter is there, is not
  // moved and keeps its backend. mutable_view throws Error(kReadOnly) if the filter is read_only().
  // The copy of the filter that an Engine keeps on a GPU is replaced after each call of
  // mutable_view, and after insertions by a view. Bits that are written to its mutable_blocks()
  // after a lookup need another call.
  ConstSplitBlockView view() const noexcept;
  SplitBlockView mutable_view();

  // Adds all keys of `other`: the union, bit for bit the filter that would have been built from
  // both sets. Throws Error(kIncompatible) unless blocks and hash are equal, Error(kReadOnly), and
  // FormatError as Clone would for `other`.
  void Merge(const SplitBlockBloomFilter& other);

  // Keeps what both filters have: no key that is in both is lost. The false-positive rate is at
  // most the lower of the two, but higher than that of a filter built from the common keys.
  // estimated_count() is then too high, as more bits are common than the common keys set.
  // inserted_count() becomes the smaller of the two. Throws as Merge does.
  void Intersect(const SplitBlockBloomFilter& other);

  // The number of distinct keys in the union of both filters, estimated from the contents. Throws
  // Error(kIncompatible) unless CanMerge(*this, other). O(bytes()).
  double estimated_union_count(const SplitBlockBloomFilter& other) const;
  // The number of distinct keys that are in both: the sum of the two less the union (Papapetrou,
  // Siberski and Nejdl, "Cardinality estimation and dynamic length adaptation for Bloom filters",
  // 2010). A difference of large numbers: if the sets overlap little, the error is as large as the
  // result.
  double estimated_intersection_count(const SplitBlockBloomFilter& other) const;

  // A filter of half the blocks, bit for bit the one that would have been built from the same keys
  // at that size: blocks 2i and 2i + 1 become block i. For filters that were made too large. Throws
  // Error(kInvalidArgument) if the number of blocks is odd.
  SplitBlockBloomFilter Folded(const MemoryOptions& memory = {}) const;

  // A copy in memory of its own, never read-only. If this filter was mapped without being verified,
  // reads its file twice, and throws FormatError if that is damaged.
  SplitBlockBloomFilter Clone(const MemoryOptions& memory = {}) const;

 private:
  friend struct detail::FilterAccess;  // for filters out of files
  friend class CountingBloomFilter;    // for Freeze
  template <typename F>
  friend class ScalableFilter;  // for its layers in files

  SplitBlockBloomFilter(const FilterOptions& options, uint64_t num_blocks);
  SplitBlockBloomFilter(const FileHeader& header, detail::Storage storage, const Backend* backend);

  TAMIS_INLINE bool InsertOne(uint64_t hash) noexcept {
    if (storage_.read_only()) return false;
    detail::SplitBlockInsertOwn(backend_->kernels->split_block, words(), num_blocks_, hash);
    ++inserted_;  // which counts as a change
    return true;
  }

  TAMIS_INLINE bool InsertOneIfAbsent(uint64_t hash) noexcept {
    return !ContainsHash(hash) && InsertOne(hash);
  }

  void Probe(const detail::Kernels& kernels, const detail::Batch& batch,
             uint64_t* bits) const noexcept override;
  bool ProbeOne(uint64_t hash) const noexcept override;
  bool ChangeOne(Change change, uint64_t hash) noexcept override;
  size_t ChangeBatch(Change change, const detail::Kernels& kernels, const detail::Batch& batch,
                     uint64_t first, detail::Outcomes& outcomes) noexcept override;
  uint64_t ordered_blocks() const noexcept override { return num_blocks_; }
  std::unique_ptr<detail::BulkWriter> MakeWriter(Change change, const detail::Kernels& kernels,
                                                 uint64_t n, unsigned threads) override;

  TAMIS_HD uint32_t* words() const noexcept { return reinterpret_cast<uint32_t*>(storage_.data()); }

  uint64_t num_blocks_;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_SPLIT_BLOCK_FILTER_H_
