// One run that measures all contenders against each other and against the machine's limit.
#ifndef TAMIS_BENCH_COMPARISON_H_
#define TAMIS_BENCH_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/contender.h"
#include "bench/machine.h"

namespace tamis::bench {

inline constexpr char kLineLimit[] = "random-line limit";

// Samples are nanoseconds per key, one for each repetition: the median of passes in a row.
struct Row {
  std::string name;
  double bits_per_key = 0;  // 0 for the limit
  double fpr = 0;           // measured on the absent ones of the queries
  // The build right after the filter was made, which warms up for the others. It can cost more even
  // at the largest sizes: memory that is freed goes back to the host of a virtual machine after a
  // while, and whoever asks for buffers then waits until the host has found some.
  std::vector<double> first_build_ns;
  std::vector<double> build_ns;
  std::vector<double> lookup_ns;
};

struct SizeResult {
  uint64_t keys = 0;
  size_t queries = 0;
  std::vector<Row> rows;                   // the limit first
  std::vector<std::string> limit_methods;  // the fastest of each repetition
  // Of the time of one-thread measurements, the share in which the thread had its processor: less
  // than all of it means that other work ran on the machine.
  double processor_share = 0;
};

struct SizePlan {
  uint64_t keys;
  size_t queries;
  int repetitions;
};

// In each repetition every contender takes the arena once, in an order that rotates: it builds, and
// answers the queries, half of which are hits, each after a pass to warm up. So a slow phase of the
// machine meets all of them, and none evicts what another has in cache. Throws std::runtime_error
// if one gives a false negative, for then its time is worth nothing.
SizeResult Compare(const SizePlan& plan, const Contenders& contenders, Arena& arena,
                   const Pinning& pinning);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_COMPARISON_H_
