#include "bindings/c/src/json_text.h"

#include <charconv>
#include <cmath>

namespace tamis::c {
namespace {

// Returns the size of the first UTF-8 character of the text, or 0 if the text begins with invalid
// UTF-8.
size_t CharacterSize(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = at(0);
  const size_t size = lead < 0x80            ? 1
                      : lead >> 5 == 0b110   ? 2
                      : lead >> 4 == 0b1110  ? 3
                      : lead >> 3 == 0b11110 ? 4
                                             : 0;
  if (size == 0 || size > text.size()) return 0;
  uint32_t code = size == 1 ? lead : lead & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if (at(i) >> 6 != 0b10) return 0;
    code = code << 6 | (at(i) & 0x3Fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < kLeast[size] || code > 0x10FFFF || surrogate ? 0 : size;
}

}  // namespace

void JsonText::String(std::string_view value) {
  constexpr char kHex[] = "0123456789abcdef";
  Next();
  text_ += '"';
  while (!value.empty()) {
    const size_t size = CharacterSize(value);
    const char c = value[0];
    if (size == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (size == 1 && (static_cast<uint8_t>(c) < 0x20 || c == 0x7F)) {
      text_ += "\\u00";
      text_ += kHex[c >> 4];
      text_ += kHex[c & 15];
    } else {
      text_ += value.substr(0, size);
    }
    value.remove_prefix(size == 0 ? 1 : size);
  }
  text_ += '"';
}

void JsonText::Number(uint64_t value) {
  Next();
  text_ += std::to_string(value);
}

void JsonText::Number(double value) {
  Next();
  if (!std::isfinite(value)) {
    text_ += "null";
    return;
  }
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
  text_.append(digits, end);
}

void JsonText::Bool(bool value) {
  Next();
  text_ += value ? "true" : "false";
}

}  // namespace tamis::c
