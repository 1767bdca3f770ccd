#include "tools/format.h"

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
    // Not at the spaces before the first word.
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

std::string Printable(std::string_view text) {
  std::string printable;
  unsigned char before = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Bytes from 0x80 up are left alone, as most are part of a UTF-8 character; but 0xC2 with one
    // up to 0x9F are the control characters U+0080 to U+009F.
    if (byte < 0x20 || byte == 0x7F) {
      printable += Format("\\x%02X", byte);
    } else if (before == 0xC2 && byte >= 0x80 && byte < 0xA0) {
      printable.pop_back();
      printable += Format("\\xC2\\x%02X", byte);
    } else {
      printable += c;
    }
    before = byte;
  }
  return printable;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 40;
  return "\"" + Printable(text.substr(0, kMost)) + (text.size() > kMost ? "...\"" : "\"");
}

}  // namespace tamis::tools
