// The binary fuse filter: the smallest filter for a set that never changes.
//
// See docs/contracts.md for the rules of all filters.
#ifndef TAMIS_FILTERS_FUSE_FILTER_H_
#define TAMIS_FILTERS_FUSE_FILTER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "tamis/detail/build_from.h"
#include "tamis/detail/filter_base.h"
#include "tamis/layout/fuse.h"

namespace tamis {

namespace detail {
class Workers;
}  // namespace detail

// A table of slots of 8, 12, 16 or 32 bits. The fingerprint of a key is the xor of three slots
// (Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022). A query reads
// three slots.
//
//   fingerprint bits                      8          12           16         32
//   false-positive rate below          0.4%      0.025%      0.0016%    2.4e-10   (2^-bits)
//   bits per key from 10^5 keys on   9.2-9.5  13.8-14.3  18.4-19.0  36.8-38.0
//   bits per key of 1000 keys          11.3        17.0         22.6       45.1
//
// The rate is 2^-bits + n / 2^64 for n keys. The second term is the probability that an absent key
// has the hash of one of the n keys. This term matters only for 32 bits.
//
// A filter is built from all its keys at once and takes no keys later. Two filters cannot be
// merged. The bytes of a filter depend only on the set of its keys. The bytes do not depend on the
// order of keys, on copies of keys, on the number of threads, or on the machine.
//
// Construction needs memory in addition to the filter: 8 bytes per key, or up to 16 if few keys
// have most of the copies, and about 10 MB per thread. An attacker who can compute the hash can
// choose a few dozen keys that make construction fail with Error(kInvalidArgument). A keyed hash
// prevents this.
template <int kBits>
class FuseFilter final : public detail::FilterBase {
 public:
  static_assert(kBits == 8 || kBits == 12 || kBits == 16 || kBits == 32);
  static constexpr int kFingerprintBits = kBits;  // bits of a fingerprint
  // The kind of these filters.
  static constexpr FilterKind kKind = kBits == 8    ? FilterKind::kFuse8
                                      : kBits == 12 ? FilterKind::kFuse12
                                      : kBits == 16 ? FilterKind::kFuse16
                                                    : FilterKind::kFuse32;

  // Builds a filter from a range of integers or strings that can be read twice. tamis::Build takes
  // keys of any layout, from any source, and uses the threads of an Engine. `options.capacity` and
  // `options.bytes` must be 0. `options.fpr` is 0, or between the rate of the filter and kMaxFpr.
  // Throws Error(kInvalidArgument) for other options, for keys from which no filter can be built,
  // and for ready hashes that are not uniform. Throws Error(kOutOfMemory) or std::bad_alloc, and
  // Error(kUnknownBackend): see FilterOptions.
  template <detail::KeyRange R>
  static FuseFilter From(const R& keys, const FilterOptions& options = {}) {
    return BuildBy(
        nullptr,
        [&keys](const std::function<void(Keys)>& visit) { detail::ForKeysOf(keys, visit); },
        options);
  }

  // Builds a filter for tamis::Build. If `workers` is nullptr, the calling thread works alone.
  static FuseFilter BuildBy(detail::Workers* workers, const detail::RepeatableSource& source,
                            const FilterOptions& options);

  // See SplitBlockBloomFilter::Load and Map.
  static FuseFilter Load(const std::filesystem::path& path, const LoadOptions& options = {});
  // Maps a file like SplitBlockBloomFilter::Map.
  static FuseFilter Map(const std::filesystem::path& path, const MapOptions& options = {});

  FuseFilter(FuseFilter&&) noexcept;
  FuseFilter& operator=(FuseFilter&&) noexcept;
  ~FuseFilter() override;

  FilterKind kind() const noexcept override { return kKind; }
  // Returns the shape of the filter.
  const fuse::Geometry& geometry() const noexcept { return geometry_; }
  // inserted_count(), which in this class is the number of distinct keys. O(1).
  double estimated_count() const noexcept override;
  // The rate in the table above. 0 for a filter without keys. O(1).
  double expected_fpr() const noexcept override;
  FileHeader Header() const noexcept override;

  using Filter::Contains;

  // Query one key.
  TAMIS_INLINE bool Contains(uint64_t key) const noexcept { return ContainsHash(hasher_(key)); }
  TAMIS_INLINE bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, hash_));
  }
  TAMIS_INLINE bool ContainsHash(uint64_t hash) const noexcept {
    return fuse::Contains<kBits>(table_, hash);
  }

  // See SplitBlockBloomFilter::Clone.
  FuseFilter Clone(const MemoryOptions& memory = {}) const;

 private:
  friend struct detail::FilterAccess;  // makes filters from files

  FuseFilter(const FileHeader& header, detail::Storage storage, const Backend* backend);

  void Probe(const detail::Kernels& kernels, const detail::Batch& batch,
             uint64_t* bits) const noexcept override;
  bool ProbeOne(uint64_t hash) const noexcept override;

  fuse::Geometry geometry_;
  fuse::Table table_;  // the table in storage_
};

extern template class FuseFilter<8>;
extern template class FuseFilter<12>;
extern template class FuseFilter<16>;
extern template class FuseFilter<32>;

}  // namespace tamis

#endif  // TAMIS_FILTERS_FUSE_FILTER_H_
