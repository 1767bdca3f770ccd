// A filter for a number of keys that is not known in advance.
//
// See docs/contracts.md for the rules of all filters.
#ifndef TAMIS_FILTERS_SCALABLE_FILTER_H_
#define TAMIS_FILTERS_SCALABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tamis/detail/compiler.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/filters/filter.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis {

namespace scalable {

// The bounds of ScalableOptions::growth and ScalableOptions::tightening.
inline constexpr double kMinGrowth = 1;
inline constexpr double kMaxGrowth = 1024;
inline constexpr double kMinTightening = 0.01;
inline constexpr double kMaxTightening = 0.99;
inline constexpr uint64_t kMaxLayers = 4096;  // a query may have to probe them all

}  // namespace scalable

// Options of a ScalableFilter.
struct ScalableOptions {
  uint64_t initial_capacity = uint64_t{1} << 16;  // keys of the first layer, at least 1
  double fpr = 0.01;  // rate of all layers together, in [kMinFpr / (1 - tightening), kMaxFpr]
  double growth = 2;  // capacity of a layer, as a multiple of the layer before, in [1, 1024]
  // Each layer may use the share 1 - tightening of the error that the layers before it have left.
  // In [0.01, 0.99].
  double tightening = 0.85;
  uint64_t max_bytes = 0;            // limit for all layers together; 0: no limit
  HashSpec hash = {};                // the hash of all layers
  MemoryOptions memory = {};         // memory of each layer
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

namespace detail {

struct LayeredFile;  // private to the library

// Counts of copies of keys, for a filter whose layers hold copies. Files contain the counts, so
// that a loaded filter continues in the same way.
struct ScalableCopies {
  uint64_t examined = 0;  // keys that were checked for being copies
  uint64_t seen = 0;      // examined keys that are copies
  uint64_t held = 0;      // copies that were inserted
  bool many = false;      // all keys are examined until the next layer begins
};

// The base class of a scalable filter. An ErasableFilter if its layers can erase.
template <bool kErases>
class ScalableBase : public ChangeableFilter {
 protected:
  using ChangeableFilter::ChangeableFilter;
  virtual bool EraseFromLayers(uint64_t hash) noexcept = 0;
  virtual uint64_t CopiesOfHash(uint64_t hash) const noexcept = 0;
};

template <>
class ScalableBase<true> : public ErasableFilter {
 public:
  using ErasableFilter::Erase;

  // Erase one key. If no layer has the key, or several layers may have it, return false and change
  // nothing.
  bool Erase(uint64_t key) noexcept { return EraseHash(hasher_(key)); }
  bool Erase(std::string_view key) noexcept { return EraseHash(HashBytes(key, hash_)); }
  bool EraseHash(uint64_t hash) noexcept { return EraseFromLayers(hash); }

