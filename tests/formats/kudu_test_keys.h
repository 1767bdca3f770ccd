// The keys of tests/golden/kudu/make_kudu.py, by number.
#ifndef TAMIS_TESTS_FORMATS_KUDU_TEST_KEYS_H_
#define TAMIS_TESTS_FORMATS_KUDU_TEST_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tamis/formats/kudu.h"
#include "tests/test_util.h"

namespace tamis {

inline constexpr KuduType kKuduTypes[] = {KuduType::kInt8, KuduType::kInt16, KuduType::kInt32,
                                          KuduType::kInt64, KuduType::kBytes};

// Keys [0, n), integers or strings.
struct KuduTestKeys {
  std::vector<int64_t> integers;
  std::vector<std::string> strings;

  KuduTestKeys(KuduType type, size_t n) {
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t x = Mix(i);
      switch (type) {
        case KuduType::kInt8:
          integers.push_back(static_cast<int8_t>(x));
          break;
        case KuduType::kInt16:
          integers.push_back(static_cast<int16_t>(x));
          break;
        case KuduType::kInt32:
          integers.push_back(static_cast<int32_t>(x));
          break;
        case KuduType::kInt64:
          integers.push_back(static_cast<int64_t>(x));
          break;
        case KuduType::kBytes:
          strings.push_back(BytesOf(i));
          break;
      }
    }
  }

  Keys keys() const { return strings.empty() ? Keys(integers) : Keys(strings); }
  // Calls visit(key) with key i.
  template <typename Visit>
  auto Visit1(size_t i, const Visit& visit) const {
    return strings.empty() ? visit(static_cast<uint64_t>(integers[i]))
                           : visit(std::string_view(strings[i]));
  }

 private:
  static std::string BytesOf(uint64_t i) {
    std::string bytes;
    if (i == 0) return bytes;
    for (uint64_t j = 0; j < i % 37; ++j) bytes.push_back(static_cast<char>(31 * i + 7 * j));
    for (int j = 0; j < 4; ++j) bytes.push_back(static_cast<char>(i >> (8 * j)));
    return bytes;
  }
};

}  // namespace tamis

#endif  // TAMIS_TESTS_FORMATS_KUDU_TEST_KEYS_H_
