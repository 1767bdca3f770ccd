#include "tamis/filters/scalable_filter.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <utility>

#include "core/src/bulk/batches.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/base/kind.h"
#include "core/src/filters/base/sizing_checks.h"
#include "core/src/filters/kinds/scalable/scalable_file.h"
#include "core/src/filters/kinds/scalable/scalable_insert.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"

namespace tamis {

using detail::Batch;
using detail::FilterAccess;
using detail::Kernels;
using detail::Outcomes;

namespace {

void CheckRange(const char* name, double value, double min, double max) {
  if (value >= min && value <= max) return;  // also false for NaN
  std::ostringstream message;
  message << "the " << name << " of a scalable filter is " << value << "; allowed: " << min
          << " to " << max;
  throw Error(ErrorCode::kInvalidArgument, message.str());
}

template <typename F>
std::vector<const Filter*> Pointers(const std::vector<F>& layers) {
  std::vector<const Filter*> pointers;
  for (const F& layer : layers) pointers.push_back(&layer);
  return pointers;
}

// Moves the hashes whose bits are not set, and their numbers, to the front. Returns the number of
// these hashes.
size_t KeepAbsent(const uint64_t* bits, size_t n, uint64_t* hashes, uint16_t* numbers) noexcept {
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    hashes[kept] = hashes[i];
    numbers[kept] = numbers[i];
    kept += ((bits[i / 64] >> (i % 64)) & 1) == 0;
  }
  return kept;
}

}  // namespace

template <typename F>
ScalableFilter<F>::ScalableFilter(const ScalableOptions& options)
    : detail::ScalableBase<kErases>(0, options.hash, detail::Storage(), options.backend),
      options_(options),
      error_left_(options.fpr) {
  CheckRange("growth", options.growth, scalable::kMinGrowth, scalable::kMaxGrowth);
  CheckRange("tightening", options.tightening, scalable::kMinTightening, scalable::kMaxTightening);
  CheckRange("false-positive rate", options.fpr, kMinFpr / (1 - options.tightening), kMaxFpr);
  if (options.initial_capacity == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "a scalable filter needs an initial capacity of at least 1");
  }
  AddLayer();
}

template <typename F>
ScalableFilter<F>::ScalableFilter(detail::LayeredFile file, const MemoryOptions& memory,
                                  const Backend* backend)
    : detail::ScalableBase<kErases>(0, file.header.hash, std::move(file.mapping), backend),
      options_(file.growth.options),
      copies_(file.growth.copies),
      error_left_(options_.fpr) {
  options_.hash = file.header.hash;
  options_.memory = memory;
  options_.backend = backend;
  layers_.reserve(file.layers.size());
  double old_error_left = options_.fpr;
  for (detail::OpenedFile& layer : file.layers) {
    layers_.push_back(F(layer.header, std::move(layer.storage), this->backend_));
    Account(layers_.back());
    old_error_left -= detail::OldFprAtCapacity(layer.header);
  }
  // Each new layer leaves a share of at least `tightening` of the bound. Layers of old versions may
  // leave nothing, because their rates were underestimated. Such a filter continues to grow as it
  // would have in the old version.
  constexpr double kRounding = 0.99;
  const double left_by_new_layers =
      options_.fpr * std::pow(options_.tightening, static_cast<double>(layers_.size()));
  if (detail::LayerFpr(options_, error_left_) < kMinFpr &&
      error_left_ < kRounding * left_by_new_layers) {
    error_left_ = std::max(error_left_, old_error_left);
  }
  this->inserted_ = file.header.inserted;
  this->key_types_ = file.header.key_types;
  this->has_secret_ = file.header.has_secret;
}

