// Recommends a structure for a set of keys, and compares sizes, true error rates, abilities and
// costs.
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

// An ability of a structure.
struct AbilityInfo {
  const char* name;          // name of the ability
  bool Abilities::*ability;  // its member of Abilities
  const char* description;   // its description for people
};

// All abilities.
inline constexpr AbilityInfo kAbilities[] = {
    {"erase", &Abilities::erase, "keys can be erased"},
    {"grow", &Abilities::grow, "it can take more keys than planned"},
    {"merge", &Abilities::merge, "two can be merged"},
    {"intersect", &Abilities::intersect, "two can be intersected"},
    {"parallel-build", &Abilities::parallel_build, "several threads can build it"},
    {"parquet", &Abilities::parquet, "it can have Apache Parquet's bits (XXH64, seed 0)"},
    {"exact", &Abilities::exact, "it has no false positives"},
};

// Integers from `low` to `high`, both included.
struct KeyRange {
  uint64_t low = 0;   // smallest key
  uint64_t high = 0;  // largest key

  // A double, because the 2^64 values of the full range do not fit a uint64_t.
  double size() const noexcept { return static_cast<double>(high - low) + 1; }
};

// Requirements for the structure.
struct PlanNeeds {
  Abilities must = {};  // abilities that the structure must have
  // No key is added after the filter is built. Kinds that never change are then candidates too, and
  // the smallest filter is the best.
  bool is_static = false;
  std::optional<KeyRange> range = std::nullopt;  // if set, all keys are integers in this range
  // Maximum memory in bytes. 0: PhysicalMemory(), if known.
  uint64_t max_bytes = 0;
  uint64_t batch_keys = 1'000'000;  // keys per lookup, for predicting its time; at least 1
  // Mean number of bytes of a key, for the sizes of exact structures; at least 1. Ignored if
  // `range` is set.
  uint64_t key_bytes = 8;
};

// The cost of a lookup in a batch.
struct ProbeCost {
  double ns = 0;          // nanoseconds per key, if half of the keys are in the filter
  bool at_least = false;  // `ns` is a lower bound: the filter is larger than all calibrated filters
  const Backend* backend = nullptr;  // the fastest backend for the call
  unsigned threads = 1;              // number of threads
};

// A structure for the keys, or the reason why it is impossible.
struct PlanCandidate {
  std::string name;                  // "split-block", "bitmap" ...; unique
  std::optional<FilterKind> kind;    // empty: an exact structure, which is not part of tamis
  std::optional<FilterKind> layers;  // kind of the layers of a scalable filter
  double bytes = 0;                  // a whole number, exact up to 2^53; 0 if impossible
  double bits_per_key = 0;           // `bytes` in bits per key
  // The false-positive rate when the filter contains all keys, by the formula for the kind
  // (sizing.h) at this size. At most the requested rate. 0 if exact.
  double fpr = 0;
  // The average number of cache lines that a lookup touches if half of the keys are in the
  // structure. These are cache misses if the table is larger than the caches:
  // - Split-block and counting filters have each key in one line, cuckoo filters in two buckets.
  // - A classic Bloom filter tests all its k bits for a key that it contains. For other keys, with
  //   half of the bits set, it tests 1 + 1/2 + 1/4 ... bits.
  // - A bitmap has one line.
  // - A binary search touches log2(n) lines, except that the last keys share one.
  // - A hash table that is half full tests 1.5 slots in a row for keys that it contains, and 2.5
  //   for others (linear probing; Knuth, "The Art of Computer Programming", volume 3, section 6.4).
  // - An Elias-Fano list has at least three lines: its directory, its high parts and its low parts.
  double cache_lines = 0;
  // Computed by the cost model of Engine. Empty without calibrated times for this kind.
  std::optional<ProbeCost> probe;
  Abilities can;                   // the abilities of the structure
  std::string note;                // a remark in one line
  std::string error;               // why it is impossible; empty if possible
  std::vector<std::string> lacks;  // unmet needs: names in kAbilities, or "memory"

  // Returns true unless `error` has a reason.
  bool possible() const noexcept { return error.empty(); }
  // Whether the candidate is possible and meets all needs.
  bool suitable() const noexcept { return possible() && lacks.empty(); }
};

