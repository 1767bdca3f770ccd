// How a scalable filter takes keys, and copies of keys. Included by scalable_filter.cc alone, which
// instantiates the class.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_INSERT_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_INSERT_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "core/src/bulk/batches.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/kinds/scalable/scalable_file.h"
#include "tamis/detail/kernels.h"
#include "tamis/error.h"
#include "tamis/filters/scalable_filter.h"

namespace tamis {
namespace detail {

template <typename F>
bool IsFull(const F& layer) {
  return layer.inserted_count() >= layer.capacity();
}

// By the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4).
inline uint64_t Spread(uint64_t x) { return x * 0x9E3779B97F4A7C15; }

// One key of 16.
inline bool IsExamined(uint64_t hash) { return Spread(hash) >> 60 == 0; }

}  // namespace detail

template <typename F>
bool ScalableFilter<F>::TryAddLayer() noexcept {
  if (layers_.size() == refused_at_) return false;
  try {
    AddLayer();
    return true;
  } catch (const Error& error) {
    // Memory may be there later.
    if (error.code() == ErrorCode::kInvalidArgument) refused_at_ = layers_.size();
  } catch (const std::exception&) {
  }
  return false;
}

template <typename F>
bool ScalableFilter<F>::InsertOne(uint64_t hash) noexcept {
  if (this->read_only()) return false;
  bool inserted = false;
  if (!kErases && FindRoom() && !AsksOlder()) {
    inserted = layers_[current_].InsertHash(hash);
  } else {
    detail::Outcomes none;
    inserted = InsertHashes(*this->backend_->kernels, &hash, 1, 0, none) == 1;
  }
  this->inserted_ += inserted;
  this->Changed();
  return inserted;
}

// Lets current_ pass the layers that are full.
//
// By their number, keys with many copies would fill Bloom layers that have hardly a bit set. Such a
// layer goes on with the number of keys that its bits speak of. The decision is made from what a
// file has, so a filter that was loaded makes the same one.
template <typename F>
bool ScalableFilter<F>::FindRoom() noexcept {
  for (; current_ < layers_.size(); ++current_) {
    F& layer = layers_[current_];
    if (!detail::IsFull(layer)) return true;
    if constexpr (!kErases) {
      // By more than an estimate of distinct keys errs, and enough to be worth counting bits for.
      const double distinct = layer.estimated_count();
      const auto capacity = static_cast<double>(layer.capacity());
      if (distinct < capacity - std::max(3 * std::sqrt(capacity), capacity / 32)) {
        const auto counted = static_cast<uint64_t>(distinct);
        this->inserted_ -= layer.inserted_count() - counted;
        detail::FilterAccess::SetInserted(layer, counted);
        return true;
      }
    }
  }
  return false;
}

// A cuckoo layer may refuse a key although it is not full: the next one that has room takes it,
// unless it is a copy.
template <typename F>
bool ScalableFilter<F>::InsertAfter(size_t layer, uint64_t hash) noexcept {
  if (ContainsHash(hash)) return false;
  while (++layer < layers_.size() || TryAddLayer()) {
    if (!detail::IsFull(layers_[layer]) && layers_[layer].InsertHash(hash)) return true;
  }
  return false;
}

// Whether the bits of a key are set in the newest Bloom layer only if no older one has it: where it
// is smaller than these together, whose keys could fill it, and the next ones.
template <typename F>
bool ScalableFilter<F>::AsksOlder() const noexcept {
  const uint64_t newest = layers_[current_].capacity();
  return newest < this->capacity_ - newest;
}

// Each layer gets its keys in their order, whatever the batches. What is in already may be done
// without being counted.
template <typename F>
size_t ScalableFilter<F>::InsertHashes(const detail::Kernels& kernels, const uint64_t* hashes,
                                       size_t n, uint64_t first,
                                       detail::Outcomes& outcomes) noexcept {
  if constexpr (kErases) return InsertSome(kernels, hashes, n, first, outcomes);
  size_t done = 0;
  bool at_limit = false;
  for (size_t begin = 0, asked = 0; begin < n; begin += asked) {
    if (!FindRoom()) {
      asked = CountThoseThatAreIn(kernels, hashes + begin, n - begin);
      this->inserted_ -= asked;
      done += asked;
      if (begin + asked == n || (!at_limit && TryAddLayer())) continue;
      at_limit = true;
      outcomes.Reject(first + begin + asked);
      ++asked;
      continue;
    }
    F& layer = layers_[current_];
    asked = std::min<uint64_t>(layer.capacity() - layer.inserted_count(), n - begin);
    done += asked;
    const uint64_t before = layer.inserted_count();
    if (AsksOlder()) {
      InsertIfNew(kernels, hashes + begin, asked);
    } else {
      detail::Outcomes none;
      detail::FilterAccess::ChangeBatch(layer, Change::kInsert, kernels,
                                        detail::HashBatch(hashes + begin, asked), begin, none);
    }
    this->inserted_ -= asked - (layer.inserted_count() - before);
  }
  return done;
}

// How many of the first keys are in already, where that matters: for these no layer is begun that
// would be smaller than all there are.
template <typename F>
size_t ScalableFilter<F>::CountThoseThatAreIn(const detail::Kernels& kernels,
                                              const uint64_t* hashes, size_t n) const noexcept {
  if (detail::LayerCapacity(options_, layers_.size()) >= static_cast<double>(this->capacity_)) {
    return 0;
  }
  uint64_t bits[detail::kBatchKeys / 64];
  size_t passed = 0;
  for (size_t asked = 0, step = 1; passed < n && passed == asked; step *= 2) {
    const size_t some = std::min(step, n - passed);
    asked += some;
    ProbeLayers(layers_.size(), kernels, detail::HashBatch(hashes + passed, some), bits);
    size_t in = 0;
    while (in < some && ((bits[in / 64] >> (in % 64)) & 1) != 0) ++in;
    passed += in;
  }
  return passed;
}

// Into the newest layer, which has room for all, unless an older one has them: then they are only
// counted, and taken back if they are many (see FindRoom). In the smallest layers no estimate tells
// that: these take no key that is in, and do not count it.
template <typename F>
void ScalableFilter<F>::InsertIfNew(const detail::Kernels& kernels, const uint64_t* hashes,
                                    size_t n) noexcept {
  constexpr uint64_t kSmall = 64;
  F& layer = layers_[current_];
  if (layer.capacity() < kSmall) {
    for (size_t i = 0; i < n; ++i) {
      if (!ContainsHash(hashes[i])) layer.InsertHash(hashes[i]);
    }
    return;
  }
  const uint64_t inserted = layer.inserted_count() + n;
  uint64_t bits[detail::kBatchKeys / 64];
  ProbeLayers(current_, kernels, detail::HashBatch(hashes, n), bits);
  uint64_t fresh[detail::kBatchKeys];
  size_t num_fresh = 0;
  for (size_t i = 0; i < n; ++i) {
    fresh[num_fresh] = hashes[i];
    num_fresh += ((bits[i / 64] >> (i % 64)) & 1) == 0;
  }
  detail::Outcomes none;
  detail::FilterAccess::ChangeBatch(layer, Change::kInsert, kernels,
                                    detail::HashBatch(fresh, num_fresh), 0, none);
  detail::FilterAccess::SetInserted(layer, inserted);
}

// Of the keys that are in, half can be copies. So memory follows the number of different keys, and
// the few that are in by mistake do not count where there are no copies. Of one key a layer has as
// many as one of its two buckets: where both are full of copies of a few keys, no other finds room.
// Also one that another layer has is taken, though neither layer can then give it back: it may be
// in by mistake, and a key that is refused is lost with the one that it was taken for.
template <typename F>
template <int>
bool ScalableFilter<F>::TakesCopy(const F& layer, uint64_t hash) const noexcept {
  constexpr uint64_t kMostCopies = 4;
  return copies_.held < std::max(layers_[0].capacity(), SumOfInserted()) / 2 &&
         layer.CopiesOfHash(hash) < kMostCopies;
}

// Keys that are not known to be copies, in their order. Adds to `done` how many were inserted, and
// returns whether the layer with room took all.
template <typename F>
template <int>
bool ScalableFilter<F>::InsertNew(const detail::Kernels& kernels, const uint64_t* hashes, size_t n,
                                  uint64_t first, detail::Outcomes& outcomes,
                                  size_t* done) noexcept {
  uint64_t refused[detail::kBatchKeys];
  detail::Outcomes collect(ChangeOutputs{.rejected_indices = refused});
  const size_t taken = detail::FilterAccess::ChangeBatch(
      layers_[current_], Change::kInsert, kernels, detail::HashBatch(hashes, n), 0, collect);
  *done += taken;
  for (size_t i = 0; i < n - taken; ++i) {
    if (InsertAfter(current_, hashes[refused[i]])) {
      ++*done;
    } else {
      outcomes.Reject(first + refused[i]);
    }
  }
  return taken == n;
}

// Layers that can erase hold copies, so keys are examined: asked whether they are one. All are, in
// their order, as long as there are few, where no layer has room, and until the next layer if many
// were; else some of them, as to examine a key takes longer than to insert it. Which ones depends
// on the keys alone, so the filter does not depend on the batches that they come in. (A layer may
// refuse a key before it is full, where it has many copies. If another takes it, one of those that
// were put into the first together with it may, by chance, be taken for a copy of it or not.)
template <typename F>
template <int>
size_t ScalableFilter<F>::InsertSome(const detail::Kernels& kernels, const uint64_t* hashes,
                                     size_t n, uint64_t first,
                                     detail::Outcomes& outcomes) noexcept {
  constexpr uint64_t kFewKeys = 4096;
  size_t done = 0;
  bool at_limit = false;
  for (size_t begin = 0, asked = 0; begin < n; begin += asked) {
    const bool has_room = FindRoom();
    const uint64_t held = SumOfInserted();
    const bool all = copies_.many || !has_room || held < kFewKeys;
    asked = n - begin;
    if (has_room) {
      const F& layer = layers_[current_];
      asked = std::min<uint64_t>(asked, layer.capacity() - layer.inserted_count());
    }
    if (held < kFewKeys) asked = std::min<uint64_t>(asked, kFewKeys - held);

    uint64_t examined[detail::kBatchKeys];
    uint16_t numbers[detail::kBatchKeys];
    size_t num_examined = 0;
    for (size_t i = 0; i < asked; ++i) {
      examined[num_examined] = hashes[begin + i];
      numbers[num_examined] = static_cast<uint16_t>(i);
      num_examined += all || detail::IsExamined(hashes[begin + i]);
    }
    uint64_t found[detail::kBatchKeys / 64];
    FindCopies(kernels, examined, num_examined, has_room, found);

    size_t run = 0;  // keys from here on are to be inserted
    // Returns false if the layer refused some, which others then have.
    const auto insert_run = [&](size_t end) {
      const bool all_went_in = run == end || InsertNew(kernels, hashes + begin + run, end - run,
                                                       first + begin + run, outcomes, &done);
      run = end;
      return all_went_in;
    };
    for (size_t j = 0; j < num_examined; ++j) {
      const size_t i = numbers[j];
      bool is_copy = ((found[j / 64] >> (j % 64)) & 1) != 0;
      if (!is_copy && !has_room) {
        if (!at_limit && TryAddLayer()) {
          copies_.many = false;
          asked = i;  // the rest goes there
          break;
        }
        at_limit = true;  // copies among the rest are still counted as such
        outcomes.Reject(first + begin + i);
        continue;
      }
      if (is_copy && has_room) {
        if (!insert_run(i)) {
          asked = i;  // the rest is asked anew
          break;
        }
        is_copy = ContainsHash(examined[j]);  // the one before it may have been refused
      }
      ++copies_.examined;
      if (!is_copy) continue;
      const bool inserted = has_room && TakesCopy(layers_[current_], examined[j]) &&
                            layers_[current_].InsertHash(examined[j]);
      copies_.held += inserted;
      done += inserted;
      if (!inserted) outcomes.Reject(first + begin + i);
      run = i + 1;
      constexpr uint64_t kManyShare = 4;
      if (++copies_.seen >= copies_.examined / kManyShare && !all) {
        copies_.many = true;
        asked = i + 1;
        break;
      }
    }
    if (has_room && run < asked) insert_run(asked);
  }
  return done;
}

// Sets the bits of keys that are in, or that the layer which they go into could not tell from one
// before them.
template <typename F>
template <int>
void ScalableFilter<F>::FindCopies(const detail::Kernels& kernels, const uint64_t* hashes, size_t n,
                                   bool has_room, uint64_t* bits) const noexcept {
  if (n <= 1) {  // often, as keys come one by one
    if (n == 1) bits[0] = ContainsHash(hashes[0]);
    return;
  }
  // Not Probe, which is for keys that many layers have.
  std::fill_n(bits, BitmapWords(n), uint64_t{0});
  for (const F& layer : layers_) {
    uint64_t found[detail::kBatchKeys / 64];
    detail::FilterAccess::Probe(layer, kernels, detail::HashBatch(hashes, n), found);
    for (size_t word = 0; word < BitmapWords(n); ++word) bits[word] |= found[word];
  }
  if (!has_room) return;                  // up to the first that is not in, none is inserted
  uint64_t seen[2 * detail::kBatchKeys];  // by the first bits of their product; no identity is 0
  const size_t slots = std::bit_ceil(2 * n);
  const int shift = 64 - std::countr_zero(slots);
  std::fill_n(seen, slots, uint64_t{0});
  for (size_t i = 0; i < n; ++i) {
    const uint64_t identity = layers_[current_].IdentityOfHash(hashes[i]);
    size_t slot = detail::Spread(identity) >> shift;
    while (seen[slot] != 0 && seen[slot] != identity) slot = (slot + 1) % slots;
    bits[i / 64] |= uint64_t{seen[slot] == identity} << (i % 64);
    seen[slot] = identity;
  }
}

// What is in is found by asking all layers, some keys at a time; those that are not go into the
// layer with room, up to what it has room for, and the rest is asked again. No key is a copy, so
// nothing is counted as one. (A cuckoo layer may refuse a key before it is full, and another take
// it: see InsertSome.)
template <typename F>
size_t ScalableFilter<F>::InsertAbsent(const detail::Kernels& kernels, const uint64_t* hashes,
                                       size_t n, uint64_t first,
                                       detail::Outcomes& outcomes) noexcept {
  constexpr uint64_t kAskedAtLeast = 64;
  uint64_t absent[detail::kBatchKeys];
  uint16_t numbers[detail::kBatchKeys];
  size_t done = 0;
  bool at_limit = false;
  for (size_t begin = 0, asked = 0; begin < n; begin += asked) {
    // About as many as the layer may take, of which some are in.
    const F& last = layers_[std::min(current_, layers_.size() - 1)];
    const uint64_t room = last.capacity() - std::min(last.capacity(), last.inserted_count());
    asked = std::min<uint64_t>(std::max(2 * room, kAskedAtLeast), n - begin);
    uint64_t found[detail::kBatchKeys / 64];
    ProbeLayers(layers_.size(), kernels, detail::HashBatch(hashes + begin, asked), found);
    size_t num_absent = 0;
    for (size_t i = 0; i < asked; ++i) {
      absent[num_absent] = hashes[begin + i];
      numbers[num_absent] = static_cast<uint16_t>(i);
      num_absent += ((found[i / 64] >> (i % 64)) & 1) == 0;
    }
    if (num_absent == 0) continue;
    if (!FindRoom()) {
      if (at_limit || !TryAddLayer()) {
        at_limit = true;
        for (size_t j = 0; j < num_absent; ++j) outcomes.Reject(first + begin + numbers[j]);
        continue;
      }
      copies_.many = false;
    }

    F& layer = layers_[current_];
    const uint64_t takes = layer.capacity() - layer.inserted_count();
    if (num_absent > takes) {
      num_absent = takes;
      asked = numbers[num_absent];
    }
    uint64_t fresh[detail::kBatchKeys / 64] = {}, refused[detail::kBatchKeys / 64] = {};
    detail::Outcomes of_layer(ChangeOutputs{.fresh = fresh, .rejected = refused});
    done += detail::FilterAccess::ChangeBatch(layer, Change::kInsertIfAbsent, kernels,
                                              detail::HashBatch(absent, num_absent), 0, of_layer);
    for (size_t j = 0; j < num_absent; ++j) {
      const auto bit_of = [j](const uint64_t* bits) { return (bits[j / 64] >> (j % 64)) & 1; };
      const uint64_t index = first + begin + numbers[j];
      if (bit_of(fresh) != 0) {
        outcomes.SetFresh(index);
      } else if (bit_of(refused) != 0) {
        if (InsertAfter(current_, absent[j])) {
          ++done;
          outcomes.SetFresh(index);
        } else if (!ContainsHash(absent[j])) {  // which the same key before it may have become
          outcomes.Reject(index);
        }
      }
    }
  }
  return done;
}

}  // namespace tamis

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_INSERT_H_
