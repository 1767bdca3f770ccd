#include "plan/src/advice_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tamis/units.h"

namespace tamis::detail {
namespace {

// Returns a name such as "a split-block filter" or "an Elias-Fano list".
std::string NameOf(const PlanCandidate& candidate) {
  const bool vowel = std::string_view("AEIOUaeiou").find(candidate.name[0]) != std::string::npos;
  return (vowel ? "an " : "a ") + candidate.name + (candidate.kind ? " filter" : "");
}

std::string LinesText(double lines) {
  if (lines < 1.05) return "one cache line";
  return FixedText(lines, lines < 9.95 ? 1 : 0) + " cache lines";
}

std::string CostText(const PlanCandidate& candidate) {
  if (!candidate.probe) return LinesText(candidate.cache_lines) + " per lookup";
  return (candidate.probe->at_least ? "at least " : "") + DurationText(1e-9 * candidate.probe->ns) +
         " per lookup";
}

// Compares the times of a lookup, or the cache lines if times are unknown.
double TimeRatio(const PlanCandidate& a, const PlanCandidate& b) {
  return a.probe && b.probe ? a.probe->ns / b.probe->ns : a.cache_lines / b.cache_lines;
}

// Returns the smallest candidate that `accept` accepts, or nullptr.
template <typename Accept>
const PlanCandidate* Smallest(const std::vector<PlanCandidate>& candidates, const Accept& accept) {
  const PlanCandidate* smallest = nullptr;
  for (const PlanCandidate& candidate : candidates) {
    if (!candidate.possible() || !accept(candidate)) continue;
    if (smallest == nullptr || candidate.bytes < smallest->bytes) smallest = &candidate;
  }
  return smallest;
}

bool Suitable(const PlanCandidate& candidate) { return candidate.suitable(); }

bool LacksMemoryAlone(const PlanCandidate& candidate) {
  return candidate.lacks.size() == 1 && candidate.lacks[0] == kLacksMemory;
}

std::string LimitText(const FilterPlan& plan) {
  return BytesText(static_cast<double>(plan.needs.max_bytes));
}

// States the cost of merging, and the alternative without merging.
std::string MergeText(const FilterPlan& plan, const PlanCandidate& choice) {
  if (!plan.needs.must.merge) return "";
  std::string text;
  if (choice.kind) {
    text = " To merge filters, make each of them for all " +
           CountText(static_cast<double>(plan.keys)) + " keys, at this size.";
  }
  const PlanCandidate* const apart = Smallest(plan.filters, [](const PlanCandidate& candidate) {
    return candidate.lacks == std::vector<std::string>{"merge"};
  });
  constexpr double kWorthSaying = 0.9;
  if (apart != nullptr && apart->bytes < kWorthSaying * choice.bytes) {
    text += " Without merging, " + NameOf(*apart) + " takes " + BytesText(apart->bytes) +
            ", but a union must be built from the keys.";
  }
  return text;
}

// Names the static filter that is smaller than the choice, if there is one.
std::string StaticText(const FilterPlan& plan, const PlanCandidate& choice) {
  if (plan.needs.is_static) return "";
  PlanNeeds needs = plan.needs;
  needs.is_static = true;
  const FilterPlan of_static = PlanFilters(plan.keys, plan.fpr, needs);
  const PlanCandidate* const smaller = Smallest(of_static.filters, [](const PlanCandidate& filter) {
    return filter.suitable() && KindInfo(*filter.kind).is_static;
  });
  constexpr double kWorthSaying = 0.9;
  if (smaller == nullptr || smaller->bytes >= kWorthSaying * choice.bytes) return "";
  return " If the set never changes, " + NameOf(*smaller) + " takes " + BytesText(smaller->bytes) +
         ".";
}

// States the hash and the key layout that Parquet requires.
std::string ParquetText(const FilterPlan& plan) {
  if (!plan.needs.must.parquet) return "";
  return " For Parquet, hash with XXH64 and seed 0, and pass INT32 keys as 4 bytes (FixedColumn).";
}

// Names alternatives to a filter that was chosen.
std::string Alternatives(const FilterPlan& plan, const PlanCandidate& choice) {
  std::string text;
  const PlanCandidate* const smaller = Smallest(plan.filters, Suitable);
  constexpr double kWorthSaying = 0.97;
  if (smaller->bytes < kWorthSaying * choice.bytes) {
    text += " " + NameOf(*smaller) + " would be " +
            FixedText(100 * (1 - smaller->bytes / choice.bytes), 0) + "% smaller and cost " +
            CostText(*smaller) + ".";
  }
  const PlanCandidate* const larger = Smallest(plan.filters, [&](const PlanCandidate& candidate) {
    return LacksMemoryAlone(candidate) && TimeRatio(candidate, choice) < 0.95;
  });
  if (larger != nullptr) {
    text += " " + NameOf(*larger) + " would cost " + CostText(*larger) + ", but its " +
            BytesText(larger->bytes) + " exceed the available " + LimitText(plan) + ".";
  }
  if (const PlanCandidate* const exact = Smallest(plan.exact, Suitable)) {
    text += " " + NameOf(*exact) + " would be exact and take " + BytesText(exact->bytes) + ", " +
            FixedText(exact->bytes / choice.bytes, 1) + " times as much.";
  }
  if (plan.needs.must.parquet) return text;  // no bitmap has Parquet's bits
  if (plan.needs.range) {
    text += " With " + CountText(plan.needs.range->size() / choice.bits_per_key) +
            " keys or more, a bitmap of this range is smaller.";
  } else {
    text += " If the keys are integers in a range of at most " + CountText(8 * choice.bytes) +
            " values, a bitmap of that range is exact and not larger.";
  }
  return text;
}

std::string AdviceForFilter(const FilterPlan& plan, const PlanCandidate& choice) {
  return "Use " + NameOf(choice) + ": " + BytesText(choice.bytes) + ", " +
         ShortPercentText(choice.fpr) + " false positives, " + CostText(choice) + "." +
         ParquetText(plan) + MergeText(plan, choice) + Alternatives(plan, choice) +
         StaticText(plan, choice);
}

std::string AdviceForExact(const FilterPlan& plan, const PlanCandidate& choice) {
  std::string text = "Use " + NameOf(choice) + ": exact, " + BytesText(choice.bytes) + ", " +
                     CostText(choice) + " (" + choice.note + "; not part of tamis).";
  const PlanCandidate* const filter = Smallest(plan.filters, Suitable);
  if (filter == nullptr) return text + " No filter meets the needs." + MergeText(plan, choice);
  text += " The smallest filter, " + filter->name + ", takes " + BytesText(filter->bytes);
  if (StaysInCache(choice)) {
    if (filter->bytes < choice.bytes) text += ", but that is no advantage for so few keys";
  } else if (filter->bytes < choice.bytes) {
    text += " and costs " + CostText(*filter);
  }
  return text + "." + MergeText(plan, *filter);
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// States why no candidate meets all needs, and the closest candidate.
std::string AdviceForNothing(const FilterPlan& plan) {
  const PlanCandidate* closest = Smallest(plan.filters, LacksMemoryAlone);
  const PlanCandidate* const exact = Smallest(plan.exact, LacksMemoryAlone);
  if (closest == nullptr || (exact != nullptr && exact->bytes < closest->bytes)) closest = exact;
  if (closest != nullptr) {
    std::string text = "Nothing that meets the needs fits in the available " + LimitText(plan) +
                       ": the smallest, " + NameOf(*closest) + ", takes " +
                       BytesText(closest->bytes) + ".";
    // Computes the rate of the fast default kind at that size, unless this kind lacks another need.
    const FilterKindInfo& fast = FilterKinds().front();
    for (const PlanCandidate& candidate : plan.filters) {
      if (candidate.kind != fast.kind || !LacksMemoryAlone(candidate)) continue;
      if (plan.needs.max_bytes < 32) continue;
      text += std::string(" A ") + fast.name + " filter of " + LimitText(plan) + " would have " +
              ShortPercentText(
                  FilterFpr(fast.kind, static_cast<double>(plan.keys), plan.needs.max_bytes)) +
              " false positives.";
    }
    return text;
  }
  const PlanCandidate* nearest = nullptr;
  for (const auto* candidates : {&plan.filters, &plan.exact}) {
    for (const PlanCandidate& candidate : *candidates) {
      if (!candidate.possible()) continue;
      if (nearest == nullptr || candidate.lacks.size() < nearest->lacks.size()) {
        nearest = &candidate;
      }
    }
  }
  return "Nothing meets all needs. The closest is " + NameOf(*nearest) + " of " +
         BytesText(nearest->bytes) + ", which lacks: " + Listed(nearest->lacks) + ".";
}

// Capitalizes the first letter of each sentence, because some sentences begin with the name of a
// kind.
std::string Capitalized(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || (i > 1 && text[i - 1] == ' ' && text[i - 2] == '.');
    if (begins && text[i] >= 'a' && text[i] <= 'z') text[i] = static_cast<char>(text[i] - 32);
  }
  return text;
}

}  // namespace

std::string PlanAdvice(const FilterPlan& plan) {
  if (!plan.choice) return Capitalized(AdviceForNothing(plan));
  return Capitalized(plan.choice->kind ? AdviceForFilter(plan, *plan.choice)
                                       : AdviceForExact(plan, *plan.choice));
}

}  // namespace tamis::detail
