// The table of a cuckoo filter that many threads change while others query it: see move_log.h.
#ifndef TAMIS_LIVE_SRC_SHARED_CUCKOO_H_
#define TAMIS_LIVE_SRC_SHARED_CUCKOO_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/src/bulk/outcomes.h"
#include "live/src/move_log.h"
#include "tamis/detail/change.h"
#include "tamis/detail/kernels.h"
#include "tamis/key_types.h"
#include "tamis/layout/cuckoo.h"
#include "tamis/live/detail/striped_count.h"

namespace tamis::detail {

template <int kBits>
class SharedCuckoo {
 public:
  using Word = cuckoo::Word<kBits>;

  // State shared by the writers of some chunks.
  struct alignas(64) Stripe {
    std::mutex mutex;
    std::atomic<bool> changing = false;  // a hint: a thread has the lock
    MoveLog log;
  };

  // A view of a table with `size` keys of these types.
  SharedCuckoo(Word* words, const cuckoo::Geometry& geometry, uint64_t size, KeyTypes types);

  // Inline, so that in a large table the processor fetches the buckets of several keys at the same
  // time.
  bool Contains(const cuckoo::Place& place) const noexcept {
    const Found found = Look(place);
    return found != Found::kUnsure ? found == Found::kYes : ContainsUnsure(place);
  }
  // Sets one bit for each value of a slice of at most kBatchKeys. Bits past the end of the slice
  // are 0.
  void Contains(const CuckooKernels& kernels, const Batch& slice, uint64_t* bits) const noexcept;

  bool Apply(Change change, KeyType type, const cuckoo::Place& place) noexcept;
  // Changes the table for the places of a slice of at most kBatchKeys keys. The first key has the
  // index `first`. Returns how many keys changed the table. Reports fresh and rejected keys to
  // `outcomes`, the rejected keys in ascending order.
  size_t Apply(Change change, KeyType type, std::span<const uint64_t> places, uint64_t first,
               Outcomes& outcomes) noexcept;

  uint64_t size() const noexcept { return size_.Get(); }
  KeyTypes key_types() const noexcept {
    return KeyTypes::FromBits(key_types_.load(std::memory_order_relaxed));
  }
  // Require exclusive access.
  void set_size(uint64_t size) noexcept { size_.Set(size); }
  void set_key_types(KeyTypes types) noexcept {
    key_types_.store(types.bits(), std::memory_order_relaxed);
  }

  // Locks all stripes, so that all changes wait.
  std::vector<std::unique_lock<std::mutex>> Lock();

  // Number of repeated looks, and number of keys that were looked up under a lock.
  uint64_t repeated() const noexcept { return repeated_.load(std::memory_order_relaxed); }
  uint64_t locked() const noexcept { return locked_.load(std::memory_order_relaxed); }

 private:
  // There are few stripes, because every bulk query reads the state of each stripe.
  static constexpr size_t kMaxStripes = 64;
  enum class Outcome { kDone, kKnown, kRefused };

  size_t StripeOf(uint32_t chunk) const noexcept { return chunk & (num_stripes_ - 1); }
  Word* ChunkAt(uint32_t chunk) const noexcept {
    return words_ + uint64_t{chunk} * geometry_.chunk_buckets;
  }
  Found Look(const cuckoo::Place& place) const noexcept {
    const Word* const chunk = ChunkAt(place.chunk);
    const uint32_t second =
        cuckoo::AlternateBucket(place.bucket, place.fingerprint, geometry_.chunk_buckets);
    return LookAt<kBits, SharedBuckets<kBits>>(
        stripes_[StripeOf(place.chunk)].log, MoveLog::IdOf(place.chunk, place.bucket),
        chunk[place.bucket], chunk[second], place.fingerprint);
  }
  // Looks again after a first look that returned kUnsure.
  bool ContainsUnsure(const cuckoo::Place& place) const noexcept;
  void Prefetch(const cuckoo::Place& place) const noexcept;
  void ContainsAgain(std::span<const uint64_t> places, const uint64_t* moves_before,
                     uint64_t* bits) const noexcept;
  // The caller must hold the lock of the stripe of the place.
  template <Change kChange>
  Outcome ChangeAt(const cuckoo::Place& place) noexcept;
  void Count(Change change, KeyType type, uint64_t changed) noexcept;
  template <Change kChange>
  size_t ChangeSlice(KeyType type, std::span<const uint64_t> places, uint64_t first,
                     Outcomes& outcomes) noexcept;

  Word* words_;
  const cuckoo::Geometry geometry_;
  const size_t num_stripes_;
  const std::unique_ptr<Stripe[]> stripes_;
  StripedCount size_;
  std::atomic<uint16_t> key_types_;  // KeyTypes::bits
  mutable std::atomic<uint64_t> repeated_ = 0;
  mutable std::atomic<uint64_t> locked_ = 0;
};

extern template class SharedCuckoo<8>;
extern template class SharedCuckoo<12>;
extern template class SharedCuckoo<16>;

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_SRC_SHARED_CUCKOO_H_
