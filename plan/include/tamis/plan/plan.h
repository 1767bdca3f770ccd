// Which structure to take for a set of keys: sizes, true error rates, abilities, costs, and advice.
#ifndef TAMIS_PLAN_PLAN_H_
#define TAMIS_PLAN_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tamis/engine/engine.h"
#include "tamis/file/file.h"
#include "tamis/filters/filter_kinds.h"

namespace tamis {

struct AbilityInfo {
  const char* name;
  bool Abilities::*ability;
  const char* description;
};

inline constexpr AbilityInfo kAbilities[] = {
    {"erase", &Abilities::erase, "keys can be taken back"},
    {"grow", &Abilities::grow, "more keys than planned can come"},
    {"merge", &Abilities::merge, "two can be united"},
    {"intersect", &Abilities::intersect, "two can be intersected"},
    {"parallel-build", &Abilities::parallel_build, "several threads build it together"},
    {"parquet", &Abilities::parquet, "it can have Apache Parquet's bits (XXH64, seed 0)"},
    {"exact", &Abilities::exact, "it is never wrong"},
};

// Integers from `low` to `high`, both included.
struct KeyRange {
  uint64_t low = 0;
  uint64_t high = 0;

  // As double, for 2^64 values do not fit an integer.
  double size() const noexcept { return static_cast<double>(high - low) + 1; }
};

// What the structure is for.
struct PlanNeeds {
  Abilities must = {};
  // No key comes after the filter is built. Kinds that never change are then candidates, and
  // the smallest filter is the best.
  bool is_static = false;
  std::optional<KeyRange> range = std::nullopt;  // the keys are integers in it
  // The most memory it may take, in bytes. 0: what PhysicalMemory() says, if that is known.
  uint64_t max_bytes = 0;
  uint64_t batch_keys = 1'000'000;  // keys of a lookup, for its time; at least 1
  // Mean bytes of a key, for the exact structures; at least 1. A `range` decides in its place.
  uint64_t key_bytes = 8;
};

// What a lookup in a batch costs.
struct ProbeCost {
  double ns = 0;          // for each key; half of the keys are in
  bool at_least = false;  // the filter is larger than any the figure comes from
  const Backend* backend = nullptr;
  unsigned threads = 1;
};

// A structure for the keys, or why it cannot be.
struct PlanCandidate {
  std::string name;                  // "split-block", "bitmap" ...; each has its own
  std::optional<FilterKind> kind;    // none: an exact structure, which tamis does not have
  std::optional<FilterKind> layers;  // of a scalable filter, the kind of its layers
  double bytes = 0;                  // a whole number, up to 2^53 exact; 0 if it cannot be
  double bits_per_key = 0;
  // The rate of false positives when all keys are in, by the model of its kind (sizing.h) at this
  // size: at most the one asked for. 0 if it is exact.
  double fpr = 0;
  // Cache lines that a lookup touches on average if half of the keys are in: cache misses, if the
  // table is larger than the caches. Split-block and counting filters have each key in one
  // line, cuckoo filters in two buckets; a classic one tests all of its k bits for a key that is
  // in, and for others, with half of the bits set, 1 + 1/2 + 1/4 ... A bitmap has one line. A
  // binary search touches log2(n) lines but for the last keys, which share one. A hash table that
  // is half full tests 1.5 slots in a row for keys that are in, and 2.5 for others (linear probing;
  // Knuth, "The Art of Computer Programming", volume 3, section 6.4). An Elias-Fano list has at
  // least three: its directory, the high and the low parts.
  double cache_lines = 0;
  // By the cost model of Engine. None without figures for this kind of filter.
  std::optional<ProbeCost> probe;
  Abilities can;
  std::string note;                // a remark of one line
  std::string error;               // why it cannot be; empty if it can
  std::vector<std::string> lacks;  // which needs it does not meet: names of kAbilities, "memory"

  bool possible() const noexcept { return error.empty(); }
  // Whether it meets all needs.
  bool suitable() const noexcept { return possible() && lacks.empty(); }
};

struct FilterPlan {
  uint64_t keys = 0;
  double fpr = 0;
  PlanNeeds needs;          // with max_bytes as it was used; 0: no limit
  std::string calibration;  // what the times come from; empty: there are none
  // n log2(1/p) bits: no filter for keys of any kind has less (Carter, Floyd, Gill, Markowsky and
  // Wegman, "Exact and Approximate Membership Testers", STOC 1978). In bytes.
  double least_bytes = 0;
  // Every kind of filter (static ones if needs.is_static), and what is exact. Best first: those
  // that meet all needs, then those that lack something, the fewest things first, then those that
  // cannot be. Among equals the product of size and time decides, so that twice the speed is worth
  // twice the memory. The time is that of a lookup if it is known for every possible filter; else,
  // and for exact structures, cache_lines. If needs.is_static, the size decides.
  std::vector<PlanCandidate> filters;
  std::vector<PlanCandidate> exact;
  // What to take. Of exact structures that stay in cache (256 KiB), the one with the fewest
  // cache_lines. Otherwise the best filter, unless an exact structure beats every filter. It beats
  // a filter if it is no larger and has at most twice the cache_lines, or if it is at most twice
  // as large and its bytes times its cache_lines are no more. None if nothing meets all needs.
  std::optional<PlanCandidate> choice;
  std::string advice;  // which to take and why, in a few sentences
};

// Compares the structures for `keys` distinct keys at a false-positive rate of `fpr`, in
// [kMinFpr, kMaxFpr].
//
// Filters have the size that their constructors give them. A scalable filter is planned with a
// first layer for `keys` and the other options at their defaults.
//
// Exact structures: if the range of u values is known, a bitmap and a compressed list of
// n (1 + l) + u / 2^l bits with l = floor(log2(u / n)) (Elias, "Efficient Storage and Retrieval by
// Content and Address of Static Files", 1974, and Fano, 1971); and for any keys a sorted array and
// a hash table. If the range is known, these hold 64-bit integers, or 32-bit ones if the range
// allows it. Otherwise they hold keys of `needs.key_bytes`: keys of at most 8 bytes as they are;
// longer keys in a row, and for each a 64-bit reference in a slot.
//
// With `engine`, lookups have times: those of the route that Engine(*engine) would choose for a
// batch of needs.batch_keys integers on the host. Thread-safe.
//
// Throws Error(kInvalidArgument) for 0 keys, an fpr out of range, a range with low above high or
// with fewer values than keys, a batch of 0 keys, and keys of 0 bytes; and with `engine` as the
// constructor of Engine.
FilterPlan PlanFilters(uint64_t keys, double fpr, const PlanNeeds& needs = {},
                       const EngineOptions* engine = nullptr);

// The plan as a JSON object, in lines, the last of them not ended: what `tamis plan --json` prints.
std::string PlanJson(const FilterPlan& plan);

// The kind that takes the fewest bytes for `capacity` keys at this rate, among those that can do
// all that `kind` can. Throws as FilterBytes.
FilterKind SmallestKind(FilterKind kind, uint64_t capacity, double fpr);

// A warning, in one sentence, if a kind of filter is absurd for its rate: if it takes more than
// twice the bytes of another kind that can do all that it can. Says which, and what both take. Else
// empty. Throws as FilterBytes.
std::string SizingAdvice(FilterKind kind, uint64_t capacity, double fpr);

}  // namespace tamis

#endif  // TAMIS_PLAN_PLAN_H_
