// A filter for a number of keys that nobody knows beforehand.
#ifndef TAMIS_SCALABLE_FILTER_H_
#define TAMIS_SCALABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tamis/any_filter.h"
#include "tamis/bloom_filter.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/erasable_filter.h"
#include "tamis/filter.h"
#include "tamis/split_block_filter.h"

namespace tamis {

namespace scalable {

inline constexpr double kMinGrowth = 1;
inline constexpr double kMaxGrowth = 1024;
inline constexpr double kMinTightening = 0.01;
inline constexpr double kMaxTightening = 0.99;
inline constexpr uint64_t kMaxLayers = 4096;  // past which nobody would want to probe them all

}  // namespace scalable

struct ScalableOptions {
  uint64_t initial_capacity = uint64_t{1} << 16;  // keys of the first layer, at least 1
  double fpr = 0.01;                              // of the whole; (1 - tightening) fpr >= kMinFpr
  double growth = 2;         // each layer has so many times the capacity of the last, in [1, 1024]
  double tightening = 0.85;  // the share of the error left that a layer leaves, in [0.01, 0.99]
  uint64_t max_bytes = 0;    // of all layers together; 0: no limit
  HashSpec hash = {};
  MemoryOptions memory = {};
  const Backend* backend = nullptr;  // nullptr: DefaultBackend()
};

namespace detail {

struct LayeredFile;  // private to the library

// Of keys inserted into layers that hold copies: in files, so that a filter that is loaded goes on
// as it would have.
struct ScalableCopies {
  uint64_t examined = 0;  // keys that were asked whether they are copies
  uint64_t seen = 0;      // of these, those that are
  uint64_t held = 0;      // of these, those that were inserted
  bool many = false;      // since the last layer was begun: all keys are examined
};

// What a scalable filter is: with layers that can erase, an ErasableFilter.
template <bool kErases>
class ScalableBase : public FilterBase {
 protected:
  using FilterBase::FilterBase;
  virtual bool EraseFromLayers(uint64_t hash) noexcept = 0;
};

template <>
class ScalableBase<true> : public ErasableFilter {
 public:
  using ErasableFilter::Erase;

  // One key. Returns false, with nothing changed, if no layer has it, or more than one may.
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
// Each layer may take 1 - r, for the tightening r, of what the layers before it leave of the bound
// p: p (1 - r), p (1 - r) r, p (1 - r) r^2 ... for Bloom filters, which are as good as asked for
// and no better. The sum, and with it the rate of the whole, stays below p for any number of
// layers. Cuckoo filters are often better than asked for, and what they do not take is left to
// later layers.
//
// That has its price in memory. For a million keys in layers from a thousand on, against one filter
// of the right size (`tamis_scalable_table`):
//
//   bound           5%     1%     0.1%
//   split-block     2.07   1.95   1.89
//   classic         2.11   1.73   1.50
//   cuckoo16        1.02   1.02   2.81
//   cuckoo12        1.02   6.1    26
//
// and up to twice that just after a layer is begun, which is still empty. Cuckoo layers are full
// tables as long as the bound is a dozen times the rate of one, and far from it below. With a
// tightening of 0.5 split-block takes 3.5 and classic 2.4 times the memory at 1% (bench/NOTES.md).
// Where the number of keys is known, a filter of that size is smaller and faster. Compact makes
// one.
//
// Where a whole layer would exceed max_bytes, the last one is what still fits, if that is worth it.
//
// Keys go into the oldest layer that is not full: the newest, but after erasures.
//
// Copies of a key: memory follows the number of different keys, however often they come. Bloom
// layers that are smaller than all before them together, as with a growth below 2, do not take what
// these have, which costs a lookup for each key inserted. Of Bloom layers that fill up more slowly
// than keys come, inserted_count() is an estimate of what is new to each. Cuckoo layers hold
// copies: at most 8 of a key in a layer, 4 once many keys are copies, and then, of all keys
// inserted, at most half. Insert returns false for a copy that
// is not held, and seldom for a key that cannot be told from one: Contains(key) is true, and is no
// longer once the key that it was taken for is erased.
//
// All bulk forms of Filter, and Engine, work; changes are made by one thread. Scalable filters
// cannot be merged; what Compact returns can. payload() is empty: each layer has its own.
//
// F is SplitBlockBloomFilter, BloomFilter or CuckooFilter<8, 12 or 16>. With layers that can erase
// so can the whole; a key that more than one layer may have is then refused, and stays: the others
// of these layers would lose what stands for another key.
template <typename F>
class ScalableFilter final : public detail::ScalableBase<std::is_base_of_v<ErasableFilter, F>> {
 public:
  static constexpr bool kErases = std::is_base_of_v<ErasableFilter, F>;

