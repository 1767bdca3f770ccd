// The machine's own limits, to which the speed of a filter is a share.
#ifndef TAMIS_BENCH_LIMITS_H_
#define TAMIS_BENCH_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bench/huge_memory.h"
#include "tamis/backend.h"

namespace tamis::bench {

struct LineLimit {
  double ns = 0;            // per cache line
  std::string_view method;  // the fastest
};

// Independent reads of random cache lines of 64 bytes: what a filter that reads one line for each
// key cannot beat without reordering the keys.
//
// The offsets of the lines come from an array, as hashes do, which is prefetched: streaming through
// it costs as much as the lines where they are in a cache. Nobody knows beforehand how best to
// read, so all of these are tried: no prefetch, prefetch to the first-level cache 16, 32 or 64
// lines ahead, to the second-level cache 64 or 128 lines ahead.
class RandomLines {
 public:
  // `lines` random lines of a piece of memory of `bytes`, 64 or more.
  RandomLines(uint64_t bytes, size_t lines);

  // Reads them in `memory`, of `bytes` or more, with each method `passes` times, after once to
  // warm up if that is more than one. Returns the method whose median pass was the fastest. Several
  // threads share the lines, and nanoseconds are those of the wall, divided by all lines.
  LineLimit Measure(std::span<const std::byte> memory, int passes, unsigned threads = 1) const;

 private:
  size_t lines_;
  HugeVector<uint64_t> offsets_;  // some more than lines, for the prefetches at the end
};

// Bytes per nanosecond (10^9 bytes per second) of reading memory from end to end on one thread: the
// median of `passes`, after one to warm up.
double SequentialReadRate(std::span<const std::byte> memory, int passes);

// Nanoseconds to hash an integer key with XXH3 with the kernels of a backend, from and to the
// first-level cache: the median of `passes`.
double HashNs(const Backend& backend, int passes);

// Multiplications of 64 bits, each of what the one before gave, that this thread makes in a
// nanosecond: what the clock of its processor is at, up to a number of cycles that is the
// processor's own. Takes some microseconds, the shortest of a few passes.
double ChainedMultiplicationsPerNs();

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_LIMITS_H_
