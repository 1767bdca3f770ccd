// Compares the rows of one run with each other.
#ifndef TAMIS_BENCH_SUITE_RATIOS_H_
#define TAMIS_BENCH_SUITE_RATIOS_H_

#include <vector>

#include "bench/suite/results.h"

namespace tamis::bench {

// How many times as long `row` takes as `to`: the median, smallest and largest of the ratios within
// each repetition.
struct Ratio {
  const Row* row = nullptr;
  const Row* to = nullptr;
  double median = 0, least = 0, most = 0;
};

// Compares each row with the bulk operation of its own kind on one thread, and with the same
// operation of the first kind. A concurrent kind is compared with its plain kind instead.
std::vector<Ratio> Ratios(const std::vector<Row>& rows);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_RATIOS_H_
