// Measures the time of small calls, alone and beside the largest calls on the same engine.
#ifndef TAMIS_BENCH_SUITE_LATENCY_H_
#define TAMIS_BENCH_SUITE_LATENCY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/machine.h"
#include "bench/suite/axes.h"
#include "bench/suite/progress.h"
#include "bench/suite/results.h"
#include "bench/suite/schedule.h"

namespace tamis::bench {

// The calls that another thread makes at the same time, one after the other.
enum class Beside : uint8_t {
  kNothing,
  kContains,      // on the same engine, in the largest filter measured
  kInsert,        // on the same engine, into another filter of the same size
  kContainsApart  // kContains on a separate engine, with one thread fewer
};

// Returns "nothing", "contains", "insert" or "contains_apart".
std::string_view BesideName(Beside beside) noexcept;

// Small calls of `call_keys` keys, half of them hits, into one filter of the default kind.
struct LatencyCase {
  SizeClass size;
  uint32_t call_keys = 1;
  Beside beside = Beside::kNothing;

  friend bool operator==(const LatencyCase& a, const LatencyCase& b) {
    return a.size.name == b.size.name && a.call_keys == b.call_keys && a.beside == b.beside;
  }
};

// Returns a name such as
// "split_block/latency/backend:AVX2/threads:2/size:L2/call:100/beside:insert". `threads` is the
// number of threads of the engine that makes the small calls.
std::string LatencyName(const LatencyCase& c, const Backend& backend, unsigned threads);

struct LatencySchedule {
  std::vector<LatencyCase> cases;
  size_t repetitions = 0;
  double window_seconds = 0;  // time for one case in one repetition
  uint64_t large_keys = 0;    // keys of one of the largest calls

  // Returns an estimate of the seconds for all cases on a machine that is not slow. Includes
  // waiting for the largest calls to end.
  double Seconds() const;
};

struct LatencyInput {
  Mode mode = Mode::kDefault;
  std::span<const SizeClass> sizes = {};  // the measured sizes
  Caches caches = {};
  unsigned processors = 1;
  // Bytes of a filter, and of the keys of one of the largest calls.
  uint64_t max_bytes = ~uint64_t{0};
  const Backend* backend = nullptr;
  std::string filter = {};  // the text of a NameFilter
  // A fixed number. Nothing: 5 to 11, depending on the mode.
  std::optional<size_t> repetitions = std::nullopt;
};

// Returns a schedule with calls of 1, 100 and 1,000 keys, and of 100,000 keys unless the run is
// quick. The calls query a filter in L2 and a filter in memory, if these sizes are measured. The
// schedule is empty in modes that compare speeds, because these modes have other sizes. Throws
// std::invalid_argument if the filter is not a valid regular expression.
LatencySchedule LatencyScheduleFor(const LatencyInput& input);

// Adds to results.latencies, in the order of the cases. Throws std::runtime_error if an answer
// differs from the answer of the backend `portable`.
void MeasureLatencies(const LatencySchedule& schedule, const Backend& backend,
                      const Pinning& pinning, Progress& progress, Results& results);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_LATENCY_H_
