#include "redis/src/client/line_reader.h"

#include <charconv>

#include "redis/src/client/url.h"
#include "redis/src/filter/layout.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::redis {

std::string_view LineReader::Value(std::string_view name) {
  ++line_;
  const size_t end = rest_.find('\n');
  if (end == std::string_view::npos) Refuse("is missing or incomplete");
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  if (line.size() <= name.size() || !line.starts_with(name) || line[name.size()] != ' ') {
    Refuse("does not begin with \"" + std::string(name) + " \"");
  }
  return line.substr(name.size() + 1);
}

uint64_t LineReader::Number(std::string_view name, uint64_t min, uint64_t max) {
  uint64_t number = 0;
  if (!ParseDecimal(Value(name), max, number) || number < min) {
    Refuse(detail::StrCat("is not a number in [", min, ", ", max, "]"));
  }
  return number;
}

uint64_t LineReader::Hex(std::string_view name) {
  const std::string_view text = Value(name);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || HexText(number) != text)
    Refuse("does not have 16 hexadecimal digits");
  return number;
}

void LineReader::End() {
  ++line_;
  if (!rest_.empty()) Refuse("follows the last line");
}

void LineReader::Refuse(const std::string& why) const {
  throw Error(ErrorCode::kCorrupt, detail::StrCat(what_, " is damaged: line ", line_, " ", why));
}

}  // namespace tamis::redis
