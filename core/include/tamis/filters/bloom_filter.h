// The classic Bloom filter: fewest bits of all Bloom filters, most cache misses.
//
// See docs/contracts.md for the rules of all filters.
#ifndef TAMIS_FILTERS_BLOOM_FILTER_H_
#define TAMIS_FILTERS_BLOOM_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "tamis/detail/build_from.h"
#include "tamis/filters/changeable_filter.h"
#include "tamis/layout/bloom.h"

namespace tamis {

// A flat array of m bits, of which each key sets k anywhere in the array. The filter takes 9.6 bits
// per key at a false-positive rate of 1%, 14.4 at 0.1%, and 19.2 at 0.01%. A query of a full filter
// takes k cache misses if the key is in the filter, and two on average if it is not.
//
// m is a multiple of 64, from 64 to 2^53.
class BloomFilter final : public ChangeableFilter {
 public:
  static constexpr FilterKind kKind = FilterKind::kBloom;  // the kind of these filters

  // If `capacity` n and `fpr` are given, m is BloomBits(n, fpr) and k is BloomHashes(m, n). If
  // `bytes` is given, m is the number of bits in the whole words that fit in `bytes`, and k is
  // BloomHashes for the capacity. See FilterOptions for errors.
  explicit BloomFilter(const FilterOptions& options);

  // See SplitBlockBloomFilter::From.
  template <detail::KeyRange R>
  static BloomFilter From(const R& keys, const FilterOptions& options = {}) {
    return detail::FilterFrom<BloomFilter>(keys, options);
  }

  // See SplitBlockBloomFilter::Load and Map.
  static BloomFilter Load(const std::filesystem::path& path, const LoadOptions& options = {});
  // Maps a file like SplitBlockBloomFilter::Map.
  static BloomFilter Map(const std::filesystem::path& path, const MapOptions& options = {});

  BloomFilter(BloomFilter&&) noexcept;
  BloomFilter& operator=(BloomFilter&&) noexcept;
  ~BloomFilter() override;

  FilterKind kind() const noexcept override { return kKind; }
  uint64_t num_bits() const noexcept { return num_bits_; }      // m
  uint32_t num_hashes() const noexcept { return num_hashes_; }  // k, in [1, 64]
  // BloomFpr(capacity(), m, k): the false-positive rate of a full filter.
  double theoretical_fpr() const noexcept;
  // -(m/k) ln(1 - B/m) for B bits set.
  double estimated_count() const noexcept override;
  // BloomFpr(estimated_count(), m, k).
  double expected_fpr() const noexcept override;
  FileHeader Header() const noexcept override;

  using ChangeableFilter::Insert;
  using Filter::Contains;

  // Query one key.
  TAMIS_INLINE bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  TAMIS_INLINE bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, hash_));
  }
  TAMIS_INLINE bool ContainsHash(uint64_t hash) const noexcept {
    return bloom::Contains(words(), num_bits_, num_hashes_, hash);
  }

  // Insert one key, and return true. If the filter is read_only(), return false.
  TAMIS_INLINE bool Insert(uint64_t key) noexcept {
    return Note(KeyType::kInteger, InsertOne(hasher_(key)));
  }
  TAMIS_INLINE bool Insert(std::string_view key) noexcept {
    return Note(KeyType::kBytes, InsertOne(HashBytes(key, hash_)));
  }
  TAMIS_INLINE bool InsertHash(uint64_t hash) noexcept {
    return Note(KeyType::kUnknown, InsertOne(hash));
  }

  // Becomes the union: see SplitBlockBloomFilter::Merge.
  void Merge(const BloomFilter& other);
  // Becomes the intersection: see SplitBlockBloomFilter::Intersect.
  void Intersect(const BloomFilter& other);

  // See SplitBlockBloomFilter::estimated_union_count and estimated_intersection_count.
  double estimated_union_count(const BloomFilter& other) const;
  double estimated_intersection_count(const BloomFilter& other) const;

  // Returns a copy in memory of its own, which is never read-only.
  BloomFilter Clone(const MemoryOptions& memory = {}) const;

 private:
  friend struct detail::FilterAccess;  // makes filters from files
  template <typename F>
  friend class ScalableFilter;  // makes its layers from files

  struct Geometry {
    uint64_t num_bits;
    uint32_t num_hashes;
    uint64_t capacity;
  };
  static Geometry GeometryFor(const FilterOptions& options);

  BloomFilter(const FilterOptions& options, const Geometry& geometry);
  BloomFilter(const FileHeader& header, detail::Storage storage, const Backend* backend);

  TAMIS_INLINE bool InsertOne(uint64_t hash) noexcept {
    if (storage_.read_only()) return false;
    bloom::Insert(words(), num_bits_, num_hashes_, hash);
    ++inserted_;  // also counts as a change
    return true;
  }

  void Probe(const detail::Kernels& kernels, const detail::Batch& batch,
             uint64_t* bits) const noexcept override;
  bool ProbeOne(uint64_t hash) const noexcept override;
  bool ChangeOne(Change change, uint64_t hash) noexcept override;
  size_t ChangeBatch(Change change, const detail::Kernels& kernels, const detail::Batch& batch,
                     uint64_t first, detail::Outcomes& outcomes) noexcept override;
  std::unique_ptr<detail::BulkWriter> MakeWriter(Change change, const detail::Kernels& kernels,
                                                 uint64_t n, unsigned threads) override;
  std::unique_ptr<detail::BulkWriter> MakeUnionWriter(const detail::Kernels& kernels,
                                                      unsigned threads) override;

  uint64_t* words() const noexcept { return reinterpret_cast<uint64_t*>(storage_.data()); }

  uint64_t num_bits_;
  uint32_t num_hashes_;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_BLOOM_FILTER_H_
