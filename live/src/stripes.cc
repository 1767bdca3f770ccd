#include "tamis/live/detail/stripes.h"

#include <atomic>
#include <bit>
#include <cstdint>

#include "tamis/live/detail/striped_count.h"

namespace tamis::detail {
namespace {

static_assert(kStripes <= 32);
std::atomic<uint32_t> owned = 0;  // bit i is set while a thread owns stripe i

constexpr size_t kNotChosen = kStripes + 1;

void SetOwnStripe(size_t stripe) noexcept { own_stripe_offset = stripe * kStripeBytes; }

// Returns the lowest stripe that nobody owns, which the caller then owns, or kStripes.
size_t Claim() noexcept {
  uint32_t seen = owned.load(std::memory_order_relaxed);
  for (;;) {
    const size_t free = static_cast<size_t>(std::countr_one(seen));
    if (free >= kStripes) return kStripes;
    // Acquires what the previous owner wrote.
    if (owned.compare_exchange_weak(seen, seen | uint32_t{1} << free, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return free;
    }
  }
}

// Releases the stripe when the thread ends. Objects of the thread that are destroyed later get
// kStripes. A thread that asks first while the destructors of its pthread keys run never releases
// its stripe. The stripe is a member, because own_stripe_offset may already have its first value
// again: g++ for Windows ends variables without a destructor first.
struct ReleaseAtEnd {
  explicit ReleaseAtEnd(size_t claimed) noexcept : stripe(claimed) {}
  ReleaseAtEnd(const ReleaseAtEnd&) = delete;
  ReleaseAtEnd& operator=(const ReleaseAtEnd&) = delete;
  ~ReleaseAtEnd() {
    if (stripe < kStripes) owned.fetch_and(~(uint32_t{1} << stripe), std::memory_order_release);
    SetOwnStripe(kStripes);
  }

  const size_t stripe;
};

size_t ChooseOwnStripe() noexcept {
  const size_t stripe = Claim();
  SetOwnStripe(stripe);
  static thread_local const ReleaseAtEnd release(stripe);
  return stripe;
}

}  // namespace

constinit thread_local size_t own_stripe_offset = kNotChosen * kStripeBytes;

size_t StripeOfThisThread() noexcept {
  static std::atomic<size_t> next = 0;
  thread_local const size_t stripe = next.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return stripe;
}

size_t OwnStripeOfThisThread() noexcept {
  const size_t stripe = own_stripe_offset / kStripeBytes;
  return stripe != kNotChosen ? stripe : ChooseOwnStripe();
}

void StripedCount::AddWithoutStripe(uint64_t n) noexcept {
  const size_t stripe = OwnStripeOfThisThread();
  std::atomic<uint64_t>& count = stripes_[stripe].count;
  if (stripe < kStripes) {
    AddTo(count, n);
  } else {
    count.fetch_add(n, std::memory_order_relaxed);
  }
}

}  // namespace tamis::detail