// The structures for a set of keys, compared.
struct FilterPlan {
  uint64_t keys = 0;        // number of keys
  double fpr = 0;           // the requested rate
  PlanNeeds needs;          // the needs, with the max_bytes that was used (0: no limit)
  std::string calibration;  // source of the times; empty: no times
  // n log2(1/p) bits, in bytes. No filter for arbitrary keys can be smaller (Carter, Floyd, Gill,
  // Markowsky and Wegman, "Exact and Approximate Membership Testers", STOC 1978).
  double least_bytes = 0;
  // All kinds of filters, including static kinds if needs.is_static, and in `exact` all exact
  // structures. Both are ordered, best first. Candidates that meet all needs come first, then those
  // with the fewest unmet needs, then impossible ones. Among equals, candidates are ordered by the
  // product of size and time, so that twice the speed is worth twice the memory. If the lookup
  // times of all possible filters are known, these are the times. Otherwise, and for exact
  // structures, cache_lines is used as the time. If needs.is_static, filters are ordered by size.
  std::vector<PlanCandidate> filters;
  std::vector<PlanCandidate> exact;  // exact structures
  // The recommended candidate; empty if no candidate meets all needs. If exact structures stay in
  // cache (256 KiB), the choice is the exact structure with the fewest cache_lines among these.
  // Otherwise it is the best filter that no exact structure beats or, if every filter is beaten,
  // the best exact structure. An exact structure beats a filter if it is not larger and has at most
  // twice the cache_lines. It also beats a filter if it is at most twice as large, and the product
  // of its bytes and cache_lines is not larger.
  std::optional<PlanCandidate> choice;
  std::string advice;  // the recommendation with its reasons, in a few sentences
};

// Compares the structures for `keys` distinct keys at a false-positive rate of `fpr`, in [kMinFpr,
// kMaxFpr]. Thread-safe.
//
// Filters have the size that their constructors choose. A scalable filter is planned with a first
// layer for `keys`, and with default values for its other options.
//
// For a known range of u values, the exact structures include a bitmap and a compressed list. The
// list has n (1 + l) + u / 2^l bits with l = floor(log2(u / n)) (Elias, "Efficient Storage and
// Retrieval by Content and Address of Static Files", 1974, and Fano, 1971). For any keys, the exact
// structures include a sorted array and a hash table. If the range is known, these two hold 64-bit
// integers, or 32-bit integers if the range allows it. Otherwise they hold keys of
// `needs.key_bytes`. Keys of at most 8 bytes are stored in the slots. Longer keys are stored in a
// row, and each slot has a 64-bit reference.
//
// With `engine`, the plan has lookup times: the times of the route that Engine(*engine) would
// choose for a batch of needs.batch_keys integers on the host.
//
// Throws Error(kInvalidArgument) for 0 keys, `fpr` out of range, a range with low above high or
// with fewer values than keys, a batch of 0 keys, and keys of 0 bytes. With `engine`, also throws
// the errors of the constructor of Engine.
FilterPlan PlanFilters(uint64_t keys, double fpr, const PlanNeeds& needs = {},
                       const EngineOptions* engine = nullptr);

// Returns the plan as a JSON object in several lines, without a final newline: the output of `tamis
// plan --json`.
std::string PlanJson(const FilterPlan& plan);

// Returns the kind that takes the fewest bytes for `capacity` keys at this rate, among `kind` and
// the kinds with all abilities of `kind`. Scalable and static kinds are not considered. Throws the
// errors of FilterBytes.
FilterKind SmallestKind(FilterKind kind, uint64_t capacity, double fpr);

// Returns a warning in one sentence if `kind` wastes memory at this rate: if it takes more than
// twice the bytes of SmallestKind. The warning names both kinds and their bits per key. Otherwise,
// or if the filter is large only because its rate is below fpr / 2 and cannot be higher, returns an
// empty string. Throws the errors of FilterBytes.
std::string SizingAdvice(FilterKind kind, uint64_t capacity, double fpr);

}  // namespace tamis

#endif  // TAMIS_PLAN_PLAN_H_
