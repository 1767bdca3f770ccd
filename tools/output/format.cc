#include "tools/output/format.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace tamis::tools {

std::string Format(const char* format, ...) {
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  const int size = std::vsnprintf(nullptr, 0, format, args);
  std::string text(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}

std::string WithCommas(uint64_t n) {
  std::string text = std::to_string(n);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string Counted(uint64_t n, std::string_view what) {
  return WithCommas(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

namespace {

constexpr size_t kNameWidth = 24;

}  // namespace

std::string Row(std::string_view name, std::string_view value) {
  std::string row = "  " + std::string(name);
  row.resize(std::max<size_t>(row.size() + 2, kNameWidth), ' ');
  row.append(value);
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

std::string Wrapped(std::string_view text, size_t indent, size_t width) {
  std::string lines;
  std::string line;
  while (line.size() + text.size() > width) {
    const size_t room = width - std::min(width, line.size());
    // Lines do not break at the spaces before the first word.
    const size_t word = std::min(text.find_first_not_of(' '), text.size());
    size_t space = text.rfind(' ', room);
    if (space == std::string_view::npos || space < word) space = text.find(' ', word);
    if (space == std::string_view::npos) break;
    line.append(text.substr(0, space));
    line.erase(line.find_last_not_of(' ') + 1);
    lines += line + "\n";
    text.remove_prefix(std::min(text.find_first_not_of(' ', space), text.size()));
    line.assign(indent, ' ');
  }
  return lines + line + std::string(text) + "\n";
}

namespace {

// Returns the length of the first character of `text` if this character is invisible or misleading:
// a control character, a blank other than the space, a character without width, or a character that
// changes the direction of text. Otherwise returns 0.
size_t UnseenBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  // In UTF-8: U+0080 to U+00A0, the soft hyphen, and U+2000 to U+200F, U+2028 to U+202F, U+205F to
  // U+206F, which are blanks and marks; U+1680 (Ogham space), U+3000 (wide space) and U+FEFF.
  if (byte(0) == 0xC2) return (byte(1) >= 0x80 && byte(1) <= 0xA0) || byte(1) == 0xAD ? 2 : 0;
  if (byte(0) == 0xE2 && byte(1) == 0x80) {
    return (byte(2) >= 0x80 && byte(2) <= 0x8F) || (byte(2) >= 0xA8 && byte(2) <= 0xAF) ? 3 : 0;
  }
  if (byte(0) == 0xE2 && byte(1) == 0x81) return byte(2) >= 0x9F && byte(2) <= 0xAF ? 3 : 0;
  for (const std::string_view blank : {"\xE1\x9A\x80", "\xE3\x80\x80", "\xEF\xBB\xBF"}) {
    if (text.starts_with(blank)) return blank.size();
  }
  return 0;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const size_t unseen = UnseenBytes(text);
    for (size_t i = 0; i < unseen; ++i) {
      printable += Format("\\x%02X", static_cast<unsigned>(static_cast<uint8_t>(text[i])));
    }
    if (unseen == 0) printable += text[0];
    text.remove_prefix(std::max<size_t>(unseen, 1));
  }
  return printable;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 40;
  return "\"" + Printable(text.substr(0, kMost)) + (text.size() > kMost ? "...\"" : "\"");
}

}  // namespace tamis::tools
