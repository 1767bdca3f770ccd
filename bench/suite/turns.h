// The repetitions of one size class: what takes turns, where, and what came of it so far.
#ifndef TAMIS_BENCH_SUITE_TURNS_H_
#define TAMIS_BENCH_SUITE_TURNS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bench/huge_memory.h"
#include "bench/limits.h"
#include "bench/suite/keys.h"
#include "bench/suite/results.h"
#include "bench/suite/schedule.h"

namespace tamis::bench {

inline constexpr uint64_t kMaxLimitLines = uint64_t{1} << 23;

// What kinds round up to, and some have beside the filter.
constexpr uint64_t ArenaBytes(uint64_t filter_bytes) {
  return filter_bytes + filter_bytes / 8 + (uint64_t{1} << 20);
}

struct Turns {
  struct Rates {
    double fpr = 0;
    std::optional<double> expected;
  };

  // `strings`: whether they are among the keys; columns of them only where they are asked for.
  Turns(const SizeClass& size_class, std::vector<Contender> all, bool strings);

  // The memory of this repetition.
  Arena& arena(bool huge_pages) {
    return huge_pages ? huge_places[repetition % huge_places.size()] : *plain;
  }
  // The random cache lines that are read at a time to measure the limit.
  uint64_t num_lines() const;

  // Nanoseconds per random cache line in this repetition, for what is measured like this; 0 for a
  // GPU, which reads other memory.
  double LimitNs(const Case& c, bool huge_pages) const;

  // What the repetitions up to that number will take, if they take as long as the last one.
  double SecondsUntil(size_t count) const;

  void AddLimit(const Limit& sample, double per_second);

  const SizeClass& size;
  std::vector<Contender> contenders;
  std::deque<Arena> huge_places;
  std::optional<Arena> plain;  // without huge pages; nothing if nobody needs it
  std::optional<SuiteKeys> keys;
  std::optional<RandomLines> lines;
  std::optional<Answers> answers;
  std::optional<Answers> reference;  // of portable, to one contender and some queries
  std::pair<const void*, const void*> reference_of;
  std::map<std::pair<unsigned, bool>, double> line_ns;  // of this repetition; threads, huge pages
  std::map<std::pair<Subject*, bool>, Rates> rates;     // by subject and huge pages
  std::vector<Limit> limits;
  std::vector<Row> rows;          // in the order of the first repetition
  size_t repetition = 0;          // so many are done
  double seconds = 0;             // that they took
  double repetition_seconds = 0;  // of the last one
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_TURNS_H_
