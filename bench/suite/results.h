// The results of a run of the suite.
#ifndef TAMIS_BENCH_SUITE_RESULTS_H_
#define TAMIS_BENCH_SUITE_RESULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/suite/axes.h"
#include "bench/suite/percentiles.h"

namespace tamis::bench {

// One row. There is one sample for each repetition.
struct Row {
  std::string name;
  std::string kind;
  std::string library;
  Case point;
  std::string size_class;
  bool huge_pages = true;
  uint64_t filter_bytes = 0;
  uint64_t num_keys = 0;    // in the filter
  uint64_t batch_keys = 0;  // keys of one pass
  double fpr = 0;           // measured
  std::optional<double> expected_fpr = std::nullopt;
  std::vector<double> ns_per_key = {};
  // Share of the limit of random lines in the same repetition, with the same threads and pages.
  std::vector<double> share_of_limit = {};
  // Means of ChainedMultiplicationsPerNs before and after a sample. Not for GPUs.
  std::vector<double> clock = {};
};

struct Limit {
  std::string name;  // "random_lines", "sequential_read" or "hash"
  std::string size_class;
  unsigned threads = 1;
  bool huge_pages = true;
  std::string unit;                     // counted by the samples: lines, bytes or keys
  std::string method = {};              // the fastest method in the last repetition
  std::vector<double> per_second = {};  // samples
};

// A measured false-positive rate and the rate from theory, for a filter of 1 M keys.
struct Accuracy {
  std::string kind;
  std::string library;
  double bits_per_key = 0;
  uint64_t num_keys = 0;
  uint64_t queries = 0;
  double fpr = 0;
  std::optional<double> expected_fpr = std::nullopt;
};

// The times of small calls, one after the other. See latency.h.
struct Latency {
  std::string name;
  std::string kind;
  std::string backend;
  unsigned threads = 1;  // threads of the engine
  std::string size_class;
  uint64_t filter_bytes = 0;
  uint64_t num_keys = 0;                    // in the filter
  uint32_t call_keys = 1;                   // keys of one small call
  std::string beside;                       // what another thread did at the same time
  unsigned large_threads = 0;               // threads of the other engine; 0: no other thread
  uint64_t large_keys = 0;                  // keys of one call of the other thread
  uint64_t calls = 0;                       // small calls of all repetitions
  std::vector<Percentiles> ns = {};         // times of a call, for each repetition
  std::vector<double> p99_over_alone = {};  // p99 beside the other thread, relative to p99 alone
};

// A backend whose results differ from those of `portable`. It has no rows.
struct Refusal {
  std::string backend;
  std::string kind;
  std::string what;
};

using Context = std::vector<std::pair<std::string, std::string>>;

struct Results {
  std::string mode;  // ModeName
  double seconds = 0;
  std::optional<double> other_processors;  // OtherLoad::Processors
  Context context;
  Caches caches;
  uint64_t memory_bytes = 0;
  unsigned processors = 1;
  std::string default_backend;
  std::vector<std::string> backends;
  std::vector<std::pair<std::string, std::string>> peers;  // kind and library
  std::vector<SizeClass> sizes;
  std::vector<Limit> limits;
  std::vector<Row> rows;
  std::vector<Accuracy> accuracy;
  std::vector<Latency> latencies;
  std::vector<Refusal> refusals;
};

// The version of the file's format. It changes if programs that read the file must be changed.
inline constexpr int kSchemaVersion = 2;

// Throws std::runtime_error if the file cannot be written. Leaves no new file behind, because after
// a failed or stopped run such a file would look like a result. If `path` is empty, does nothing.
void RequireWritable(const std::string& path);

// Writes `results` in the format of report/tamis_report/schema.json. Throws std::runtime_error if
// the file cannot be written.
void WriteResults(const std::string& path, const Results& results);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_RESULTS_H_
