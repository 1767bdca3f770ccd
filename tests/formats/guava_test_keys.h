// The keys of tests/golden/guava/GuavaFilters.java, by number.
#ifndef TAMIS_TESTS_FORMATS_GUAVA_TEST_KEYS_H_
#define TAMIS_TESTS_FORMATS_GUAVA_TEST_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tamis/formats/guava.h"
#include "tests/test_util.h"

namespace tamis {

inline constexpr GuavaFunnel kGuavaFunnels[] = {GuavaFunnel::kLong, GuavaFunnel::kInt,
                                                GuavaFunnel::kBytes, GuavaFunnel::kUtf8,
                                                GuavaFunnel::kUnencodedChars};
inline constexpr GuavaStrategy kGuavaStrategies[] = {GuavaStrategy::kMurmur128Mitz32,
                                                     GuavaStrategy::kMurmur128Mitz64};

inline std::string GuavaTestName(GuavaFunnel funnel, GuavaStrategy strategy) {
  return std::string(GuavaFunnelName(funnel)) +
         (strategy == GuavaStrategy::kMurmur128Mitz32 ? "_mitz32" : "_mitz64");
}

// Keys [0, n), of one of the three types.
struct GuavaTestKeys {
  std::vector<uint64_t> longs;
  std::vector<int32_t> ints;
  std::vector<std::string> strings;

  GuavaTestKeys(GuavaFunnel funnel, size_t n) : funnel_(funnel) {
    for (uint64_t i = 0; i < n; ++i) {
      switch (funnel) {
        case GuavaFunnel::kLong:
          longs.push_back(Mix(i));
          break;
        case GuavaFunnel::kInt:
          ints.push_back(static_cast<int32_t>(i * 0x9E3779B1));
          break;
        case GuavaFunnel::kBytes:
          strings.push_back(BytesOf(i));
          break;
        case GuavaFunnel::kUtf8:
          strings.push_back(TextOf(i, "\xC3\xBC"));
          break;
        case GuavaFunnel::kUnencodedChars:
          strings.push_back(TextOf(i, "\xED\xA0\x80"));  // an unpaired surrogate
          break;
      }
    }
  }

  Keys keys() const {
    if (funnel_ == GuavaFunnel::kLong) return longs;
    if (funnel_ == GuavaFunnel::kInt) return ints;
    return strings;
  }
  // Calls visit(key) with key i.
  template <typename Visit>
  auto Visit1(size_t i, const Visit& visit) const {
    if (funnel_ == GuavaFunnel::kLong) return visit(longs[i]);
    if (funnel_ == GuavaFunnel::kInt) return visit(static_cast<uint64_t>(int64_t{ints[i]}));
    return visit(std::string_view(strings[i]));
  }

 private:
  static std::string BytesOf(uint64_t i) {
    std::string bytes;
    for (uint64_t j = 0; j < i % 37; ++j) bytes.push_back(static_cast<char>(31 * i + 7 * j));
    for (int j = 0; j < 4; ++j) bytes.push_back(static_cast<char>(i >> (8 * j)));
    return bytes;
  }
  static std::string TextOf(uint64_t i, const char* last) {
    const char* const letters[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x90\x8D\x88", last};
    std::string text = std::to_string(i);
    for (uint64_t j = 0; j < i % 11; ++j) text += letters[(i + j) % 5];
    return text;
  }

  GuavaFunnel funnel_;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_FORMATS_GUAVA_TEST_KEYS_H_
