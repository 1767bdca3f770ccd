// What to make of a plan, in words.
#ifndef TAMIS_PLAN_SRC_ADVICE_TEXT_H_
#define TAMIS_PLAN_SRC_ADVICE_TEXT_H_

#include <string>

#include "tamis/plan/plan.h"

namespace tamis::detail {

// In PlanCandidate::lacks: it is larger than max_bytes.
inline constexpr char kLacksMemory[] = "memory";

// Whether a structure stays in cache, where only the time of a lookup counts.
inline bool StaysInCache(const PlanCandidate& candidate) {
  constexpr double kCacheBytes = 256 << 10;
  return candidate.bytes <= kCacheBytes;
}

// Of a plan that is otherwise complete.
std::string PlanAdvice(const FilterPlan& plan);

}  // namespace tamis::detail

#endif  // TAMIS_PLAN_SRC_ADVICE_TEXT_H_
