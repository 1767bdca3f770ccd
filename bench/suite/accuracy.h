// Rates of false positives, measured.
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
  uint64_t queries = 0;  // 4 Mi or more
};
// Of an open and filled subject.
MeasuredFpr MeasureFpr(Subject& subject, Way way, SuiteKeys& keys, Answers& answers);

// At several numbers of bits per key, in a filter of 1.5 MiB; one that takes no more keys than its
// capacity has only the one. The subject must not be open.
std::vector<Accuracy> MeasureAccuracy(Subject& subject, Way way);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_ACCURACY_H_
