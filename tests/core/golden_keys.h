// The keys of the golden files, as tests/golden/README.md describes them.
#ifndef TAMIS_TESTS_CORE_GOLDEN_KEYS_H_
#define TAMIS_TESTS_CORE_GOLDEN_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tamis {

inline std::vector<uint64_t> Integers(uint64_t n) {
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = i * 0x9E3779B97F4A7C15;
  return keys;
}

inline std::vector<std::string> Strings(size_t n) {
  std::vector<std::string> keys(n);
  for (size_t m = 0; m < n; ++m) {
    for (size_t i = 0; i < m; ++i) keys[m].push_back(static_cast<char>((m + i) % 256));
  }
  return keys;
}

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_GOLDEN_KEYS_H_
