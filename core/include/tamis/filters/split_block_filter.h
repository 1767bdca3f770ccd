// The split-block Bloom filter: the fast default.
//
// See docs/contracts.md for the rules of all filters.
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

// A key belongs to one block of 256 bits, and sets one bit in each of its eight 32-bit words, so a
// probe touches one cache line. The filter takes 10.5 bits per key at a false-positive rate of 1%,
// 16.9 at 0.1%, and 26.3 at 0.01%.
//
// The bits are the bits of Apache Parquet's Bloom filters if the hash is {HashKind::kXxh64, 0} and
// the keys are the bytes that Parquet hashes. Strings and 64-bit integers are such keys. INT32 and
// other types of fixed width have to be passed as a FixedColumn.
//
// A filter has 1 to 2^40 blocks (32 TiB). With more than 2^32 - 1 (128 GiB), its files have version
// 3 of the format.
class SplitBlockBloomFilter final : public ChangeableFilter {
 public:
  static constexpr FilterKind kKind = FilterKind::kSplitBlock;  // the kind of these filters

  // See FilterOptions for errors.
  explicit SplitBlockBloomFilter(const FilterOptions& options);

  // Builds a filter from all keys of a range that can be read twice: a container, a view, or Keys.
  // The filter is sized for their number at options.fpr. options.capacity and options.bytes must be
  // 0. Throws the errors of Build (engine/build.h).
  template <detail::KeyRange R>
  static SplitBlockBloomFilter From(const R& keys, const FilterOptions& options = {}) {
    return detail::FilterFrom<SplitBlockBloomFilter>(keys, options);
  }

  // Reads a file and verifies all of it. Throws
  // - FormatError if a check fails, or if the file is of another kind or a newer version,
  // - Error(kIo) if the file cannot be read; Error(kBusy) if a link to its shards changes then,
  // - Error(kSecret) if the secret of a keyed hash is missing or wrong,
  // - Error(kOutOfMemory), Error(kUnknownBackend): see FilterOptions.
  static SplitBlockBloomFilter Load(const std::filesystem::path& path,
                                    const LoadOptions& options = {});
  // Maps a file, read-only and without a copy. Pages are read when they are first probed. The file
  // must not change while it is mapped. Save may replace the file, but no program may write into
  // the file. If the file is truncated, a probe raises SIGBUS, which ends the process. Throws the
  // errors of Load.
  static SplitBlockBloomFilter Map(const std::filesystem::path& path,
                                   const MapOptions& options = {});

  SplitBlockBloomFilter(SplitBlockBloomFilter&&) noexcept;
  SplitBlockBloomFilter& operator=(SplitBlockBloomFilter&&) noexcept;
  ~SplitBlockBloomFilter() override;

  FilterKind kind() const noexcept override { return kKind; }
  // Returns the number of blocks.
  uint64_t num_blocks() const noexcept { return num_blocks_; }
  double estimated_count() const noexcept override;
  double expected_fpr() const noexcept override;
  FileHeader Header() const noexcept override;

  using ChangeableFilter::Insert;
  using ChangeableFilter::InsertIfAbsent;
  using Filter::Contains;

