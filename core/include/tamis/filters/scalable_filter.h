// A filter for a number of keys that nobody knows beforehand.
#ifndef TAMIS_FILTERS_SCALABLE_FILTER_H_
#define TAMIS_FILTERS_SCALABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/erasable_filter.h"
#include "tamis/filters/filter.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis {

namespace scalable {

inline constexpr double kMinGrowth = 1;
inline constexpr double kMaxGrowth = 1024;
inline constexpr double kMinTightening = 0.01;
inline constexpr double kMaxTightening = 0.99;
inline constexpr uint64_t kMaxLayers = 4096;  // a lookup may have to probe them all

}  // namespace scalable

struct ScalableOptions {
  uint64_t initial_capacity = uint64_t{1} << 16;  // keys of the first layer, at least 1
  double fpr = 0.01;                              // of the whole; (1 - tightening) fpr >= kMinFpr
  double growth = 2;  // the capacity of a layer, as a multiple of the one before, in [1, 1024]
  // A layer may use up 1 - tightening of the error that those before it have left; in [0.01, 0.99].
  double tightening = 0.85;
  uint64_t max_bytes = 0;  // of all layers together; 0: no limit
  HashSpec hash = {};
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

namespace detail {

struct LayeredFile;  // private to the library

// What is known of keys inserted into layers that hold copies. It is in files, so that a loaded
// filter goes on as it would have.
struct ScalableCopies {
  uint64_t examined = 0;  // keys for which it was found out whether they are copies
  uint64_t seen = 0;      // of these, those that are
  uint64_t held = 0;      // of these, those that were inserted
  bool many = false;      // since the last layer was begun: all keys are examined
};

// What a scalable filter is: with layers that can erase, an ErasableFilter.
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

  // One key. Returns false, with nothing changed, if no layer has it, or if several may.
  bool Erase(uint64_t key) noexcept { return EraseHash(hasher_(key)); }
  bool Erase(std::string_view key) noexcept { return EraseHash(HashBytes(key, hash_)); }
  bool EraseHash(uint64_t hash) noexcept { return EraseFromLayers(hash); }

 protected:
  using ErasableFilter::ErasableFilter;
  virtual bool EraseFromLayers(uint64_t hash) noexcept = 0;
};

}  // namespace detail

// A chain of filters of one kind (Almeida, Baquero, Preguica and Hutchison, "Scalable Bloom
// Filters", 2007): when the newest layer is full a larger one is begun. A key is in one layer, so
// it may be in if ANY layer says maybe, and is not in only if all say no.
//
// The bound p on the error is shared out by the tightening r: each layer may use up 1 - r of what
// the layers before it have left. For Bloom filters, which use up all they may, that is p (1 - r),
// p (1 - r) r, p (1 - r) r^2 ... The sum, and with it the rate of the whole, stays below p for any
// number of layers. Cuckoo filters often use up less, and leave the rest to later layers.
//
// That has its price in memory. A million keys in layers that begin with a thousand need so many
// times the memory of one filter of the right size (`tamis_scalable_table`):
//
//   bound           5%     1%     0.1%
//   split-block     2.07   1.95   1.89
//   classic         2.11   1.73   1.50
//   cuckoo16        1.02   1.02   2.81
//   cuckoo12        1.02   6.1    26
//
// and up to twice that just after a new layer, still empty, is begun. Cuckoo layers can be full
// tables as long as the bound is a dozen times the rate of one; for lower bounds they have to stay
// far from full. With a tightening of 0.5 split-block takes 3.5 and classic 2.4 times the memory at
// 1% (bench/NOTES.md). Where the number of keys is known, a filter of that size is smaller and
// faster. Compact makes one.
//
// Where a whole layer would exceed max_bytes, a smaller last one is made, if that is worth it.
//
// Keys go into the oldest layer that is not full: the newest one, unless keys were erased.
//
// Copies of a key: memory follows the number of different keys, however often they come. A Bloom
// layer that is smaller than all before it together, as with a growth below 2, does not take keys
// that these have, which costs a lookup for each insertion. Where Bloom layers fill up more slowly
// than keys come, inserted_count() is an estimate of the keys that were new. Cuckoo layers hold
// copies: at most 8 of a key in each layer, or 4 once many keys are copies; copies are then at most
// half of all keys inserted. Insert returns false for a copy that is not held, and seldom for a new
// key that cannot be told from one: that is found until the key that it was taken for is erased.
//
// All bulk forms of Filter, and Engine, work; changes are made by one thread. Scalable filters
// cannot be merged; what Compact returns can. payload() is empty: each layer has its own.
//
// F is SplitBlockBloomFilter, BloomFilter or CuckooFilter<8, 12 or 16>. If layers can erase, so can
// the whole. A key that several layers may have is not erased: one that does not have it would lose
// what stands for another key.
template <typename F>
class ScalableFilter final : public detail::ScalableBase<std::is_base_of_v<ErasableFilter, F>> {
 public:
  static constexpr bool kErases = std::is_base_of_v<ErasableFilter, F>;