template <typename F>
ScalableFilter<F>::ScalableFilter(ScalableFilter&&) noexcept = default;
template <typename F>
ScalableFilter<F>& ScalableFilter<F>::operator=(ScalableFilter&& other) noexcept {
  if (this == &other) return *this;  // otherwise the layers would be lost
  detail::ScalableBase<kErases>::operator=(std::move(other));
  options_ = other.options_;
  layers_ = std::move(other.layers_);
  current_ = std::exchange(other.current_, 0);
  error_left_ = other.error_left_;
  refused_at_ = other.refused_at_;
  copies_ = std::exchange(other.copies_, {});
  return *this;
}
template <typename F>
ScalableFilter<F>::~ScalableFilter() = default;

template <typename F>
ScalableFilter<F> ScalableFilter<F>::Load(const std::filesystem::path& path,
                                          const LoadOptions& options) {
  return ScalableFilter(detail::LoadLayers(path, F::kKind, options), options.memory,
                        options.backend);
}

template <typename F>
ScalableFilter<F> ScalableFilter<F>::Map(const std::filesystem::path& path,
                                         const MapOptions& options) {
  return ScalableFilter(detail::MapLayers(path, F::kKind, options), {}, options.backend);
}

template <typename F>
void ScalableFilter<F>::Account(const F& layer) noexcept {
  this->capacity_ += layer.capacity();
  error_left_ -= detail::FprAtCapacity(layer.Header());
}

template <typename F>
void ScalableFilter<F>::AddLayer() {
  const double capacity = detail::LayerCapacity(options_, layers_.size());
  const double fpr = detail::LayerFpr(options_, error_left_);
  if (layers_.size() == scalable::kMaxLayers) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("a scalable filter cannot have more than ", scalable::kMaxLayers,
                               " layers"));
  }
  if (capacity >= 0x1p63) {
    throw Error(ErrorCode::kInvalidArgument, "a layer cannot have more than 2^63 keys");
  }
  auto keys = static_cast<uint64_t>(capacity);
  const uint64_t layer_bytes = FilterBytes(F::kKind, keys, fpr);
  if (options_.max_bytes != 0 && layer_bytes > options_.max_bytes - bytes()) {
    const uint64_t room = options_.max_bytes - bytes();
    const uint64_t fits = detail::LastThatHolds(
        0, keys, [&](uint64_t n) { return n == 0 || FilterBytes(F::kKind, n, fpr) <= room; });
    // Every layer slows down every probe, so a layer of few keys is not worth making.
    if (layers_.empty() || fits < keys / detail::kLeastShare || fits == 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  detail::StrCat("a layer of ", layer_bytes, " bytes beside ", bytes(),
                                 " would exceed the limit of ", options_.max_bytes));
    }
    keys = fits;
  }
  // All layers together must fit in the memory that the process may use.
  if (!layers_.empty()) {
    detail::Storage::RequireFits(bytes() + FilterBytes(F::kKind, keys, fpr));
  }
  layers_.emplace_back(FilterOptions{.capacity = keys,
                                     .fpr = fpr,
                                     .hash = options_.hash,
                                     .memory = options_.memory,
                                     .backend = this->backend_});
  Account(layers_.back());
}

template <typename F>
uint64_t ScalableFilter<F>::bytes() const noexcept {
  return std::accumulate(layers_.begin(), layers_.end(), uint64_t{0},
                         [](uint64_t sum, const F& layer) { return sum + layer.bytes(); });
}

template <typename F>
uint64_t ScalableFilter<F>::SumOfInserted() const noexcept {
  return std::accumulate(layers_.begin(), layers_.end(), uint64_t{0},
                         [](uint64_t sum, const F& layer) { return sum + layer.inserted_count(); });
}

template <typename F>
double ScalableFilter<F>::estimated_count() const noexcept {
  return std::accumulate(layers_.begin(), layers_.end(), 0.0,
                         [](double sum, const F& layer) { return sum + layer.estimated_count(); });
}

template <typename F>
double ScalableFilter<F>::expected_fpr() const noexcept {
  double all_say_no = 0;  // logarithm: rates are as small as 1e-12
  for (const F& layer : layers_) all_say_no += std::log1p(-layer.expected_fpr());
  return std::max(0.0, -std::expm1(all_say_no));  // never -0
}

