#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "core/src/engine/dispatcher.h"
#include "core/src/filters/base/sizing_checks.h"
#include "core/src/filters/registry/kinds.h"
#include "plan/src/advice_text.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/sizing.h"
#include "tamis/physical_memory.h"
#include "tamis/plan/plan.h"
#include "tamis/units.h"

namespace tamis {
namespace {

void Check(uint64_t keys, double fpr, const PlanNeeds& needs) {
  const auto require = [](bool right, const std::string& problem) {
    if (!right) throw Error(ErrorCode::kInvalidArgument, problem);
  };
  require(keys > 0, "a plan for 0 keys; allowed: 1 to 2^64 - 1");
  detail::CheckFpr(fpr);
  require(needs.batch_keys > 0, "a plan for lookups of 0 keys; allowed: 1 to 2^64 - 1");
  require(needs.key_bytes > 0, "a plan for keys of 0 bytes; allowed: 1 to 2^64 - 1");
  if (!needs.range) return;
  const KeyRange& range = *needs.range;
  require(range.low <= range.high, detail::StrCat("a range from ", range.low, " to ", range.high,
                                                  ": the first must not be larger"));
  require(keys - 1 <= range.high - range.low,
          detail::StrCat(keys, " distinct keys do not fit a range of ", FixedText(range.size(), 0),
                         " values"));
}

class Advisor {
 public:
  Advisor(uint64_t keys, double fpr, const PlanNeeds& needs, const detail::Dispatcher* dispatcher)
      : keys_(keys),
        n_(static_cast<double>(keys)),
        fpr_(fpr),
        needs_(needs),
        dispatcher_(dispatcher) {}

  std::vector<PlanCandidate> Filters() const {
    std::vector<PlanCandidate> filters;
    for (const FilterKindInfo& kind : FilterKinds()) {
      if (kind.is_static && !needs_.is_static) continue;
      if (kind.has_layers) {
        filters.push_back(Layered(kind, FilterKinds().front().kind));
        filters.push_back(Layered(kind, SmallestErasableLayer()));
      } else {
        filters.push_back(FilterOf(kind.kind));
      }
    }
    return filters;
  }

  std::vector<PlanCandidate> Exact() const {
    const double values = needs_.range ? needs_.range->size() : 0;
    const bool narrow = needs_.range && values <= 0x1p32;
    const double key_bytes =
        needs_.range ? (narrow ? 4 : 8) : static_cast<double>(needs_.key_bytes);
    // Long keys are stored in a row, and slots refer to them.
    constexpr double kReferenceBytes = 8;
    const bool refers = key_bytes > kReferenceBytes;
    const double slot_bytes = refers ? kReferenceBytes : key_bytes;
    const double row_bytes = refers ? key_bytes : 0;
    const std::string width =
        (refers ? "keys of " + FixedText(key_bytes, 0) + " bytes and 64-bit references"
                : FixedText(8 * key_bytes, 0) + "-bit keys");
    const Abilities read_only = {.merge = true, .intersect = true, .exact = true};
    std::vector<PlanCandidate> exact;
    const auto add = [&](const char* name, double bytes, double lines, Abilities can,
                         const std::string& note) {
      PlanCandidate candidate;
      candidate.name = name;
      candidate.bytes = std::ceil(bytes);
      candidate.cache_lines = lines;
      candidate.can = can;
      candidate.note = note;
      Finish(candidate);
      exact.push_back(std::move(candidate));
    };
    if (needs_.range) {
      add("bitmap", values / 8, 1,
          {.erase = true,
           .grow = true,
           .merge = true,
           .intersect = true,
           .parallel_build = true,
           .exact = true},
          "one bit for each value of the range");
      const double low_bits = std::max(0.0, std::floor(std::log2(values / n_)));
      add("Elias-Fano list", (n_ * (low_bits + 1) + values / std::exp2(low_bits)) / 8, 3, read_only,
          "sorted and compressed; size without its directory");
    }
    const double line_slots = 64 / slot_bytes;
    // References leave room for some bits of the hash in each slot, so a key is rarely compared
    // with a different key.
    const double key_lines = refers ? std::ceil(key_bytes / 64) : 0;
    add("hash table", (2 * slot_bytes + row_bytes) * n_,
        1 + (0.5 * 1.5 + 0.5 * 2.5 - 1) / line_slots + 0.5 * key_lines,
        {.erase = true, .grow = true, .merge = true, .intersect = true, .exact = true},
        width + ", half of the slots used");
    const double steps = std::log2(n_);
    add("sorted array", (slot_bytes + row_bytes) * n_,
        std::max(1.0, steps - std::log2(line_slots)) + (refers ? std::max(1.0, steps) : 0),
        read_only, width + ", binary search");
    return exact;
  }

