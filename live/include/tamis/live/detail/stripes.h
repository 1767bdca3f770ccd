// What threads that do the same at the same time have each for itself.
#ifndef TAMIS_LIVE_DETAIL_STRIPES_H_
#define TAMIS_LIVE_DETAIL_STRIPES_H_

#include <cstddef>

#include "tamis/cpp20.h"

namespace tamis::detail {

inline constexpr size_t kStripes = 16;
// Two cache lines: processors fetch them in pairs.
inline constexpr size_t kStripeBytes = 128;

// The stripe of the calling thread, below kStripes: the same one for as long as the thread lives.
size_t StripeOfThisThread() noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_STRIPES_H_
