// A count that many threads add to at the same time.
#ifndef TAMIS_LIVE_DETAIL_STRIPED_COUNT_H_
#define TAMIS_LIVE_DETAIL_STRIPED_COUNT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tamis/detail/compiler.h"
#include "tamis/live/detail/stripes.h"

namespace tamis::detail {

// Threads add on different cache lines. If they shared a cache line, waiting for it would take
// longer than setting the bits of a key. Sixteen threads have stripes of their own, to which they
// add without an atomic addition, which would take as long as setting one word of a key. All other
// threads share the last stripe.
class StripedCount {
 public:
  explicit StripedCount(uint64_t count = 0) noexcept { Set(count); }

  TAMIS_INLINE void Add(uint64_t n) noexcept {
    const size_t offset = own_stripe_offset;
    if (offset >= kStripes * kStripeBytes) [[unlikely]] {
      return AddWithoutStripe(n);
    }
    AddTo(reinterpret_cast<Stripe*>(reinterpret_cast<char*>(stripes_.data()) + offset)->count, n);
  }
  // Subtracts from the stripe of the calling thread. The amount may have been added to another
  // stripe. Then this stripe wraps around below 0, but the sum of all stripes is right.
  void Subtract(uint64_t n) noexcept { Add(0 - n); }
  // Returns the sum of all completed additions, and perhaps some that are under way.
  uint64_t Get() const noexcept {
    uint64_t sum = 0;
    for (const Stripe& stripe : stripes_) sum += stripe.count.load(std::memory_order_relaxed);
    // The stripes are read one after the other, so the sum can include a subtraction without the
    // addition before it.
    return static_cast<int64_t>(sum) < 0 ? 0 : sum;
  }
  // Requires exclusive access.
  void Set(uint64_t count) noexcept {
    for (Stripe& stripe : stripes_) stripe.count.store(0, std::memory_order_relaxed);
    stripes_[0].count.store(count, std::memory_order_relaxed);
  }

 private:
  struct alignas(kStripeBytes) Stripe {
    std::atomic<uint64_t> count;
  };

  // Adds to a stripe that only the calling thread has.
  TAMIS_INLINE static void AddTo(std::atomic<uint64_t>& count, uint64_t n) noexcept {
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  // Does the same as Add. Chooses the stripe of the calling thread if this is its first call.
  void AddWithoutStripe(uint64_t n) noexcept;

  std::array<Stripe, kStripes + 1> stripes_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_STRIPED_COUNT_H_