  // Query one key.
  TAMIS_INLINE bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  TAMIS_INLINE bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, hash_));
  }
  TAMIS_INLINE bool ContainsHash(uint64_t hash) const noexcept {
    return detail::SplitBlockContainsOne(backend_->kernels->split_block, words(), num_blocks_,
                                         hash);
  }

  // Insert one key, and return true. If the filter is read_only(), return false.
  TAMIS_INLINE bool Insert(uint64_t key) noexcept {
    // The order of the hash and the checks in InsertOne was measured (bench/NOTES_BLOOM.md).
    return TAMIS_BLOCK_VECTORS ? InsertOne(KeyType::kInteger, hasher_, key)
                               : InsertOne(KeyType::kInteger, detail::KeyHasher(), hasher_(key));
  }
  TAMIS_INLINE bool Insert(std::string_view key) noexcept {
    return InsertOne(KeyType::kBytes, detail::KeyHasher(), HashBytes(key, hash_));
  }
  TAMIS_INLINE bool InsertHash(uint64_t hash) noexcept {
    return InsertOne(KeyType::kUnknown, detail::KeyHasher(), hash);
  }

  // Insert one key if Contains returns false for it. Return whether it was inserted.
  TAMIS_INLINE bool InsertIfAbsent(uint64_t key) noexcept {
    return InsertOneIfAbsent(KeyType::kInteger, hasher_(key));
  }
  TAMIS_INLINE bool InsertIfAbsent(std::string_view key) noexcept {
    return InsertOneIfAbsent(KeyType::kBytes, HashBytes(key, hash_));
  }
  TAMIS_INLINE bool InsertHashIfAbsent(uint64_t hash) noexcept {
    return InsertOneIfAbsent(KeyType::kUnknown, hash);
  }

  // Return views of the blocks, for queries and insertions. A view is valid until the filter is
  // destroyed, moved, or gets another backend. mutable_view() throws Error(kReadOnly) if the filter
  // is read_only(), and adds KeyType::kUnknown to key_types().
  //
  // An Engine may keep a copy of the filter on a GPU. The Engine replaces the copy after a call of
  // mutable_view() and after insertions through a view. After writing to mutable_blocks(), call
  // mutable_view() again before the next query.
  ConstSplitBlockView view() const noexcept;
  SplitBlockView mutable_view();

  // Adds all keys of `other`. The result is bit for bit the filter that would have been built from
  // both sets. Changes nothing if it throws. Throws
  // - Error(kIncompatible) if the numbers of blocks or the hashes differ,
  // - Error(kReadOnly) if the filter is read_only(),
  // - FormatError if `other` is mapped from a damaged file.
  void Merge(const SplitBlockBloomFilter& other);

  // Keeps the bits that both filters have, so a key that is in both is never lost. The
  // false-positive rate is at most the lower of the two rates, but higher than the rate of a filter
  // built from the common keys. The result of estimated_count() is then too high, because keys that
  // are not common also have common bits. The result of inserted_count() becomes the smaller of the
  // two. Throws the errors of Merge.
  void Intersect(const SplitBlockBloomFilter& other);

  // Estimated number of distinct keys in the union of both filters. Throws Error(kIncompatible) if
  // CanMerge(*this, other) is false. O(bytes()).
  double estimated_union_count(const SplitBlockBloomFilter& other) const;
  // Estimated number of distinct keys that are in both: the sum of both estimates minus the
  // estimate of the union (Papapetrou, Siberski and Nejdl, "Cardinality estimation and dynamic
  // length adaptation for Bloom filters", 2010). The result is a difference of large numbers: if
  // the sets overlap little, its error is as large as the result itself. Throws the errors of
  // estimated_union_count.
  double estimated_intersection_count(const SplitBlockBloomFilter& other) const;

  // Returns a filter with half the blocks, for filters that were made too large. Blocks 2i and 2i +
  // 1 become block i. The result is bit for bit the filter of that size that would have been built
  // from the same keys. Throws Error(kInvalidArgument) if the number of blocks is odd, or if only
  // the half has at most 2^32 - 1 blocks, which other bits of a hash choose. Throws the errors of
  // Clone.
  SplitBlockBloomFilter Folded(const MemoryOptions& memory = {}) const;

  // Returns a copy in memory of its own, which is never read-only. Throws Error(kOutOfMemory), and
  // FormatError for a filter that is mapped from a damaged file.
  SplitBlockBloomFilter Clone(const MemoryOptions& memory = {}) const;

 private:
  friend struct detail::FilterAccess;  // makes filters from files
  friend class CountingBloomFilter;    // for Freeze
  template <typename F>
  friend class ScalableFilter;  // makes its layers from files

  SplitBlockBloomFilter(const FilterOptions& options, uint64_t num_blocks);
  SplitBlockBloomFilter(const FileHeader& header, detail::Storage storage, const Backend* backend);

  // Inserts one key, given a value that `hasher` hashes. In a loop, compilers read the fields that
  // are read here before the first branch only once. The count is read before the bits are written,
  // because a read after a write to an unknown address may have to wait.
  TAMIS_INLINE bool InsertOne(KeyType type, detail::KeyHasher hasher, uint64_t value) noexcept {
    uint32_t* const to = words();
    const uint64_t blocks = num_blocks_;
    if (storage_.read_only()) [[unlikely]] {
      return false;
    }
    NoteOne(type);
    ++inserted_;  // also counts as a change
    detail::SplitBlockInsertOwn(backend_->kernels->split_block, to, blocks, hasher(value));
    return true;
  }

  TAMIS_INLINE bool InsertOneIfAbsent(KeyType type, uint64_t hash) noexcept {
    return !ContainsHash(hash) && InsertOne(type, detail::KeyHasher(), hash);
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
