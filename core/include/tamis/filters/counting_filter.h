// The counting Bloom filter: keys can be erased, and inserted more than once.
//
// See docs/contracts.md for the rules of all filters.
#ifndef TAMIS_FILTERS_COUNTING_FILTER_H_
#define TAMIS_FILTERS_COUNTING_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "tamis/detail/build_from.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/layout/counting.h"

namespace tamis {

// A key belongs to one block of 64 bytes, and adds 1 to one counter of 4 bits in each of its eight
// words, so a probe touches one cache line. The filter takes 45.7 bits per key at a false-positive
// rate of 1%, and 77.6 at 0.1%. A key that was inserted n times is found until it has been erased n
// times.
//
// A counter that has reached 15 is saturated and never changes again. Keys that share a saturated
// counter may still be found after they were erased, but keys in the filter are never lost.
// saturated() returns the number of saturated counters.
//
// Erase only keys that were inserted: see ErasableFilter.
class CountingBloomFilter final : public ErasableFilter {
 public:
  static constexpr FilterKind kKind = FilterKind::kCounting;  // the kind of these filters

  // See FilterOptions for errors.
  explicit CountingBloomFilter(const FilterOptions& options);

  // See SplitBlockBloomFilter::From.
  template <detail::KeyRange R>
  static CountingBloomFilter From(const R& keys, const FilterOptions& options = {}) {
    return detail::FilterFrom<CountingBloomFilter>(keys, options);
  }

  // See SplitBlockBloomFilter::Load and Map.
  static CountingBloomFilter Load(const std::filesystem::path& path,
                                  const LoadOptions& options = {});
  // Maps a file like SplitBlockBloomFilter::Map.
  static CountingBloomFilter Map(const std::filesystem::path& path, const MapOptions& options = {});

  CountingBloomFilter(CountingBloomFilter&&) noexcept;
  CountingBloomFilter& operator=(CountingBloomFilter&&) noexcept;
  ~CountingBloomFilter() override;

  FilterKind kind() const noexcept override { return kKind; }
  // Returns the number of blocks.
  uint64_t num_blocks() const noexcept { return num_blocks_; }
  // Estimated number of distinct keys, from the number of counters that are not 0. O(bytes()).
  double estimated_count() const noexcept override;
  double expected_fpr() const noexcept override;
  // Returns how many of the 128 num_blocks() counters are saturated. O(bytes()).
  uint64_t saturated() const noexcept;
  FileHeader Header() const noexcept override;

  using ChangeableFilter::Insert;
  using ErasableFilter::Erase;
  using Filter::Contains;

  // Query one key.
  bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  bool Contains(std::string_view key) const noexcept { return ContainsHash(HashBytes(key, hash_)); }
  bool ContainsHash(uint64_t hash) const noexcept {
    return kernels().contains_one(words(), num_blocks_, hash);
  }

  // Insert one key, and return true. If the filter is read_only(), return false.
  bool Insert(uint64_t key) noexcept { return Note(KeyType::kInteger, InsertOne(hasher_(key))); }
  bool Insert(std::string_view key) noexcept {
    return Note(KeyType::kBytes, InsertOne(HashBytes(key, hash_)));
  }
  bool InsertHash(uint64_t hash) noexcept { return Note(KeyType::kUnknown, InsertOne(hash)); }

  // Erase one key once. Return false, with nothing changed, if the filter does not find the key or
  // is read_only(). If all counters of the key are saturated, the counters stay at 15 and the
  // result is true. inserted_count() never goes below 0.
  bool Erase(uint64_t key) noexcept { return EraseHash(hasher_(key)); }
  bool Erase(std::string_view key) noexcept { return EraseHash(HashBytes(key, hash_)); }
  bool EraseHash(uint64_t hash) noexcept {
    if (storage_.read_only() || !kernels().erase_one(words(), num_blocks_, hash)) return false;
    inserted_ -= inserted_ > 0;  // keys with saturated counters can be erased too often
    Changed();
    return true;
  }

  // Adds all keys of `other`, copies included, by adding the counters. Sums above 15 become 15,
  // which is saturated. Changes nothing if it throws. Throws
  // - Error(kIncompatible) if CanMerge(*this, other) is false,
  // - Error(kReadOnly) if the filter is read_only(),
  // - FormatError if `other` is mapped from a damaged file.
  void Merge(const CountingBloomFilter& other);

  // Returns a filter of half the size, without counters, that gives the same answer for every key.
  // The result has two bits for each counter. So its estimated_count() is twice the estimate of
  // this filter, and its expected_fpr() is too low (0.7 times the true rate at 1%), because the
  // formula assumes independent bits. Use the estimates of this filter instead. Throws the errors
  // of Clone.
  SplitBlockBloomFilter Freeze(const MemoryOptions& memory = {}) const;

  // See SplitBlockBloomFilter::Clone.
  CountingBloomFilter Clone(const MemoryOptions& memory = {}) const;

 private:
  friend struct detail::FilterAccess;  // makes filters from files

  CountingBloomFilter(const FilterOptions& options, uint64_t num_blocks);
  CountingBloomFilter(const FileHeader& header, detail::Storage storage, const Backend* backend);

  bool InsertOne(uint64_t hash) noexcept {
    if (storage_.read_only()) return false;
    kernels().insert_one(words(), num_blocks_, hash);
    ++inserted_;
    Changed();
    return true;
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

  // Returns the maximum of uint64_t if all counters of the key are saturated.
  uint64_t CopiesOfHash(uint64_t hash) const noexcept override;
  void InsertAbsent(const detail::Kernels& kernels, const detail::Batch& batch,
                    uint64_t* fresh) noexcept;

  uint64_t* words() const noexcept { return reinterpret_cast<uint64_t*>(storage_.data()); }
  uint64_t num_words() const noexcept { return bytes() / sizeof(uint64_t); }
  const detail::CountingKernels& kernels() const noexcept { return backend_->kernels->counting; }

  uint64_t num_blocks_;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_COUNTING_FILTER_H_