 private:
  // Computes the common fields of a candidate from the other fields.
  void Finish(PlanCandidate& candidate) const {
    if (!candidate.possible()) return;
    candidate.bits_per_key = 8 * candidate.bytes / n_;
    for (const AbilityInfo& info : kAbilities) {
      if (needs_.must.*info.ability && !(candidate.can.*info.ability)) {
        candidate.lacks.emplace_back(info.name);
      }
    }
    if (needs_.max_bytes != 0 && candidate.bytes > static_cast<double>(needs_.max_bytes)) {
      candidate.lacks.emplace_back(detail::kLacksMemory);
    }
  }

  // Sets the size, rate and cost of a filter at a rate of `fpr`.
  void Size(FilterKind kind, double fpr, PlanCandidate& candidate) const {
    const uint64_t bytes = FilterBytes(kind, keys_, fpr);
    candidate.bytes = static_cast<double>(bytes);
    candidate.fpr = FilterFpr(kind, n_, bytes);
    const detail::LookupFacts facts = detail::KindOf(kind).lookup_facts(bytes, keys_);
    candidate.cache_lines = facts.cache_lines;
    candidate.note = facts.note;
    const detail::PlanRequest request = {
        Engine::Operation::kContains, kind, bytes, needs_.batch_keys, {}, facts.cost};
    if (dispatcher_ == nullptr || !dispatcher_->KnowsCosts(kind)) return;
    const CallRoute route = dispatcher_->Choose(request);
    candidate.probe = {.ns = 1e9 * route.seconds / static_cast<double>(needs_.batch_keys),
                       .at_least = bytes > dispatcher_->LargestCalibrated(kind),
                       .backend = route.backend,
                       .threads = route.threads};
  }

  template <typename Describe>
  PlanCandidate Make(std::string name, FilterKind kind, const Describe& describe) const {
    PlanCandidate candidate;
    candidate.name = std::move(name);
    candidate.kind = kind;
    try {
      describe(candidate);
    } catch (const Error& error) {
      candidate.error = error.what();
    }
    Finish(candidate);
    return candidate;
  }

  PlanCandidate FilterOf(FilterKind kind) const {
    return Make(FilterKindName(kind), kind, [&](PlanCandidate& candidate) {
      candidate.can = KindInfo(kind).can;
      Size(kind, fpr_, candidate);
    });
  }

  PlanCandidate Layered(const FilterKindInfo& kind, FilterKind layers) const {
    const std::string name = std::string(kind.name) + " " + FilterKindName(layers);
    return Make(name, kind.kind, [&](PlanCandidate& candidate) {
      candidate.layers = layers;
      candidate.can = {.erase = KindInfo(layers).can.erase, .grow = true};
      Size(layers, FirstLayerFpr(), candidate);
      candidate.note = "size of the first layer; each layer has twice the keys of the previous one";
    });
  }

  // Returns the rate of the first layer of a ScalableFilter.
  double FirstLayerFpr() const { return fpr_ * (1 - ScalableOptions().tightening); }

  // Returns the smallest kind for layers from which keys can be erased. If none can hold the keys,
  // returns the last such kind.
  FilterKind SmallestErasableLayer() const {
    uint64_t least = std::numeric_limits<uint64_t>::max();
    FilterKind smallest{};
    for (const FilterKindInfo& kind : FilterKinds()) {
      if (!kind.can_be_layer || !kind.can.erase) continue;
      if (least == std::numeric_limits<uint64_t>::max()) smallest = kind.kind;
      try {
        const uint64_t bytes = FilterBytes(kind.kind, keys_, FirstLayerFpr());
        if (std::exchange(least, std::min(least, bytes)) > bytes) smallest = kind.kind;
      } catch (const Error&) {
        // This kind cannot be so large. Another kind may be possible.
      }
    }
    return smallest;
  }

