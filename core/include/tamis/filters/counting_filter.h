// The counting Bloom filter: keys can be erased, and inserted more than once.
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

// A key falls into one block of 64 bytes, and counts in one counter of 4 bits in each of its eight
// words: a probe touches one cache line. 45.7 bits per key at a false-positive rate of 1%, 77.6 at
// 0.1%. A key that was inserted n times is found until it has been erased n times.
//
// A counter that has reached 15 is saturated and stays so. Keys that share it may still be found
// after they were erased, but no key that is in is ever lost. saturated() says how many there are.
//
// Erase only keys that were inserted. Any other key is refused if the filter does not find it; if
// it does, by a false positive, erasing it takes counts of keys that are in, which may then be
// missed.
class CountingBloomFilter final : public ErasableFilter {
 public:
  static constexpr FilterKind kKind = FilterKind::kCounting;

  // Throws Error(kInvalidArgument) for options out of range, Error(kOutOfMemory) for more bytes
  // than the machine has, Error(kUnknownBackend) if TAMIS_BACKEND names none.
  explicit CountingBloomFilter(const FilterOptions& options);

  // See SplitBlockBloomFilter::From.
  template <detail::KeyRange R>
  static CountingBloomFilter From(const R& keys, const FilterOptions& options = {}) {
    return detail::FilterFrom<CountingBloomFilter>(keys, options);
  }

  // See SplitBlockBloomFilter::Load and Map.
  static CountingBloomFilter Load(const std::filesystem::path& path,
                                  const LoadOptions& options = {});
  static CountingBloomFilter Map(const std::filesystem::path& path, const MapOptions& options = {});

  CountingBloomFilter(CountingBloomFilter&&) noexcept;
  CountingBloomFilter& operator=(CountingBloomFilter&&) noexcept;
  ~CountingBloomFilter() override;

  FilterKind kind() const noexcept override { return kKind; }
  uint64_t num_blocks() const noexcept { return num_blocks_; }
  // Of distinct keys: goes by how many counters are not 0, whatever their counts.
  double estimated_count() const noexcept override;
  double expected_fpr() const noexcept override;
  // How many of the 128 num_blocks() counters are saturated. O(bytes()).
  uint64_t saturated() const noexcept;
  FileHeader Header() const noexcept override;

  using ChangeableFilter::Insert;
  using ErasableFilter::Erase;
  using Filter::Contains;

  // One key. Integers are keys by their value widened to 64 bits (see Keys).
  bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  bool Contains(std::string_view key) const noexcept { return ContainsHash(HashBytes(key, hash_)); }
  bool ContainsHash(uint64_t hash) const noexcept {
    return kernels().contains_one(words(), num_blocks_, hash);
  }

  // One key. Returns true, or false if the filter is read_only().
  bool Insert(uint64_t key) noexcept { return Note(KeyType::kInteger, InsertOne(hasher_(key))); }
  bool Insert(std::string_view key) noexcept {
    return Note(KeyType::kBytes, InsertOne(HashBytes(key, hash_)));
  }
  bool InsertHash(uint64_t hash) noexcept { return Note(KeyType::kUnknown, InsertOne(hash)); }

  // One key, once. Returns false, with nothing changed, if the filter does not find the key or is
  // read_only(). True for a key whose counters are all saturated, though these stay;
  // inserted_count() does not go below 0 then.
  bool Erase(uint64_t key) noexcept { return EraseHash(hasher_(key)); }
  bool Erase(std::string_view key) noexcept { return EraseHash(HashBytes(key, hash_)); }
  bool EraseHash(uint64_t hash) noexcept {
    if (storage_.read_only() || !kernels().erase_one(words(), num_blocks_, hash)) return false;
    inserted_ -= inserted_ > 0;  // of saturated counters more can be erased than was inserted
    Changed();
    return true;
  }

  // Becomes the filter of both multisets together: counts are added, up to 15, where they saturate.
  // Throws Error(kIncompatible) unless CanMerge(*this, other), Error(kReadOnly).
  void Merge(const CountingBloomFilter& other);

  // A filter of half the size, without counts, that gives the same answer for every key. It sets
  // two bits for each counter, so its estimated_count() is twice that of this filter, and its
  // expected_fpr() is too low (0.7 times the true rate at 1%), as it takes bits to be independent.
  // Those of this filter hold for both.
  SplitBlockBloomFilter Freeze(const MemoryOptions& memory = {}) const;

  // A copy in memory of its own, never read-only. If this filter was mapped without being verified,
  // reads its file twice, and throws FormatError if that is damaged.
  CountingBloomFilter Clone(const MemoryOptions& memory = {}) const;

 private:
  friend struct detail::FilterAccess;  // for filters out of files

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

  // A saturated counter stands for any number.
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