template <typename F>
void ScalableFilter<F>::set_backend(const Backend& backend) noexcept {
  detail::FilterBase::set_backend(backend);
  for (F& layer : layers_) layer.set_backend(backend);
}

template <typename F>
FileHeader ScalableFilter<F>::Header() const noexcept {
  FileHeader header = this->HeaderOf({layers_.size(), static_cast<uint64_t>(F::kKind), 0});
  header.payload_bytes = detail::OptionsBytes(header.version);
  for (const F& layer : layers_) {
    header.payload_bytes += detail::LayerFileBytes(header.version, layer.bytes());
  }
  return header;
}

template <typename F>
void ScalableFilter<F>::Write(const SaveOptions& options, const detail::PartsWriter& writer) const {
  if (layers_.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a scalable filter that was moved from has no layers to save");
  }
  detail::WriteLayers(Header(), {options_, copies_}, this->storage_, Pointers(layers_), options,
                      writer);
}

template <typename F>
uint64_t ScalableFilter<F>::FileBytes(const SaveOptions& options) const {
  const uint32_t version = detail::HeaderToSave(Header(), options).version;
  uint64_t bytes = detail::HeaderBytes(version) + detail::OptionsBytes(version);
  for (const F& layer : layers_) bytes += detail::LayerFileBytes(version, layer.bytes());
  return bytes;
}

template <typename F>
void ScalableFilter<F>::Clear() {
  this->RequireWritable();
  layers_.erase(layers_.begin() + 1, layers_.end());
  layers_[0].Clear();
  this->capacity_ = 0;
  current_ = 0;
  copies_ = {};
  error_left_ = options_.fpr;
  Account(layers_[0]);
  this->inserted_ = 0;
  this->key_types_ = {};
  this->Changed();
}

template <typename F>
bool ScalableFilter<F>::ContainsHash(uint64_t hash) const noexcept {
  // The newest layer comes first, because it usually has at least as many keys as all others
  // together. This is a plain loop, because the first layer usually decides: std::any_of divides by
  // the size of a layer before it starts.
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    if (layer->ContainsHash(hash)) return true;
  }
  return false;
}

template <typename F>
bool ScalableFilter<F>::EraseFromLayers(uint64_t hash) noexcept {
  size_t owner = layers_.size();
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (!layers_[i].ContainsHash(hash)) continue;
    if (owner != layers_.size()) return false;
    owner = i;
  }
  if constexpr (kErases) {
    if (owner == layers_.size() || !layers_[owner].EraseHash(hash)) return false;
    current_ = std::min(current_, owner);
    copies_.held -= copies_.held > 0 && layers_[owner].ContainsHash(hash);
    --this->inserted_;
    this->Changed();
    return true;
  } else {
    return false;
  }
}

template <typename F>
uint64_t ScalableFilter<F>::CopiesOfHash(uint64_t hash) const noexcept {
  uint64_t copies = 0;
  for (const F& layer : layers_) {
    if constexpr (kErases) {
      copies += layer.CopiesOfHash(hash);
    } else {
      copies += layer.ContainsHash(hash);
    }
  }
  return copies;
}

template <typename F>
bool ScalableFilter<F>::ProbeOne(uint64_t hash) const noexcept {
  return ContainsHash(hash);
}

template <typename F>
bool ScalableFilter<F>::ChangeOne(Change change, uint64_t hash) noexcept {
  if (change == Change::kErase) return EraseFromLayers(hash);
  if (change == Change::kInsert) return InsertOne(hash);
  if (this->read_only() || ContainsHash(hash)) return false;
  Outcomes none;
  const bool inserted = InsertAbsent(*this->backend_->kernels, &hash, 1, 0, none) == 1;
  this->inserted_ += inserted;
  this->Changed();
  return inserted;
}

template <typename F>
void ScalableFilter<F>::Probe(const Kernels& kernels, const Batch& batch,
                              uint64_t* bits) const noexcept {
  ProbeLayers(layers_.size(), kernels, batch, bits);
}

