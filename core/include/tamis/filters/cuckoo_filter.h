// The cuckoo filter: keys can be erased, and low false-positive rates take few bits.
//
// See docs/contracts.md for the rules of all filters.
//
// This table shows the load at which filters made for `capacity` keys refuse the first distinct key
// (`tamis_cuckoo_table fill`; 1000 trials each up to 10^5 keys, then 100, 20 and 2 trials). All
// `capacity` keys were accepted in every trial.
//
//   fingerprint           8 bits                  12 bits                   16 bits
//   capacity     bits/key  load at failure  bits/key  load at failure  bits/key  load at failure
//                          least    mean              least    mean              least    mean
//   10^3             8.64  95.7%   98.0%      13.57   97.4%   98.9%      17.28   95.4%   98.0%
//   10^4             8.31  97.1%   97.8%      13.12   98.3%   98.8%      16.61   97.2%   97.8%
//   10^5             8.23  97.4%   97.7%      13.02   98.5%   98.7%      16.47   97.4%   97.7%
//   10^6             8.29  97.0%   97.4%      13.18   97.9%   98.4%      16.68   96.8%   97.3%
//   10^7             8.30  97.0%   97.2%      13.18   98.0%   98.1%      16.69   96.8%   97.0%
//   10^8             8.30  97.0%   97.0%      13.18   97.9%   97.9%      16.69   96.8%   96.9%
#ifndef TAMIS_FILTERS_CUCKOO_FILTER_H_
#define TAMIS_FILTERS_CUCKOO_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "tamis/detail/build_from.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/layout/cuckoo.h"

namespace tamis {

// A table of fingerprints of 8, 12 or 16 bits in buckets of 4, 5 or 4 slots. A probe reads two
// buckets. A full table has a false-positive rate of 3.0%, 0.24% or 0.012% at 8.3, 13.2 or 16.7
// bits per key, from about 100,000 keys on. Smaller tables take a few percent more. For a lower
// rate the table is made larger, and stays emptier.
//
// The table has room for `capacity` distinct keys. A key that cannot be inserted changes nothing:
// Insert returns false, and all keys inserted before are still found. The same key can be inserted
// several times, up to twice the slots of a bucket (8, 10 or 8 copies). Each copy takes a slot and
// is erased separately. Erase only keys that were inserted: see ErasableFilter.
//
// A cuckoo filter cannot grow, because a fingerprint has too few bits of the hash for a larger
// table. ScalableFilter chains several cuckoo filters. Two cuckoo filters cannot be merged.
template <int kBits>
class CuckooFilter final : public ErasableFilter {
 public:
  static_assert(kBits == 8 || kBits == 12 || kBits == 16);
  static constexpr int kFingerprintBits = kBits;  // bits of a fingerprint
  // The kind of these filters.
  static constexpr FilterKind kKind = kBits == 8    ? FilterKind::kCuckoo8
                                      : kBits == 12 ? FilterKind::kCuckoo12
                                                    : FilterKind::kCuckoo16;

  // See FilterOptions for errors. Also throws Error(kInvalidArgument) if `capacity` keys or `fpr`
  // do not fit `bytes`.
  explicit CuckooFilter(const FilterOptions& options);

  // See SplitBlockBloomFilter::From. Throws Error(kInvalidArgument) if `keys` has more copies of a
  // key than fit the table.
  template <detail::KeyRange R>
  static CuckooFilter From(const R& keys, const FilterOptions& options = {}) {
    return detail::FilterFrom<CuckooFilter>(keys, options);
  }

  // See SplitBlockBloomFilter::Load. Also verifies that the number of fingerprints in the table is
  // inserted_count() of the header.
  static CuckooFilter Load(const std::filesystem::path& path, const LoadOptions& options = {});
  // See SplitBlockBloomFilter::Map.
  static CuckooFilter Map(const std::filesystem::path& path, const MapOptions& options = {});

  CuckooFilter(CuckooFilter&&) noexcept;
  CuckooFilter& operator=(CuckooFilter&&) noexcept;
  ~CuckooFilter() override;

