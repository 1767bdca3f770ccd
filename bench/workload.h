// Generated keys, so that the correct answer for each key is known.
#ifndef TAMIS_BENCH_WORKLOAD_H_
#define TAMIS_BENCH_WORKLOAD_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tamis::bench {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kBitsPerKey = 12;

constexpr uint64_t FilterBytes(uint64_t num_keys) { return num_keys * kBitsPerKey / 8; }

// Returns key `i` of an endless sequence without repetition: the output function of SplitMix64
// (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014), a bijection.
constexpr uint64_t KeyAt(uint64_t i) {
  uint64_t z = (i + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// Calls visit(keys) for batches of the keys [first, first + n) of a sequence.
template <typename Visit>
void ForEachBatch(uint64_t first, uint64_t n, const Visit& visit,
                  uint64_t (*at)(uint64_t) = KeyAt) {
  constexpr uint64_t kBatch = 1'000'000;
  std::vector<uint64_t> keys;
  for (uint64_t done = 0; done < n; done += keys.size()) {
    keys.resize(std::min(kBatch, n - done));
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = at(first + done + i);
    visit(keys);
  }
}

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_WORKLOAD_H_
