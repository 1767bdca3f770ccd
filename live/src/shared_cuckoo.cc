#include "live/src/shared_cuckoo.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/src/bulk/batches.h"
#include "core/src/filters/kinds/cuckoo/cuckoo_chunk.h"
#include "tamis/detail/compiler.h"

namespace tamis::detail {
namespace {

// Keeps later loads from moving before the loads of a kernel.
void FenceAfterKernel() noexcept {
#if !TAMIS_THREAD_SANITIZER  // which does not support fences, and does not see kernels
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

template <int kBits>
using Chunk = CuckooChunk<kBits, SharedBuckets<kBits>>;

// After this many looks a reader takes the lock.
constexpr int kMaxLooks = 16;

// Holds the lock of a stripe for changes.
template <typename Stripe>
class ChangeLock {
 public:
  explicit ChangeLock(Stripe& stripe) : lock_(stripe.mutex), changing_(stripe.changing) {
    changing_.store(true, std::memory_order_relaxed);
  }
  ~ChangeLock() { changing_.store(false, std::memory_order_relaxed); }
  ChangeLock(const ChangeLock&) = delete;
  ChangeLock& operator=(const ChangeLock&) = delete;

 private:
  const std::lock_guard<std::mutex> lock_;
  std::atomic<bool>& changing_;
};

// Buckets whose fingerprints were moved while a kernel ran, and perhaps a few more.
class MovedBuckets {
 public:
  void Add(size_t stripe, MoveLog::Entry move) noexcept {
    for (const MoveLog::Id id : {move.a, move.b}) {
      const size_t bit = BitOf(stripe, id);
      bits_[bit / 64] |= uint64_t{1} << (bit % 64);
    }
  }
  // Treats every bucket as moved.
  void AddAll() noexcept { bits_.fill(~uint64_t{0}); }
  bool Has(size_t stripe, MoveLog::Id id) const noexcept {
    const size_t bit = BitOf(stripe, id);
    return (bits_[bit / 64] >> (bit % 64) & 1) != 0;
  }

 private:
  static constexpr size_t kBits = 16384;
  static size_t BitOf(size_t stripe, MoveLog::Id id) noexcept { return (id + stripe * 67) % kBits; }

  std::array<uint64_t, kBits / 64> bits_ = {};
};

// The indices of places, grouped by stripe, and ascending within each stripe.
template <size_t kStripes>
class ByStripe {
 public:
  template <typename StripeOf>
  ByStripe(std::span<const uint64_t> places, const StripeOf& stripe_of) noexcept {
    for (const uint64_t place : places) ++ends_[stripe_of(place) + 1];
    for (size_t i = 1; i < ends_.size(); ++i) ends_[i] = ends_[i] + ends_[i - 1];
    std::array<uint16_t, kStripes> next;
    std::copy_n(ends_.begin(), kStripes, next.begin());
    for (size_t i = 0; i < places.size(); ++i) {
      indices_[next[stripe_of(places[i])]++] = static_cast<uint16_t>(i);
    }
  }
  std::span<const uint16_t> Of(size_t stripe) const noexcept {
    return std::span(indices_).subspan(ends_[stripe], ends_[stripe + 1] - ends_[stripe]);
  }

 private:
  std::array<uint16_t, kStripes + 1> ends_ = {};  // ends_[i] is the end of stripe i - 1
  std::array<uint16_t, kBatchKeys> indices_;
};

}  // namespace

template <int kBits>
SharedCuckoo<kBits>::SharedCuckoo(Word* words, const cuckoo::Geometry& geometry, uint64_t size,
                                  KeyTypes types)
    : words_(words),
      geometry_(geometry),
      num_stripes_(std::bit_floor(std::min<size_t>(geometry.chunks, kMaxStripes))),
      stripes_(std::make_unique<Stripe[]>(num_stripes_)),
      size_(size),
      key_types_(types.bits()) {}

template <int kBits>
bool SharedCuckoo<kBits>::ContainsUnsure(const cuckoo::Place& place) const noexcept {
  for (int look = 1; look < kMaxLooks; ++look) {
    repeated_.fetch_add(1, std::memory_order_relaxed);
    const Found found = Look(place);
    if (found != Found::kUnsure) return found == Found::kYes;
  }
  locked_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(stripes_[StripeOf(place.chunk)].mutex);
  return Look(place) == Found::kYes;
}

// The kernel looks at all keys once. If a key was not found, and may have been moved during that
// time, it is looked up again.
template <int kBits>
void SharedCuckoo<kBits>::Contains(const CuckooKernels& kernels, const Batch& slice,
                                   uint64_t* bits) const noexcept {
  alignas(64) uint64_t places[kBatchKeys];
  std::array<uint64_t, kMaxStripes> moves_before;
  bool changing = false;
  for (size_t i = 0; i < num_stripes_; ++i) {
    moves_before[i] = stripes_[i].log.Count();
    changing |= stripes_[i].changing.load(std::memory_order_relaxed);
  }
  if (changing) {
    kernels.contains_changing(words_, geometry_, slice, bits, places);
  } else {
    kernels.contains(words_, geometry_, slice, bits);
  }
  FenceAfterKernel();
  bool moved = false;
  for (size_t i = 0; i < num_stripes_; ++i) moved |= stripes_[i].log.Count() != moves_before[i];
  if (!moved) return;
  if (!changing) kernels.locate(geometry_, slice, places);
  ContainsAgain(std::span(places, slice.n), moves_before.data(), bits);
}

template <int kBits>
void SharedCuckoo<kBits>::ContainsAgain(std::span<const uint64_t> places,
                                        const uint64_t* moves_before,
                                        uint64_t* bits) const noexcept {
  MovedBuckets moved;
  for (size_t i = 0; i < num_stripes_; ++i) {
    const bool all = ForEachMove(stripes_[i].log, moves_before[i],
                                 [&](MoveLog::Entry move) { moved.Add(i, move); });
    if (!all) moved.AddAll();
  }
  uint64_t repeated = 0;
  for (size_t first = 0; first < places.size(); first += 64) {
    // Visits only the missing keys: a branch on whether a key was found would often be
    // mispredicted.
    const uint64_t asked = ~uint64_t{0} >> (64 - std::min<size_t>(places.size() - first, 64));
    for (uint64_t missing = asked & ~bits[first / 64]; missing != 0; missing &= missing - 1) {
      const int bit = std::countr_zero(missing);
      const cuckoo::Place place = cuckoo::Unpack(places[first + static_cast<size_t>(bit)]);
      const MoveLog::Id id = MoveLog::IdOf(place.chunk, place.bucket);
      if (!moved.Has(StripeOf(place.chunk), id)) continue;
      ++repeated;
      bits[first / 64] |= uint64_t{Contains(place)} << bit;
    }
  }
  if (repeated != 0) repeated_.fetch_add(repeated, std::memory_order_relaxed);
}

template <int kBits>
template <Change kChange>
auto SharedCuckoo<kBits>::ChangeAt(const cuckoo::Place& place) noexcept -> Outcome {
  Chunk<kBits> chunk(ChunkAt(place.chunk), geometry_.chunk_buckets,
                     {&stripes_[StripeOf(place.chunk)].log, place.chunk});
  if constexpr (kChange == Change::kErase) {
    return chunk.Erase(place.bucket, place.fingerprint) ? Outcome::kDone : Outcome::kRefused;
  } else {
    if constexpr (kChange == Change::kInsertIfAbsent) {
      if (chunk.Contains(place.bucket, place.fingerprint)) return Outcome::kKnown;
    }
    return chunk.Insert(place.bucket, place.fingerprint) ? Outcome::kDone : Outcome::kRefused;
  }
}

// The caller must hold the lock, so that the count is exact whenever no thread changes the table.
template <int kBits>
void SharedCuckoo<kBits>::Count(Change change, KeyType type, uint64_t changed) noexcept {
  if (changed == 0) return;
  if (change == Change::kErase) {
    size_.Subtract(changed);
    return;
  }
  size_.Add(changed);
  const uint16_t bits = KeyTypes(type).bits();
  if ((bits & ~key_types_.load(std::memory_order_relaxed)) != 0) {
    key_types_.fetch_or(bits, std::memory_order_relaxed);
  }
}

template <int kBits>
bool SharedCuckoo<kBits>::Apply(Change change, KeyType type, const cuckoo::Place& place) noexcept {
  const ChangeLock lock(stripes_[StripeOf(place.chunk)]);
  Outcome outcome = Outcome::kRefused;
  switch (change) {
    case Change::kInsert:
      outcome = ChangeAt<Change::kInsert>(place);
      break;
    case Change::kErase:
      outcome = ChangeAt<Change::kErase>(place);
      break;
    case Change::kInsertIfAbsent:
      outcome = ChangeAt<Change::kInsertIfAbsent>(place);
      break;
  }
  Count(change, type, outcome == Outcome::kDone);
  return outcome == Outcome::kDone;
}

template <int kBits>
void SharedCuckoo<kBits>::Prefetch(const cuckoo::Place& place) const noexcept {
  const Word* const chunk = ChunkAt(place.chunk);
  PrefetchWrite(chunk + place.bucket);
  PrefetchWrite(chunk +
                cuckoo::AlternateBucket(place.bucket, place.fingerprint, geometry_.chunk_buckets));
}

// Groups the keys by stripe, so that a thread takes the lock of a stripe once for many keys.
template <int kBits>
template <Change kChange>
size_t SharedCuckoo<kBits>::ChangeSlice(KeyType type, std::span<const uint64_t> places,
                                        uint64_t first, Outcomes& outcomes) noexcept {
  // Limits how long other threads wait for the lock.
  constexpr size_t kKeysPerLock = 256;
  constexpr size_t kPrefetchAhead = 16;
  const ByStripe<kMaxStripes> by_stripe(
      places, [this](uint64_t place) { return StripeOf(cuckoo::Unpack(place).chunk); });
  // Threads that all began with the same stripe would wait for each other at every stripe.
  const size_t offset = StripeOfThisThread();
  uint64_t refused[kBatchKeys / 64] = {};
  size_t done = 0;
  for (size_t i = 0; i < num_stripes_; ++i) {
    const size_t stripe = (i + offset) % num_stripes_;
    const std::span<const uint16_t> indices = by_stripe.Of(stripe);
    for (size_t begin = 0, end = 0; begin < indices.size(); begin = end) {
      end = std::min(begin + kKeysPerLock, indices.size());
      const ChangeLock lock(stripes_[stripe]);
      size_t changed = 0;
      for (size_t j = begin; j < end; ++j) {
        if (j + kPrefetchAhead < indices.size()) {
          Prefetch(cuckoo::Unpack(places[indices[j + kPrefetchAhead]]));
        }
        const size_t index = indices[j];
        switch (ChangeAt<kChange>(cuckoo::Unpack(places[index]))) {
          case Outcome::kDone:
            ++changed;
            outcomes.SetFresh(first + index);
            break;
          case Outcome::kKnown:
            break;
          case Outcome::kRefused:
            refused[index / 64] |= uint64_t{1} << (index % 64);
            break;
        }
      }
      Count(kChange, type, changed);
      done += changed;
    }
  }
  for (size_t word = 0; outcomes.wants_rejected() && word < std::size(refused); ++word) {
    for (uint64_t bits = refused[word]; bits != 0; bits &= bits - 1) {
      outcomes.Reject(first + word * 64 + static_cast<size_t>(std::countr_zero(bits)));
    }
  }
  return done;
}

template <int kBits>
size_t SharedCuckoo<kBits>::Apply(Change change, KeyType type, std::span<const uint64_t> places,
                                  uint64_t first, Outcomes& outcomes) noexcept {
  switch (change) {
    case Change::kInsert:
      return ChangeSlice<Change::kInsert>(type, places, first, outcomes);
    case Change::kErase:
      return ChangeSlice<Change::kErase>(type, places, first, outcomes);
    case Change::kInsertIfAbsent:
      return ChangeSlice<Change::kInsertIfAbsent>(type, places, first, outcomes);
  }
  return 0;
}

template <int kBits>
std::vector<std::unique_lock<std::mutex>> SharedCuckoo<kBits>::Lock() {
  std::vector<std::unique_lock<std::mutex>> locks;
  locks.reserve(num_stripes_);
  for (size_t i = 0; i < num_stripes_; ++i) locks.emplace_back(stripes_[i].mutex);
  return locks;
}

template class SharedCuckoo<8>;
template class SharedCuckoo<12>;
template class SharedCuckoo<16>;

}  // namespace tamis::detail
