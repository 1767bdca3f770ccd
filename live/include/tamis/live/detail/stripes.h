// Stripes: parts of an object that concurrent threads use separately.
#ifndef TAMIS_LIVE_DETAIL_STRIPES_H_
#define TAMIS_LIVE_DETAIL_STRIPES_H_

#include <cstddef>

#include "tamis/cpp20.h"

namespace tamis::detail {

inline constexpr size_t kStripes = 16;
// Two cache lines, because processors fetch them in pairs.
inline constexpr size_t kStripeBytes = 128;

// The stripe of the calling thread, below kStripes. It never changes during the life of the thread.
// If there are more threads than stripes, several threads have the same one.
size_t StripeOfThisThread() noexcept;

// The stripe that only the calling thread has until the thread ends, so no atomic addition is
// needed there. If other threads have all stripes, returns kStripes.
size_t OwnStripeOfThisThread() noexcept;

// The result of OwnStripeOfThisThread, times kStripeBytes. A larger number before its first call on
// this thread. Read directly where a call would take longer than the work.
extern constinit thread_local size_t own_stripe_offset;

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_STRIPES_H_
