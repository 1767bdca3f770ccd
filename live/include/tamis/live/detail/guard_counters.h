// Counters that many threads add to.
#ifndef TAMIS_LIVE_DETAIL_GUARD_COUNTERS_H_
#define TAMIS_LIVE_DETAIL_GUARD_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tamis/live/detail/striped_pointer.h"
#include "tamis/live/guard_stats.h"

namespace tamis::detail {

// Has separate counters for each stripe, so that threads of different stripes never write to the
// same cache line.
class GuardCounters {
 public:
  using Field = uint64_t GuardStats::*;

  void Add(Field field, uint64_t n = 1) noexcept {
    for (size_t i = 0; i < kFields.size(); ++i) {
      if (kFields[i] == field) {
        stripes_[StripeOfThisThread()].counts[i].fetch_add(n, std::memory_order_relaxed);
      }
    }
  }

  void AddTo(GuardStats& stats) const noexcept {
    for (const Stripe& stripe : stripes_) {
      for (size_t i = 0; i < kFields.size(); ++i) {
        stats.*kFields[i] += stripe.counts[i].load(std::memory_order_relaxed);
      }
    }
  }

 private:
  static constexpr std::array<Field, 11> kFields = {
      &GuardStats::blocked,        &GuardStats::passed,          &GuardStats::unknown,
      &GuardStats::cache_hits,     &GuardStats::negative_hits,   &GuardStats::coalesced,
      &GuardStats::loads,          &GuardStats::false_positives, &GuardStats::load_failures,
      &GuardStats::cache_failures, &GuardStats::other_type};

  struct alignas(kStripeBytes) Stripe {
    std::array<std::atomic<uint64_t>, kFields.size()> counts{};
  };

  std::array<Stripe, kStripes> stripes_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_GUARD_COUNTERS_H_
