// Advice about a plan in words.
#ifndef TAMIS_PLAN_SRC_ADVICE_TEXT_H_
#define TAMIS_PLAN_SRC_ADVICE_TEXT_H_

#include <string>

#include "tamis/plan/plan.h"

namespace tamis::detail {

// An entry of PlanCandidate::lacks: the candidate is larger than max_bytes.
inline constexpr char kLacksMemory[] = "memory";

// Returns whether a structure stays in cache, so that only the time of a lookup matters.
inline bool StaysInCache(const PlanCandidate& candidate) {
  constexpr double kCacheBytes = 256 << 10;
  return candidate.bytes <= kCacheBytes;
}

// Returns the advice for a plan that is complete except for the advice.
std::string PlanAdvice(const FilterPlan& plan);

}  // namespace tamis::detail

#endif  // TAMIS_PLAN_SRC_ADVICE_TEXT_H_
