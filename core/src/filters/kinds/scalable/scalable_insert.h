// Insertion of keys and of copies of keys into a scalable filter. Included only by
// scalable_filter.cc, which instantiates the class.
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

// Multiplies by the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4).
inline uint64_t Spread(uint64_t x) { return x * 0x9E3779B97F4A7C15; }

// Selects one key out of 16.
inline bool IsExamined(uint64_t hash) { return Spread(hash) >> 60 == 0; }

}  // namespace detail

template <typename F>
bool ScalableFilter<F>::TryAddLayer() noexcept {
  if (layers_.size() == refused_at_) return false;
  try {
    AddLayer();
    return true;
  } catch (const Error& error) {
    // Memory may become available later.
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

// Moves current_ past full layers. Returns whether a layer has room.
//
// Copies of keys could make a Bloom layer full by its count while few of its bits are set. The
// count of such a layer is replaced by the number of keys that its bits indicate, and the layer
// takes more keys. The decision depends only on data that a file contains, so a loaded filter makes
// the same one.
template <typename F>
bool ScalableFilter<F>::FindRoom() noexcept {
  for (; current_ < layers_.size(); ++current_) {
    F& layer = layers_[current_];
    if (!detail::IsFull(layer)) return true;
    if constexpr (!kErases) {
      // The margin is larger than the error of the estimate, and large enough to be worth counting
      // bits.
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

// Inserts a key that a cuckoo layer has refused although the layer was not full. If no layer seems
// to have the key, the next layer with room takes it.
template <typename F>
bool ScalableFilter<F>::InsertAfter(size_t layer, uint64_t hash) noexcept {
  if (ContainsHash(hash)) return false;
  while (++layer < layers_.size() || TryAddLayer()) {
    if (!detail::IsFull(layers_[layer]) && layers_[layer].InsertHash(hash)) return true;
  }
  return false;
}

// Returns whether keys go into the newest Bloom layer only if no older layer has them. This is the
// case if the newest layer is smaller than all older layers together. Without this check, copies of
// keys in older layers could fill the newest layer and the layers after it.
template <typename F>
bool ScalableFilter<F>::AsksOlder() const noexcept {
  const uint64_t newest = layers_[current_].capacity();
  return newest < this->capacity_ - newest;
}

// Inserts keys in their order. The result does not depend on how they are divided into batches. A
// key that is already in the filter may be reported as inserted although no layer counts it.
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

// Returns how many of the first keys are already in the filter, because a small layer is not begun
// for such keys. Returns 0 if the next layer would be at least as large as all others together,
// because such a layer is begun for any key.
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

// Inserts keys that no older layer has into the newest layer, which has room for all of them. Other
// keys are counted but not inserted. If there are many such keys, FindRoom corrects the count. For
// the smallest layers, the estimate of FindRoom is too inexact. So these layers do not count a key
// that is already in the filter.
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

// Returns whether the layer takes a copy of a key.
// - At most half of the keys may be copies, so memory follows the number of different keys. If
//   there are no real copies, the few keys that are taken for copies stay below this limit.
// - A layer takes at most kMostCopies copies of a key. If copies of a few keys filled both of their
//   buckets, no other key would find room in these buckets.
// - A copy of a key in another layer is taken as well, although neither layer can then erase it.
//   The reason is that it may be a different key with the same bits. If the filter refused such a
//   key, the key would be lost as soon as the other key is erased.
template <typename F>
template <int>
bool ScalableFilter<F>::TakesCopy(const F& layer, uint64_t hash) const noexcept {
  constexpr uint64_t kMostCopies = 4;
  return copies_.held < std::max(layers_[0].capacity(), SumOfInserted()) / 2 &&
         layer.CopiesOfHash(hash) < kMostCopies;
}

// Inserts keys that are not known to be copies, in their order. Adds the number of inserted keys to
// `done`. Returns whether the layer with room took all of them.
template <typename F>
template <int>
bool ScalableFilter<F>::InsertNew(const detail::Kernels& kernels, const uint64_t* hashes, size_t n,
                                  uint64_t first, detail::Outcomes& outcomes,
                                  size_t* done) noexcept {
  uint64_t refused[detail::kBatchKeys / 64] = {};
  detail::Outcomes collect(ChangeOutputs{.rejected = refused});
  const size_t taken = detail::FilterAccess::ChangeBatch(
      layers_[current_], Change::kInsert, kernels, detail::HashBatch(hashes, n), 0, collect);
  *done += taken;
  if (taken == n) return true;
  for (size_t i = 0; i < n; ++i) {
    if (((refused[i / 64] >> (i % 64)) & 1) == 0) continue;
    if (InsertAfter(current_, hashes[i])) {
      ++*done;
    } else {
      outcomes.Reject(first + i);
    }
  }
  return false;
}

// Inserts keys into layers that can erase. Such layers hold copies of keys. So keys are examined: a
// lookup shows whether a key is a copy. Because examining a key takes longer than inserting it,
// only some keys are examined. All keys are examined, in their order, in these cases:
// - There are few keys yet.
// - No layer has room.
// - Many examined keys were copies, until the next layer begins.
//
// The choice depends only on the keys, so the filter does not depend on the batches that they come
// in. There is an exception: a layer with many copies may refuse a key before it is full, and
// another layer may take it. Then the batches can decide whether another key counts as a copy of
// the refused key.
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

    size_t run = 0;  // the index of the first key that is still to be inserted
    // Returns false if the layer refused keys, which other layers then have.
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
          asked = i;  // the rest goes into the new layer
          break;
        }
        at_limit = true;  // copies among the remaining keys still count as copies
        outcomes.Reject(first + begin + i);
        continue;
      }
      if (is_copy && has_room) {
        if (!insert_run(i)) {
          asked = i;  // the rest is examined again
          break;
        }
        is_copy = ContainsHash(examined[j]);  // an equal earlier key may have been refused
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

// Sets the bits of keys that may be in the filter, and of keys that their layer could not
// distinguish from an earlier key.
template <typename F>
template <int>
void ScalableFilter<F>::FindCopies(const detail::Kernels& kernels, const uint64_t* hashes, size_t n,
                                   bool has_room, uint64_t* bits) const noexcept {
  if (n <= 1) {  // frequent: programs that insert keys one by one
    if (n == 1) bits[0] = ContainsHash(hashes[0]);
    return;
  }
  // Does not call Probe, which is made for keys that many layers have.
  std::fill_n(bits, BitmapWords(n), uint64_t{0});
  for (const F& layer : layers_) {
    uint64_t found[detail::kBatchKeys / 64];
    detail::FilterAccess::Probe(layer, kernels, detail::HashBatch(hashes, n), found);
    for (size_t word = 0; word < BitmapWords(n); ++word) bits[word] |= found[word];
  }
  if (!has_room) return;  // no key is inserted before the first new one
  // A hash table of indices of keys, plus 1. A table of identities would take most of a thread's
  // stack with musl.
  uint16_t seen[2 * detail::kBatchKeys];
  const size_t slots = std::bit_ceil(2 * n);
  const int shift = 64 - std::countr_zero(slots);
  const auto identity_of = [&](size_t i) { return layers_[current_].IdentityOfHash(hashes[i]); };
  std::fill_n(seen, slots, uint16_t{0});
  for (size_t i = 0; i < n; ++i) {
    const uint64_t identity = identity_of(i);
    size_t slot = detail::Spread(identity) >> shift;
    while (seen[slot] != 0 && identity_of(seen[slot] - 1u) != identity) slot = (slot + 1) % slots;
    bits[i / 64] |= uint64_t{seen[slot] != 0} << (i % 64);
    if (seen[slot] == 0) seen[slot] = static_cast<uint16_t>(i + 1);
  }
}

// Probes all layers for some keys at a time. The layer with room takes absent keys until it is
// full, and the remaining keys are probed again. No key counts as a copy. (A cuckoo layer may
// refuse a key before it is full, and another layer may take it: see InsertSome.)
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
    // Takes about twice as many keys as the layer has room for, because some of them may be in the
    // filter.
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
        } else if (!ContainsHash(absent[j])) {  // an equal earlier key may have been inserted
          outcomes.Reject(index);
        }
      }
    }
  }
  return done;
}

}  // namespace tamis

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_SCALABLE_SCALABLE_INSERT_H_