  FilterKind kind() const noexcept override { return kKind; }
  // Returns the shape of the table.
  const cuckoo::Geometry& geometry() const noexcept { return geometry_; }
  // Returns the number of slots for fingerprints.
  uint64_t num_slots() const noexcept {
    return geometry_.buckets() * cuckoo::Bucket<kBits>::kSlots;
  }
  // Number of keys in the filter, copies included: inserted_count().
  uint64_t size() const noexcept { return inserted_count(); }
  // size() / num_slots().
  double load_factor() const noexcept {
    return static_cast<double>(size()) / static_cast<double>(num_slots());
  }
  // size(). Includes copies, because the contents do not distinguish them from other keys. O(1).
  double estimated_count() const noexcept override { return static_cast<double>(size()); }
  // CuckooFpr at size(). O(1).
  double expected_fpr() const noexcept override;
  FileHeader Header() const noexcept override;

  using ChangeableFilter::Insert;
  using ErasableFilter::Erase;
  using Filter::Contains;

  // Query one key.
  bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  bool Contains(std::string_view key) const noexcept { return ContainsHash(HashBytes(key, hash_)); }
  bool ContainsHash(uint64_t hash) const noexcept {
    const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry_);
    const Word* const buckets = chunk(place.chunk);
    const uint32_t alternate =
        cuckoo::AlternateBucket(place.bucket, place.fingerprint, geometry_.chunk_buckets);
    return cuckoo::PairContains<kBits>(buckets[place.bucket], buckets[alternate],
                                       place.fingerprint);
  }

  // Insert one key, and return whether it was inserted. Return false, with nothing changed, if it
  // does not fit or if the filter is read_only().
  bool Insert(uint64_t key) noexcept { return Note(KeyType::kInteger, InsertOne(hasher_(key))); }
  bool Insert(std::string_view key) noexcept {
    return Note(KeyType::kBytes, InsertOne(HashBytes(key, hash_)));
  }
  bool InsertHash(uint64_t hash) noexcept { return Note(KeyType::kUnknown, InsertOne(hash)); }

  // Erase one copy of one key. Return whether it was found. Return false if read_only().
  bool Erase(uint64_t key) noexcept { return EraseHash(hasher_(key)); }
  bool Erase(std::string_view key) noexcept { return EraseHash(HashBytes(key, hash_)); }
  bool EraseHash(uint64_t hash) noexcept;

  // See SplitBlockBloomFilter::Clone.
  CuckooFilter Clone(const MemoryOptions& memory = {}) const;

 private:
  friend struct detail::FilterAccess;  // makes filters from files
  template <typename F>
  friend class ScalableFilter;  // has layers of this class

  using Word = cuckoo::Word<kBits>;

  CuckooFilter(const FilterOptions& options, const cuckoo::Geometry& geometry);
  CuckooFilter(const FileHeader& header, detail::Storage storage, const Backend* backend);

  bool InsertOne(uint64_t hash) noexcept;

  void Probe(const detail::Kernels& kernels, const detail::Batch& batch,
             uint64_t* bits) const noexcept override;
  bool ProbeOne(uint64_t hash) const noexcept override;
  bool ChangeOne(Change change, uint64_t hash) noexcept override;
  size_t ChangeBatch(Change change, const detail::Kernels& kernels, const detail::Batch& batch,
                     uint64_t first, detail::Outcomes& outcomes) noexcept override;
  std::unique_ptr<detail::BulkWriter> MakeWriter(Change change, const detail::Kernels& kernels,
                                                 uint64_t n, unsigned threads) override;

  // Returns the same number for keys that the filter cannot distinguish. Never 0.
  uint64_t IdentityOfHash(uint64_t hash) const noexcept;
  uint64_t CopiesOfHash(uint64_t hash) const noexcept override;

  Word* chunk(uint64_t index) const noexcept {
    return reinterpret_cast<Word*>(storage_.data()) + index * geometry_.chunk_buckets;
  }

  cuckoo::Geometry geometry_;
};

extern template class CuckooFilter<8>;
extern template class CuckooFilter<12>;
extern template class CuckooFilter<16>;

}  // namespace tamis

#endif  // TAMIS_FILTERS_CUCKOO_FILTER_H_
