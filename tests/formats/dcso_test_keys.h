// The keys of tests/golden/dcso/make_dcso.py, by number.
#ifndef TAMIS_TESTS_FORMATS_DCSO_TEST_KEYS_H_
#define TAMIS_TESTS_FORMATS_DCSO_TEST_KEYS_H_

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/test_util.h"

namespace tamis {

// Returns keys [0, n): in turn any bytes, and 40 upper-case hexadecimal digits.
inline std::vector<std::string> DcsoTestKeys(uint64_t n) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < n; ++i) {
    std::string key;
    if (i % 2 == 0) {
      for (uint64_t j = 0; j < i % 37; ++j) key.push_back(static_cast<char>(31 * i + 7 * j));
    } else {
      char text[41];
      std::snprintf(text, sizeof(text), "%016" PRIX64 "%016" PRIX64 "%08" PRIX64, Mix(i),
                    Mix(i + 1), Mix(i + 2) >> 32);
      key = text;
    }
    keys.push_back(key);
  }
  return keys;
}

}  // namespace tamis

#endif  // TAMIS_TESTS_FORMATS_DCSO_TEST_KEYS_H_
