#include "tools/format.h"

#include <algorithm>
#include <cmath>
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

// Three significant digits, without an exponent for values below 1000.
std::string ThreeDigits(double value) {
  if (value >= 99.95) return Format("%.0f", value);
  return Format(value >= 9.995 ? "%.1f" : "%.2f", value);
}

}  // namespace

std::string HumanBytes(double bytes) {
  if (bytes < 1024) return Format("%.0f bytes", bytes);
  const char* unit = "";
  for (const char* prefix : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    bytes /= 1024;
    unit = prefix;
    if (bytes < 999.5) break;
  }
  return ThreeDigits(bytes) + " " + unit;
}

std::string HumanCount(double n) {
  if (n < 999.5) return Format("%.0f", n);
  const char* unit = "";
  for (const char* prefix : {"k", "M", "G", "T", "P", "E"}) {
    n /= 1000;
    unit = prefix;
    if (n < 999.5) break;
  }
  return ThreeDigits(n) + " " + unit;
}

std::string HumanSeconds(double seconds) {
  if (seconds < 0.9995e-3) return ThreeDigits(seconds * 1e6) + " us";
  if (seconds < 0.9995) return ThreeDigits(seconds * 1e3) + " ms";
  if (seconds < 99.95) return ThreeDigits(seconds) + " s";
  const auto whole = static_cast<unsigned long long>(std::llround(seconds));
  if (whole < 3600) return Format("%llu min %02llu s", whole / 60, whole % 60);
  return Format("%llu h %02llu min", whole / 3600, whole % 3600 / 60);
}

std::string Percent(double fraction, int digits) {
  if (fraction == 0) return "0%";
  return Format("%#.*g%%", digits, 100 * fraction);
}

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

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    // Bytes from 0x80 up are left alone: most are part of a UTF-8 character.
    if (byte < 0x20 || byte == 0x7F) {
      quoted += Format("\\x%02X", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + (text.size() > kMost ? "...\"" : "\"");
}

}  // namespace tamis::tools
