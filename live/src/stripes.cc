#include "tamis/live/detail/stripes.h"

#include <atomic>

namespace tamis::detail {

size_t StripeOfThisThread() noexcept {
  static std::atomic<size_t> next = 0;
  thread_local const size_t stripe = next.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return stripe;
}

}  // namespace tamis::detail
