// Measures false-positive rates.
#ifndef TAMIS_BENCH_SUITE_ACCURACY_H_
#define TAMIS_BENCH_SUITE_ACCURACY_H_

#include <cstdint>
#include <vector>

#include "bench/suite/keys.h"
#include "bench/suite/results.h"
#include "bench/suite/subject.h"

namespace tamis::bench {

struct MeasuredFpr {
  double fpr = 0;
  uint64_t queries = 0;  // number of measured queries, at least 4 Mi
};
// Measures the false-positive rate of an open and filled subject.
MeasuredFpr MeasureFpr(Subject& subject, Way way, SuiteKeys& keys, Answers& answers);

// Measures the false-positive rate of a filter of 1.5 MiB at several numbers of bits per key. If a
// subject takes no more keys than its capacity, it is measured only at its capacity. The subject
// must not be open.
std::vector<Accuracy> MeasureAccuracy(Subject& subject, Way way);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_ACCURACY_H_
