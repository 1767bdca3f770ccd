// A pointer that many threads take and few replace.
#ifndef TAMIS_LIVE_DETAIL_STRIPED_POINTER_H_
#define TAMIS_LIVE_DETAIL_STRIPED_POINTER_H_

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "tamis/live/detail/stripes.h"

namespace tamis::detail {

// A std::shared_ptr whose count is not one for all readers: each stripe has a lock, a pointer and a
// count of its own, so that threads of different stripes write to no cache line in common. What the
// counts of the stripes hold is one object, which goes when the last of them has let go of it.
//
// Replacing is one step for all threads, as all stripes are locked for it: once any thread has got
// the new object, every thread does. All functions are thread-safe.
template <typename T>
class StripedPointer {
 public:
  // Null, before the first Exchange.
  std::shared_ptr<T> Get() const {
    Stripe& stripe = stripes_[StripeOfThisThread()];
    const std::lock_guard lock(stripe.mutex);
    return stripe.pointer;
  }

  // Returns the old one, which the caller lets go of where nobody waits for that: to free it may
  // take long. Throws std::bad_alloc, with nothing replaced.
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
  // As long as this, or the counts of several stripes would share a line.
  struct alignas(kStripeBytes) Held {
    std::shared_ptr<T> object;
  };

  mutable std::array<Stripe, kStripes> stripes_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_STRIPED_POINTER_H_
