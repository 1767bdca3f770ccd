// How the rows of one run compare with each other.
#ifndef TAMIS_BENCH_SUITE_RATIOS_H_
#define TAMIS_BENCH_SUITE_RATIOS_H_

#include <vector>

#include "bench/suite/results.h"

namespace tamis::bench {

// How many times as long a row takes as another: the median over the repetitions of the ratio
// within each, and the smallest and the largest of these.
struct Ratio {
  const Row* row = nullptr;
  const Row* to = nullptr;
  double median = 0, least = 0, most = 0;
};

// Each row against the bulk operation of its own kind on one thread, and against what the first
// kind takes for the same, or, of a concurrent kind, the plain one.
std::vector<Ratio> Ratios(const std::vector<Row>& rows);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_RATIOS_H_