 protected:
  using ErasableFilter::ErasableFilter;
  virtual bool EraseFromLayers(uint64_t hash) noexcept = 0;
};

}  // namespace detail

// A chain of filters of one kind, called layers (Almeida, Baquero, Preguica and Hutchison,
// "Scalable Bloom Filters", 2007). When the newest layer is full, a larger one begins. A key is in
// one layer, so Contains returns true if ANY layer may have the key.
//
// The tightening r divides the error bound p = options.fpr among the layers. Each layer may use the
// share 1 - r of the error that the layers before it have left. Bloom layers use their whole share,
// so they have the errors p (1 - r), p (1 - r) r, p (1 - r) r^2 ... The sum stays below p for any
// number of layers, so the rate of the scalable filter also stays below p. Cuckoo layers often use
// less than their share, and leave the rest to later layers.
//
// Layers take more memory than one filter of the right size. The table shows the factor for a
// million keys in layers that begin with a thousand keys (`tamis_scalable_table`). The factor is up
// to twice as high just after a new layer begins:
//
//   bound           5%     1%     0.1%
//   split-block     2.07   1.95   1.89
//   classic         2.11   1.73   1.50
//   cuckoo16        1.02   1.02   2.81
//   cuckoo12        1.02   6.1    26
//
// Cuckoo layers can be full tables if the bound is at least a dozen times the rate of a full table.
// For lower bounds, cuckoo layers have to stay far from full. With a tightening of 0.5, split-block
// takes 3.5 and classic 2.4 times the memory at 1% (bench/NOTES.md). If the number of keys is
// known, a filter of that size is smaller and faster. Compact makes such a filter.
//
// If the next layer would exceed max_bytes, a smaller last layer is made. If even that layer would
// have room for too few keys to be worth its probes, no layer is made.
//
// Keys go into the oldest layer that is not full. This is the newest layer if no keys were erased.
//
// Copies of a key: memory depends on the number of different keys, not on how often they come.
//
// With a growth below 2, a Bloom layer can be smaller than all layers before it together. Such a
// layer does not take keys that older layers have, so each insertion includes a query. If many
// inserted keys are copies, inserted_count() of Bloom layers is an estimate of the number of
// different keys.
//
// Cuckoo layers hold copies of a key. A layer holds at most 8 copies of a key (10 with 12-bit
// fingerprints), or 4 after many keys were copies. From then on, copies are at most half of all
// keys inserted. Insert returns false for a copy that is not held, and rarely for a new key that
// cannot be distinguished from a key that is in. Contains returns true for such a new key until the
// other key is erased.
//
// An Engine runs queries on several threads, but changes on one. Scalable filters cannot be merged.
// Filters that Compact returns can be merged if their kind can.
//
// F is SplitBlockBloomFilter, BloomFilter or CuckooFilter<8, 12 or 16>. With cuckoo layers, keys
// can be erased. A key that several layers may have is not erased, because Erase could remove the
// entry of another key from a layer that does not have the key.
template <typename F>
class ScalableFilter final : public detail::ScalableBase<std::is_base_of_v<ErasableFilter, F>> {
 public:
  // Whether keys can be erased.
  static constexpr bool kErases = std::is_base_of_v<ErasableFilter, F>;

  // Makes the first layer. Throws Error(kInvalidArgument) if the first layer is larger than
  // max_bytes. See FilterOptions for other errors.
  explicit ScalableFilter(const ScalableOptions& options);

  // See SplitBlockBloomFilter::Load and Map. A loaded filter continues to grow by the same rules. A
  // mapped filter is read-only.
  static ScalableFilter Load(const std::filesystem::path& path, const LoadOptions& options = {});
  // Maps a file like SplitBlockBloomFilter::Map.
  static ScalableFilter Map(const std::filesystem::path& path, const MapOptions& options = {});

  ScalableFilter(ScalableFilter&&) noexcept;
  ScalableFilter& operator=(ScalableFilter&&) noexcept;
  ~ScalableFilter() override;

  FilterKind kind() const noexcept override { return FilterKind::kScalable; }
  // Returns the options.
  const ScalableOptions& options() const noexcept { return options_; }
  // The layers, oldest first. At least one, except after a move.
  const std::vector<F>& layers() const noexcept { return layers_; }
  uint64_t bytes() const noexcept override;
  // The sum of the estimates of the layers.
  double estimated_count() const noexcept override;
  // 1 - (1 - p1) (1 - p2) ... for the expected rates p1, p2, ... of the layers.
  double expected_fpr() const noexcept override;
  FileHeader Header() const noexcept override;
  void set_backend(const Backend& backend) noexcept override;

  using ChangeableFilter::Insert;
  using Filter::Contains;