// Probes each layer only for the keys that no newer layer may have.
template <typename F>
void ScalableFilter<F>::ProbeLayers(size_t layers, const Kernels& kernels, const Batch& batch,
                                    uint64_t* bits) const noexcept {
  if (layers == 0) {  // moved from
    std::fill_n(bits, BitmapWords(batch.n), uint64_t{0});
    return;
  }
  alignas(64) uint64_t hashes[detail::kBatchKeys];
  uint16_t numbers[detail::kBatchKeys];
  uint64_t found[detail::kBatchKeys / 64];
  detail::ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
    kernels.hash(slice, hashes);
    uint64_t* const out = bits + begin / 64;
    FilterAccess::Probe(layers_[layers - 1], kernels, detail::HashBatch(hashes, slice.n), out);
    std::iota(numbers, numbers + slice.n, uint16_t{0});
    const uint64_t* asked = out;
    size_t left = slice.n;
    for (size_t i = layers - 1; i-- > 0;) {
      left = KeepAbsent(asked, left, hashes, numbers);
      if (left == 0) break;
      FilterAccess::Probe(layers_[i], kernels, detail::HashBatch(hashes, left), found);
      for (size_t j = 0; j < left; ++j) {
        const uint64_t bit = (found[j / 64] >> (j % 64)) & 1;
        out[numbers[j] / 64] |= bit << (numbers[j] % 64);
      }
      asked = found;
    }
  });
}

template <typename F>
size_t ScalableFilter<F>::ChangeBatch(Change change, const Kernels& kernels, const Batch& batch,
                                      uint64_t first, Outcomes& outcomes) noexcept {
  size_t done = 0;
  alignas(64) uint64_t hashes[detail::kBatchKeys];
  detail::ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
    kernels.hash(slice, hashes);
    if (change == Change::kInsert) {
      done += InsertHashes(kernels, hashes, slice.n, first + begin, outcomes);
      return;
    }
    if (change == Change::kInsertIfAbsent) {
      done += InsertAbsent(kernels, hashes, slice.n, first + begin, outcomes);
      return;
    }
    for (size_t i = 0; i < slice.n; ++i) {
      if (EraseFromLayers(hashes[i])) {
        ++this->inserted_;  // the caller subtracts all erased keys
        ++done;
      } else {
        outcomes.Reject(first + begin + i);
      }
    }
  });
  return done;
}

template <typename F>
ScalableFilter<F> ScalableFilter<F>::Clone(const MemoryOptions& memory) const {
  this->RequireIntact();
  ScalableFilter copy({Header(), {options_, copies_}, {}, {}}, memory, this->backend_);
  copy.layers_.reserve(layers_.size());
  for (const F& layer : layers_) {
    copy.layers_.push_back(layer.Clone(memory));
    copy.Account(copy.layers_.back());
  }
  copy.current_ = current_;
  copy.error_left_ = error_left_;
  return copy;
}

template <typename F>
F ScalableFilter<F>::Compact(Keys keys) const {
  const size_t valid = keys.CountValid();
  if (valid == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a filter cannot be made from 0 keys");
  }
  const size_t found = this->Count(keys);
  if (found != valid) {
    throw Error(
        ErrorCode::kInvalidArgument,
        detail::StrCat(valid - found, " of ", valid, " keys are not in the scalable filter"));
  }
  F filter({.capacity = valid,
            .fpr = options_.fpr,
            .hash = options_.hash,
            .memory = options_.memory,
            .backend = this->backend_});
  const size_t inserted = filter.Insert(keys);
  if (inserted != valid) {
    throw Error(
        ErrorCode::kInvalidArgument,
        detail::StrCat(valid - inserted, " keys found no room: there are too many copies of some"));
  }
  return filter;
}

template class ScalableFilter<SplitBlockBloomFilter>;
template class ScalableFilter<BloomFilter>;
template class ScalableFilter<CuckooFilter<8>>;
template class ScalableFilter<CuckooFilter<12>>;
template class ScalableFilter<CuckooFilter<16>>;

}  // namespace tamis
