// Which filter? PlanFilters compares all filters for a number of keys, a rate, and the required
// abilities.
#include <tamis/plan/plan.h>
#include <tamis/tamis.h>

#include <cstdio>

int main() {
  // Ten million keys, at most 0.1% false positives, and keys must be erasable.
  const tamis::FilterPlan plan = tamis::PlanFilters(10'000'000, 0.001, {.must = {.erase = true}});

  std::printf("%-24s %10s %10s\n", "filter", "MB", "true rate");
  for (const tamis::PlanCandidate& filter : plan.filters) {
    if (!filter.suitable()) continue;
    std::printf("%-24s %10.1f %9.4f%%\n", filter.name.c_str(), filter.bytes / 1e6,
                100 * filter.fpr);
  }
  std::printf("%s\n", plan.advice.c_str());

  // Programs can read the recommended filter from `choice`.
  if (!plan.choice) return 1;
  return plan.choice->can.erase && plan.choice->fpr <= 0.001 ? 0 : 1;
}