  // Query one key.
  bool Contains(uint64_t key) const noexcept { return ContainsHash(this->hasher_(key)); }
  bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, this->hash_));
  }
  bool ContainsHash(uint64_t hash) const noexcept;

  // Insert one key. Return false, with nothing changed, if
  // - the filter is read_only(),
  // - the key is a copy that is not held (see above), so Contains(key) is true, or
  // - the key does not fit, and another layer would exceed max_bytes, the memory,
  //   scalable::kMaxLayers, or the smallest rate that a layer can have.
  bool Insert(uint64_t key) noexcept {
    return this->Note(KeyType::kInteger, InsertOne(this->hasher_(key)));
  }
  bool Insert(std::string_view key) noexcept {
    return this->Note(KeyType::kBytes, InsertOne(HashBytes(key, this->hash_)));
  }
  bool InsertHash(uint64_t hash) noexcept { return this->Note(KeyType::kUnknown, InsertOne(hash)); }

  // Removes all keys and all layers but the first. Throws Error(kReadOnly) if read_only().
  void Clear() override;

  // Returns a copy in memory of its own, which is never read-only and continues to grow by the same
  // rules. Throws the errors of SplitBlockBloomFilter::Clone.
  ScalableFilter Clone(const MemoryOptions& memory = {}) const;

  // Builds one filter from `keys`, sized for their number, with the fpr and the hash of the
  // options. Pass the keys that were inserted, because a filter cannot list its keys. Throws
  // Error(kInvalidArgument) if `keys` is empty or all null, if a key is not in this filter, or if a
  // cuckoo filter has too many copies of a key. Also throws the errors of the constructor of F.
  F Compact(Keys keys) const;

 private:
  friend struct detail::FilterAccess;  // makes filters from files

  ScalableFilter(detail::LayeredFile file, const MemoryOptions& memory, const Backend* backend);

  void Write(const SaveOptions& options, const detail::PartsWriter& writer) const override;
  uint64_t FileBytes(const SaveOptions& options) const override;

  void Probe(const detail::Kernels& kernels, const detail::Batch& batch,
             uint64_t* bits) const noexcept override;
  bool ProbeOne(uint64_t hash) const noexcept override;
  bool ChangeOne(Change change, uint64_t hash) noexcept override;
  size_t ChangeBatch(Change change, const detail::Kernels& kernels, const detail::Batch& batch,
                     uint64_t first, detail::Outcomes& outcomes) noexcept override;

  // Probes the oldest `layers` layers. Not inlined, because its arrays would then take 20 KiB of a
  // small stack also while keys are inserted.
  TAMIS_NOINLINE void ProbeLayers(size_t layers, const detail::Kernels& kernels,
                                  const detail::Batch& batch, uint64_t* bits) const noexcept;

  bool EraseFromLayers(uint64_t hash) noexcept override;
  uint64_t CopiesOfHash(uint64_t hash) const noexcept override;  // of all layers
  bool InsertOne(uint64_t hash) noexcept;
  bool AsksOlder() const noexcept;
  size_t CountThoseThatAreIn(const detail::Kernels& kernels, const uint64_t* hashes,
                             size_t n) const noexcept;
  void InsertIfNew(const detail::Kernels& kernels, const uint64_t* hashes, size_t n) noexcept;
  size_t InsertHashes(const detail::Kernels& kernels, const uint64_t* hashes, size_t n,
                      uint64_t first, detail::Outcomes& outcomes) noexcept;
  size_t InsertAbsent(const detail::Kernels& kernels, const uint64_t* hashes, size_t n,
                      uint64_t first, detail::Outcomes& outcomes) noexcept;
  void AddLayer();
  bool TryAddLayer() noexcept;
  // Sets current_ to a layer that is not full. If all layers are full, sets current_ past the last
  // layer and returns false.
  bool FindRoom() noexcept;
  // Templates, because they compile only for layers that hold copies.
  template <int = 0>
  size_t InsertSome(const detail::Kernels& kernels, const uint64_t* hashes, size_t n,
                    uint64_t first, detail::Outcomes& outcomes) noexcept;
  template <int = 0>
  bool InsertNew(const detail::Kernels& kernels, const uint64_t* hashes, size_t n, uint64_t first,
                 detail::Outcomes& outcomes, size_t* done) noexcept;
  template <int = 0>
  void FindCopies(const detail::Kernels& kernels, const uint64_t* hashes, size_t n, bool has_room,
                  uint64_t* bits) const noexcept;
  template <int = 0>
  bool TakesCopy(const F& layer, uint64_t hash) const noexcept;
  uint64_t SumOfInserted() const noexcept;
  bool InsertAfter(size_t layer, uint64_t hash) noexcept;
  // Adds the layer's capacity, and subtracts the error of the full layer from error_left_.
  void Account(const F& layer) noexcept;

  ScalableOptions options_;
  std::vector<F> layers_;
  size_t current_ = 0;  // layers before it are full
  detail::ScalableCopies copies_;
  double error_left_ = 0;  // part of options_.fpr that is left for later layers
  // The number of layers when a limit refused another layer. 0: no layer was refused. While the
  // number is the same, the limit would refuse again, because it depends only on options and
  // layers.
  size_t refused_at_ = 0;
};

extern template class ScalableFilter<SplitBlockBloomFilter>;
extern template class ScalableFilter<BloomFilter>;
extern template class ScalableFilter<CuckooFilter<8>>;
extern template class ScalableFilter<CuckooFilter<12>>;
extern template class ScalableFilter<CuckooFilter<16>>;

}  // namespace tamis

#endif  // TAMIS_FILTERS_SCALABLE_FILTER_H_