  // Makes the first layer. Throws Error(kInvalidArgument) for options out of range or if the first
  // layer is larger than max_bytes, Error(kOutOfMemory), Error(kUnknownBackend).
  explicit ScalableFilter(const ScalableOptions& options);

  // As the functions of SplitBlockBloomFilter of these names. A filter that was loaded goes on
  // growing as it would have; one that is mapped is read-only.
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
  // The sum of those of the layers.
  double estimated_count() const noexcept override;
  // 1 - (1 - p1) (1 - p2) ... for the expected rates of the layers.
  double expected_fpr() const noexcept override;
  FileHeader Header() const noexcept override;
  void set_backend(const Backend& backend) noexcept override;

  using Filter::Contains;
  using Filter::Insert;

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
    return this->Note(KeyForm::kInteger, InsertOne(this->hasher_(key)));
  }
  bool Insert(std::string_view key) noexcept {
    return this->Note(KeyForm::kBytes, InsertOne(HashBytes(key, this->hash_)));
  }
  bool InsertHash(uint64_t hash) noexcept { return this->Note(KeyForm::kUnknown, InsertOne(hash)); }

  // Back to one empty layer, the first. Throws Error(kReadOnly) if the filter is read_only().
  void Clear() override;

  void Save(const std::filesystem::path& path, const SaveOptions& options = {}) const override;

  // A copy in memory of its own, never read-only, that goes on growing in the same way. Of a filter
  // that was mapped without being verified: reads all of it, and throws FormatError if its file is
  // damaged.
  ScalableFilter Clone(const MemoryOptions& memory = {}) const;

  // One filter of these keys, sized for their number at the rate of the whole, with the same hash.
  // `keys` are those that were inserted, which only the caller has. Throws Error(kInvalidArgument)
  // if there are none or one of them is not in this filter, and as the constructor of F.
  F Compact(Keys keys) const;

 private:
  ScalableFilter(detail::LayeredFile file, const MemoryOptions& memory, const Backend* backend);

  void Probe(const detail::Kernels& kernels, const detail::Batch& batch,
             uint64_t* bits) const noexcept override;
  bool ProbeOne(uint64_t hash) const noexcept override;
  bool ChangeOne(detail::Change change, uint64_t hash) noexcept override;
  size_t ChangeBatch(detail::Change change, const detail::Kernels& kernels,
                     const detail::Batch& batch, uint64_t first,
                     detail::Rejects& rejects) noexcept override;

  // Of the first so many layers.
  void ProbeLayers(size_t layers, const detail::Kernels& kernels, const detail::Batch& batch,
                   uint64_t* bits) const noexcept;

  bool EraseFromLayers(uint64_t hash) noexcept override;
  bool InsertOne(uint64_t hash) noexcept;
  bool AsksOlder() const noexcept;
  size_t CountThoseThatAreIn(const detail::Kernels& kernels, const uint64_t* hashes,
                             size_t n) const noexcept;
  void InsertIfNew(const detail::Kernels& kernels, const uint64_t* hashes, size_t n) noexcept;
  size_t InsertHashes(const detail::Kernels& kernels, const uint64_t* hashes, size_t n,
                      uint64_t first, detail::Rejects& rejects) noexcept;
  void AddLayer();
  bool TryAddLayer() noexcept;
  // Lets current_ be a layer that is not full. Returns false, with current_ past the last one, if
  // there is none.
  bool FindRoom() noexcept;
  // Templates, as only filters with layers that hold copies have them: others could not compile
  // them.
  template <int = 0>
  size_t InsertSome(const detail::Kernels& kernels, const uint64_t* hashes, size_t n,
                    uint64_t first, detail::Rejects& rejects) noexcept;
  template <int = 0>
  bool InsertNew(const detail::Kernels& kernels, const uint64_t* hashes, size_t n, uint64_t first,
                 detail::Rejects& rejects, size_t* done) noexcept;
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
};

// A scalable filter with layers of the kind asked for: of those whose FilterKindInfo says
// can_be_layer. Throws Error(kInvalidArgument) for any other kind, and as the constructor does.
AnyFilter MakeScalableFilter(FilterKind layers, const ScalableOptions& options);

// A scalable filter, whatever the kind of its layers.
struct ScalableView {
  ScalableOptions options;
  std::vector<const Filter*> layers;  // oldest first; as long as the filter is there, and unchanged
};

// Nothing for a filter that is not scalable.
std::optional<ScalableView> ViewScalable(const Filter& filter);

extern template class ScalableFilter<SplitBlockBloomFilter>;
extern template class ScalableFilter<BloomFilter>;
extern template class ScalableFilter<CuckooFilter<8>>;
extern template class ScalableFilter<CuckooFilter<12>>;
extern template class ScalableFilter<CuckooFilter<16>>;

}  // namespace tamis

#endif  // TAMIS_SCALABLE_FILTER_H_
