// Cuts work into waves, to bound the memory for commands and replies.
#ifndef TAMIS_REDIS_SRC_FILTER_WAVES_H_
#define TAMIS_REDIS_SRC_FILTER_WAVES_H_

#include <cstddef>
#include <cstdint>

namespace tamis::redis {

// Upper bound for the commands and replies that are in memory at the same time, in bytes.
inline constexpr uint64_t kWaveBytes = uint64_t{64} << 20;

// Calls `run(begin, end)` for ranges that cover 0 to `count`. The sum of `cost(i)` over a range
// exceeds kWaveBytes by at most the cost of the last element in the range.
template <typename Cost, typename Run>
void InWaves(size_t count, const Cost& cost, const Run& run) {
  for (size_t begin = 0; begin < count;) {
    size_t end = begin;
    for (uint64_t bytes = 0; end < count && (end == begin || bytes <= kWaveBytes); ++end) {
      bytes += cost(end);
    }
    run(begin, end);
    begin = end;
  }
}

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_WAVES_H_
