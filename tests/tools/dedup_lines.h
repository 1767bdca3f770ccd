// Lines for the tests of tamis dedup, and the output that it must write for them.
#ifndef TAMIS_TESTS_TOOLS_DEDUP_LINES_H_
#define TAMIS_TESTS_TOOLS_DEDUP_LINES_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "tests/test_util.h"

namespace tamis::tools {

// Returns random lines, some of which repeat. Some are empty, and some end in CRLF.
inline std::string RandomLines(size_t n, uint64_t different, uint64_t seed) {
  Random random(seed);
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t line = random.Below(different);
    if (line > 0) text += std::string(Mix(line) % 90, 'x') + std::to_string(line);
    text += random.Below(10) == 0 ? "\r\n" : "\n";
  }
  return text;
}

inline std::string FirstOfEach(std::string_view text) {
  std::set<std::string_view> seen;
  std::string firsts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);
    const size_t end = line.find_last_not_of("\r\n");
    if (seen.insert(line.substr(0, end + 1)).second) firsts += line;
    text.remove_prefix(line.size());
  }
  return firsts;
}

}  // namespace tamis::tools

#endif  // TAMIS_TESTS_TOOLS_DEDUP_LINES_H_