  // Makes the first layer. Throws Error(kInvalidArgument) for options out of range or if the first
  // layer is larger than max_bytes, Error(kOutOfMemory), Error(kUnknownBackend).
  explicit ScalableFilter(const ScalableOptions& options);

  // See SplitBlockBloomFilter::Load and Map. A filter that was loaded goes on growing as it would
  // have; one that is mapped is read-only.
  static ScalableFilter Load(const std::filesystem::path& path, const LoadOptions& options = {});
  static ScalableFilter Map(const std::filesystem::path& path, const MapOptions& options = {});

  ScalableFilter(ScalableFilter&&) noexcept;
  ScalableFilter& operator=(ScalableFilter&&) noexcept;
  ~ScalableFilter() override;

  FilterKind kind() const noexcept override { return FilterKind::kScalable; }
  const ScalableOptions& options() const noexcept { return options_; }
  // Oldest first; at least one.
  const std::vector<F>& layers() const noexcept { return layers_; }
  uint64_t bytes() const noexcept override;
  // The sum of the layers' counts.
  double estimated_count() const noexcept override;
  // 1 - (1 - p1) (1 - p2) ... for the expected rates of the layers.
  double expected_fpr() const noexcept override;
  FileHeader Header() const noexcept override;
  void set_backend(const Backend& backend) noexcept override;

  using ChangeableFilter::Insert;
  using Filter::Contains;

  // One key. Integers are keys by their value widened to 64 bits (see Keys).
  bool Contains(uint64_t key) const noexcept { return ContainsHash(this->hasher_(key)); }
  bool Contains(std::string_view key) const noexcept {
    return ContainsHash(HashBytes(key, this->hash_));
  }
  bool ContainsHash(uint64_t hash) const noexcept;

  // One key. Returns false, with nothing changed, if the filter is read_only(); if the key is a
  // copy that is not held (see above): Contains(key) is true; or if there is no room for the key
  // and another layer would exceed max_bytes, memory, scalable::kMaxLayers or the smallest rate
  // that a layer can have.
  bool Insert(uint64_t key) noexcept {
    return this->Note(KeyType::kInteger, InsertOne(this->hasher_(key)));
  }
  bool Insert(std::string_view key) noexcept {
    return this->Note(KeyType::kBytes, InsertOne(HashBytes(key, this->hash_)));
  }
  bool InsertHash(uint64_t hash) noexcept { return this->Note(KeyType::kUnknown, InsertOne(hash)); }

  // Back to one empty layer, the first. Throws Error(kReadOnly) if the filter is read_only().
  void Clear() override;

  // A copy in memory of its own, never read-only, that goes on growing in the same way. If this
  // filter was mapped without being verified, reads its file, and throws FormatError if that is
  // damaged.
  ScalableFilter Clone(const MemoryOptions& memory = {}) const;

  // One filter of these keys, sized for their number at the rate of the whole, with the same hash.
  // `keys` are those that were inserted, which only the caller has. Throws Error(kInvalidArgument)
  // if there are none or one of them is not in this filter, and as the constructor of F.
  F Compact(Keys keys) const;

 private:
  friend struct detail::FilterAccess;  // for filters out of files

  ScalableFilter(detail::LayeredFile file, const MemoryOptions& memory, const Backend* backend);

  void Write(const SaveOptions& options, const detail::PartsWriter& writer) const override;
  uint64_t FileBytes(const SaveOptions& options) const override;

  void Probe(const detail::Kernels& kernels, const detail::Batch& batch,
             uint64_t* bits) const noexcept override;
  bool ProbeOne(uint64_t hash) const noexcept override;
  bool ChangeOne(Change change, uint64_t hash) noexcept override;
  size_t ChangeBatch(Change change, const detail::Kernels& kernels, const detail::Batch& batch,
                     uint64_t first, detail::Outcomes& outcomes) noexcept override;

  // Of the first so many layers.
  void ProbeLayers(size_t layers, const detail::Kernels& kernels, const detail::Batch& batch,
                   uint64_t* bits) const noexcept;

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
  // Lets current_ be a layer that is not full. Returns false, with current_ past the last one, if
  // there is none.
  bool FindRoom() noexcept;
  // Templates, as only filters with layers that hold copies have them: others could not compile
  // them.
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
  // Counts a layer's capacity, and the error it takes when full, as used.
  void Account(const F& layer) noexcept;

  ScalableOptions options_;
  std::vector<F> layers_;
  size_t current_ = 0;  // layers before it are full
  detail::ScalableCopies copies_;
  double error_left_ = 0;  // of options_.fpr, for layers to come
  // The number of layers at which a limit refused another one. 0: no refusal yet. While the number
  // of layers is the same, the limit refuses again, because it depends only on options and layers.
  size_t refused_at_ = 0;
};

extern template class ScalableFilter<SplitBlockBloomFilter>;
extern template class ScalableFilter<BloomFilter>;
extern template class ScalableFilter<CuckooFilter<8>>;
extern template class ScalableFilter<CuckooFilter<12>>;
extern template class ScalableFilter<CuckooFilter<16>>;

}  // namespace tamis

#endif  // TAMIS_FILTERS_SCALABLE_FILTER_H_
