#include "tools/input/hex_key.h"

#include <algorithm>
#include <cstddef>

#include "tools/input/integer_key.h"

namespace tamis::tools {
namespace {

// Returns -1 for other characters.
int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return Digit(c) >= 0; });
}

}  // namespace

const char* AppendHexKey(std::string_view text, std::string& bytes) {
  if (!IsHex(text)) {
    return IsHex(WithoutBlanks(text)) ? "not hexadecimal (--trim removes the blanks around it)"
                                      : "not hexadecimal";
  }
  if (text.size() % 2 != 0) return "an odd number of hexadecimal digits";
  for (size_t i = 0; i < text.size(); i += 2) {
    bytes += static_cast<char>(16 * Digit(text[i]) + Digit(text[i + 1]));
  }
  return nullptr;
}

}  // namespace tamis::tools
