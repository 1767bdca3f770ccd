// The repetitions of one size class: the contenders, their memory, and the results so far.
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

// Returns the bytes of an arena, with extra room for kinds that round up their size or have other
// data besides the filter.
constexpr uint64_t ArenaBytes(uint64_t filter_bytes) {
  return filter_bytes + filter_bytes / 8 + (uint64_t{1} << 20);
}

struct Turns {
  struct Rates {
    double fpr = 0;
    std::optional<double> expected;
  };

  // `strings`: whether views of strings are among the keys. Columns of strings are made only if a
  // case needs them.
  Turns(const SizeClass& size_class, std::vector<Contender> all, bool strings);

  // Returns the memory of this repetition.
  Arena& arena(bool huge_pages) {
    return huge_pages ? huge_places[repetition % huge_places.size()] : *plain;
  }
  // Returns the number of random cache lines that are read at a time to measure the limit.
  uint64_t num_lines() const;

  // Returns the nanoseconds per random cache line in this repetition, with the threads of `c`.
  // Returns 0 for a GPU, which reads other memory.
  double LimitNs(const Case& c, bool huge_pages) const;

  // Returns the seconds until `count` repetitions are done, if each takes as long as the last one.
  double SecondsUntil(size_t count) const;

  void AddLimit(const Limit& sample, double per_second);

  const SizeClass& size;
  std::vector<Contender> contenders;
  std::deque<Arena> huge_places;
  std::optional<Arena> plain;  // without huge pages; nothing if no contender needs it
  std::optional<SuiteKeys> keys;
  std::optional<RandomLines> lines;
  std::optional<Answers> answers;
  std::optional<Answers> reference;  // answers of portable, for one contender and its queries
  std::pair<const void*, const void*> reference_of;
  // In this repetition, by threads and huge pages.
  std::map<std::pair<unsigned, bool>, double> line_ns;
  std::map<std::pair<Subject*, bool>, Rates> rates;  // by subject and huge pages
  std::vector<Limit> limits;
  std::vector<Row> rows;          // have the order of the first repetition
  size_t repetition = 0;          // repetitions that are done
  double seconds = 0;             // time of all repetitions
  double repetition_seconds = 0;  // time of the last repetition
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_TURNS_H_
