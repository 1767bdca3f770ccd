// Which points on the axes a run measures.
#ifndef TAMIS_BENCH_SUITE_PLAN_H_
#define TAMIS_BENCH_SUITE_PLAN_H_

#include <span>
#include <string>
#include <vector>

#include "bench/suite/axes.h"
#include "bench/suite/subject.h"

namespace tamis::bench {

enum class Mode : uint8_t { kQuick, kDefault, kFull };

// What takes turns in the memory of a size class: a subject, in huge pages or not.
struct Contender {
  Subject* subject = nullptr;
  bool huge_pages = true;
  std::vector<Case> builds = {};  // the last leaves the filter for the others
  std::vector<Case> others = {};
};

struct PlanInput {
  Mode mode = Mode::kDefault;
  std::span<const Backend* const> backends;  // the default one first
  unsigned processors = 1;
  // A regular expression for the names of cases; what does not match is left out, or, if it begins
  // with "-", what does. Empty: nothing is.
  std::string filter;
};

// Numbers of threads to measure: powers of two below the number of processors, and that number.
std::vector<unsigned> ThreadCounts(unsigned processors);

// Quick and default runs vary one axis at a time around one point (one thread, half of the queries
// hits, integers, huge pages, the default backend); a full run measures combinations. Contenders
// without a case are left out. Throws std::invalid_argument if the filter is no regular expression.
std::vector<Contender> ContendersFor(const SizeClass& size, const Subjects& subjects,
                                     const PlanInput& input);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_PLAN_H_