  uint64_t keys_;
  double n_;
  double fpr_;
  const PlanNeeds& needs_;
  const detail::Dispatcher* dispatcher_;
};

// Returns the product of the candidate's size and the time of a lookup. If `by_time` is false, the
// number of cache lines stands for the time.
double Score(const PlanCandidate& candidate, bool by_time) {
  return candidate.bytes * (by_time ? candidate.probe->ns : candidate.cache_lines);
}

void Rank(std::vector<PlanCandidate>& candidates, bool by_size) {
  const bool by_time =
      std::all_of(candidates.begin(), candidates.end(), [](const PlanCandidate& candidate) {
        return !candidate.possible() || candidate.probe.has_value();
      });
  const auto rank = [=](const PlanCandidate& candidate) {
    if (!candidate.possible()) return std::tuple(true, size_t{0}, 0.0);
    return std::tuple(false, candidate.lacks.size(),
                      by_size ? candidate.bytes : Score(candidate, by_time));
  };
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [&](const PlanCandidate& a, const PlanCandidate& b) { return rank(a) < rank(b); });
}

// Whether an exact structure is the better choice, as defined by FilterPlan::choice.
bool Beats(const PlanCandidate& exact, const PlanCandidate& filter) {
  constexpr double kBearable = 2;
  if (!exact.suitable()) return false;
  if (exact.bytes <= filter.bytes && exact.cache_lines <= kBearable * filter.cache_lines) {
    return true;
  }
  return exact.bytes <= kBearable * filter.bytes && Score(exact, false) <= Score(filter, false);
}

const PlanCandidate* Choose(const FilterPlan& plan) {
  // If structures stay in cache, only the time of a lookup matters.
  const PlanCandidate* small = nullptr;
  for (const PlanCandidate& candidate : plan.exact) {
    if (!candidate.suitable() || !detail::StaysInCache(candidate)) continue;
    if (small == nullptr || candidate.cache_lines < small->cache_lines) small = &candidate;
  }
  if (small != nullptr) return small;
  for (const PlanCandidate& filter : plan.filters) {  // best first
    if (!filter.suitable()) break;
    if (std::none_of(plan.exact.begin(), plan.exact.end(),
                     [&](const PlanCandidate& exact) { return Beats(exact, filter); })) {
      return &filter;
    }
  }
  return plan.exact[0].suitable() ? &plan.exact[0] : nullptr;
}

// Returns whether `a` has all abilities of `b`.
bool CanAll(const Abilities& a, const Abilities& b) {
  return std::all_of(std::begin(kAbilities), std::end(kAbilities), [&](const AbilityInfo& info) {
    return a.*info.ability || !(b.*info.ability);
  });
}

}  // namespace

FilterKind SmallestKind(FilterKind kind, uint64_t capacity, double fpr) {
  FilterKind smallest = kind;
  uint64_t least = FilterBytes(kind, capacity, fpr);
  for (const FilterKindInfo& info : FilterKinds()) {
    if (info.has_layers || info.is_static || !CanAll(info.can, KindInfo(kind).can)) continue;
    try {
      const uint64_t bytes = FilterBytes(info.kind, capacity, fpr);
      if (bytes >= least) continue;
      smallest = info.kind;
      least = bytes;
    } catch (const Error&) {
      // This kind cannot be so large.
    }
  }
  return smallest;
}

std::string SizingAdvice(FilterKind kind, uint64_t capacity, double fpr) {
  constexpr double kAbsurd = 2;
  const uint64_t bytes = FilterBytes(kind, capacity, fpr);
  const FilterKind best = SmallestKind(kind, capacity, fpr);
  const uint64_t least = FilterBytes(best, capacity, fpr);
  if (kAbsurd * static_cast<double>(least) >= static_cast<double>(bytes)) return {};
  // A filter that is large because its rate cannot be higher is not wasteful.
  if (kAbsurd * FilterFpr(kind, static_cast<double>(capacity), bytes) < fpr) return {};
  const auto bits = [&](uint64_t size) {
    return FixedText(8 * static_cast<double>(size) / static_cast<double>(capacity), 1);
  };
  return std::string("at ") + ShortPercentText(fpr) + " a " + FilterKindName(kind) +
         " filter takes " + bits(bytes) + " bits per key; a " + FilterKindName(best) +
         " filter can do the same and takes " + bits(least);
}

FilterPlan PlanFilters(uint64_t keys, double fpr, const PlanNeeds& needs,
                       const EngineOptions* engine) {
  Check(keys, fpr, needs);
  FilterPlan plan;
  plan.keys = keys;
  plan.fpr = fpr;
  plan.needs = needs;
  if (needs.max_bytes == 0) plan.needs.max_bytes = PhysicalMemory();
  plan.least_bytes = std::ceil(static_cast<double>(keys) * -std::log2(fpr) / 8);
  std::optional<detail::Dispatcher> dispatcher;
  if (engine != nullptr) {
    dispatcher.emplace(*engine);
    plan.calibration = engine->calibration.machine;
  }
  const Advisor advisor(keys, fpr, plan.needs, dispatcher ? &*dispatcher : nullptr);
  plan.filters = advisor.Filters();
  plan.exact = advisor.Exact();
  Rank(plan.filters, needs.is_static);
  Rank(plan.exact, /*by_size=*/false);
  if (const PlanCandidate* const choice = Choose(plan)) plan.choice = *choice;
  plan.advice = detail::PlanAdvice(plan);
  return plan;
}

}  // namespace tamis
