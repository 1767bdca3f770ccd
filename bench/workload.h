// Keys with a known truth: which of them are in the filter follows from how they are made.
#ifndef TAMIS_BENCH_WORKLOAD_H_
#define TAMIS_BENCH_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bench/huge_memory.h"

namespace tamis::bench {

inline constexpr uint64_t kBitsPerKey = 12;

constexpr uint64_t FilterBytes(uint64_t num_keys) { return num_keys * kBitsPerKey / 8; }

// Key i of an endless sequence without repetition: the output function of SplitMix64 (Steele, Lea
// and Flood, "Fast Splittable Pseudorandom Number Generators", 2014), a bijection.
constexpr uint64_t KeyAt(uint64_t i) {
  uint64_t z = (i + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// Keys 0 to n - 1 of the sequence.
HugeVector<uint64_t> MakeKeys(uint64_t n);

struct Queries {
  HugeVector<uint64_t> keys;
  HugeVector<uint8_t> present;  // 1 where the key is one of the first num_keys, else 0
};

// n queries, `hit_percent` of which in expectation, and in random order, are random ones of the
// first `num_keys` keys; the others are distinct keys beyond these. num_keys is below 2^32.
Queries MakeQueries(uint64_t num_keys, size_t n, int hit_percent);

// Strings of 16 bytes, one for each integer key.
struct Strings {
  explicit Strings(std::span<const uint64_t> keys);

  std::vector<uint64_t> words;
  std::vector<std::string_view> views;
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_WORKLOAD_H_
