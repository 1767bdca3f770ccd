// Measures lookups in the same way as the Java programs with which these tests compare.
#ifndef TAMIS_TESTS_FORMATS_PEER_TIMING_H_
#define TAMIS_TESTS_FORMATS_PEER_TIMING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "tamis/keys.h"

namespace tamis {

// Prints the best of seven rounds.
template <typename F>
void TimeLookups(const std::string& name, size_t capacity, const F& filter, const Keys& keys) {
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  double best = std::numeric_limits<double>::max();
  size_t found = 0;
  for (int round = 0; round < 7; ++round) {
    const std::clock_t begin = std::clock();  // processor time, which excludes other processes
    found = filter.Contains(keys, Bitmap(bits));
    const auto seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    best = std::min(best, 1e9 * seconds / static_cast<double>(keys.size()));
  }
  std::printf("%s %zu: %.2f ns a lookup, %zu found\n", name.c_str(), capacity, best, found);
}

}  // namespace tamis

#endif  // TAMIS_TESTS_FORMATS_PEER_TIMING_H_
