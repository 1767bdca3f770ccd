// The limits of the machine. The speed of a filter is reported as a share of them.
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
  double ns = 0;            // nanoseconds per cache line
  std::string_view method;  // the fastest method
};

// Independent reads of random cache lines of 64 bytes. A filter that reads one line for each key
// cannot be faster without reordering the keys.
//
// The offsets of the lines come from an array, as hashes do. The array is prefetched: if the lines
// are in a cache, reading the array costs as much as reading the lines. The best way to read is not
// known in advance, so six ways are tried: no prefetch, prefetch to the first-level cache 16, 32 or
// 64 lines ahead, and prefetch to the second-level cache 64 or 128 lines ahead.
class RandomLines {
 public:
  // Chooses `lines` random lines of a piece of memory of `bytes` bytes, at least 64.
  RandomLines(uint64_t bytes, size_t lines);

  // Reads the lines in `memory`, which has at least `bytes` bytes, with each method `passes` times.
  // If `passes` is more than 1, one more pass comes first to warm up. Returns the method with the
  // fastest median pass. Several threads divide the lines among them. The result is then the time
  // of the wall clock, divided by the number of all lines.
  LineLimit Measure(std::span<const std::byte> memory, int passes, unsigned threads = 1) const;

 private:
  size_t lines_;
  HugeVector<uint64_t> offsets_;  // has extra offsets, for the prefetches at the end
};

// Returns the bytes per nanosecond (10^9 bytes per second) of reading memory from end to end on one
// thread: the median of `passes`, after one pass to warm up.
double SequentialReadRate(std::span<const std::byte> memory, int passes);

// Returns the nanoseconds per integer key for hashing with XXH3 by the kernels of a backend. Keys
// and hashes are in the first-level cache. The result is the median of `passes`.
double HashNs(const Backend& backend, int passes);

// Returns the number of dependent 64-bit multiplications that this thread makes in a nanosecond.
// The number is the clock rate of the processor divided by the cycles of a multiplication, which
// differ between kinds of processors. Takes a few microseconds, and returns the fastest of a few
// passes.
double ChainedMultiplicationsPerNs();

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_LIMITS_H_
