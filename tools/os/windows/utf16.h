// UTF-16, which consoles of Windows return, as UTF-8.
#ifndef TAMIS_TOOLS_OS_WINDOWS_UTF16_H_
#define TAMIS_TOOLS_OS_WINDOWS_UTF16_H_

#include <string>
#include <string_view>
#include <utility>

namespace tamis::tools::os {

// Decodes text that arrives in parts. A part may end inside a character, because a character is one
// unit or a pair of surrogates.
class Utf16Decoder {
 public:
  // Returns the characters that are complete. A surrogate without its other half becomes U+FFFD.
  std::string Decode(std::u16string_view units) {
    std::string text;
    for (const char16_t unit : units) {
      const char32_t high = std::exchange(high_, 0);
      if (high != 0 && IsLow(unit)) {
        Append(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), text);
        continue;
      }
      if (high != 0) Append(kReplacement, text);
      if (IsHigh(unit)) {
        high_ = unit;
      } else {
        Append(IsLow(unit) ? kReplacement : char32_t{unit}, text);
      }
    }
    return text;
  }

 private:
  static constexpr char32_t kReplacement = 0xFFFD;

  static bool IsHigh(char16_t unit) { return (unit & 0xFC00) == 0xD800; }
  static bool IsLow(char16_t unit) { return (unit & 0xFC00) == 0xDC00; }

  static void Append(char32_t c, std::string& text) {
    const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
    if (c < 0x80) {
      text += static_cast<char>(c);
    } else if (c < 0x800) {
      text += static_cast<char>(0xC0 | c >> 6);
      tail(0);
    } else if (c < 0x10000) {
      text += static_cast<char>(0xE0 | c >> 12);
      tail(6);
      tail(0);
    } else {
      text += static_cast<char>(0xF0 | c >> 18);
      tail(12);
      tail(6);
      tail(0);
    }
  }

  char16_t high_ = 0;  // a first half whose second half has not arrived, or 0
};

}  // namespace tamis::tools::os

#endif  // TAMIS_TOOLS_OS_WINDOWS_UTF16_H_
