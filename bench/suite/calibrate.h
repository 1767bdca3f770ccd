// The figures that Engine goes by, measured as the suite measures everything.
#ifndef TAMIS_BENCH_SUITE_CALIBRATE_H_
#define TAMIS_BENCH_SUITE_CALIBRATE_H_

#include <cstddef>
#include <cstdint>

#include "bench/machine.h"
#include "bench/suite/progress.h"
#include "bench/suite/sampler.h"
#include "tamis/calibration.h"

namespace tamis::bench {

// As Calibration::Measure, which a library without this program has to do with in seconds: the same
// sizes, but medians of so many repetitions that take turns, in huge pages that all backends share.
// The time until a thread starts is the typical one, for only the library can see its threads.
Calibration MeasureCalibration(uint64_t max_filter_bytes, size_t repetitions,
                               const Pinning& pinning, Sampler& sampler, Progress& progress);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_CALIBRATE_H_
