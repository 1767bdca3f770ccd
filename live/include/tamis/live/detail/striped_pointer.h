// A pointer that many threads copy and few replace.
#ifndef TAMIS_LIVE_DETAIL_STRIPED_POINTER_H_
#define TAMIS_LIVE_DETAIL_STRIPED_POINTER_H_

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "tamis/live/detail/stripes.h"

namespace tamis::detail {

// Like a std::shared_ptr, but without one reference count for all readers. Each stripe has its own
// lock, pointer and count, so that threads of different stripes never write to the same cache line.
// All counts refer to one object, which is freed when the last of them drops to zero.
//
// A replacement is one step for all threads, because it locks all stripes: after any thread has
// read the new object, no thread reads the old one. All functions are thread-safe.
template <typename T>
class StripedPointer {
 public:
  // Returns null before the first Exchange.
  std::shared_ptr<T> Get() const {
    Stripe& stripe = stripes_[StripeOfThisThread()];
    const std::lock_guard lock(stripe.mutex);
    return stripe.pointer;
  }

  // Replaces the object and returns the old one. Freeing the old object may take long, so the
  // caller should drop it outside all locks. If memory runs out, throws std::bad_alloc and replaces
  // nothing.
  std::shared_ptr<T> Exchange(const std::shared_ptr<T>& object) {
    std::array<std::shared_ptr<T>, kStripes> next;
    for (std::shared_ptr<T>& pointer : next) {
      const auto held = std::make_shared<Held>(Held{object});
      pointer = std::shared_ptr<T>(held, object.get());
    }
    for (Stripe& stripe : stripes_) stripe.mutex.lock();
    for (size_t i = 0; i < kStripes; ++i) stripes_[i].pointer.swap(next[i]);
    for (Stripe& stripe : stripes_) stripe.mutex.unlock();
    return std::move(next[0]);
  }

 private:
  struct alignas(kStripeBytes) Stripe {
    std::mutex mutex;
    std::shared_ptr<T> pointer;
  };
  // Padded, so that the counts of several stripes do not share a cache line.
  struct alignas(kStripeBytes) Held {
    std::shared_ptr<T> object;
  };

  mutable std::array<Stripe, kStripes> stripes_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_STRIPED_POINTER_H_
