#include "tools/input/integer_key.h"

#include <charconv>

namespace tamis::tools {
namespace {

constexpr char kBlanks[] = " \t";

std::from_chars_result Parse(std::string_view text, uint64_t& value) {
  const char* last = text.data() + text.size();
  if (!text.starts_with('-')) return std::from_chars(text.data(), last, value);
  int64_t negative = 0;
  const std::from_chars_result result = std::from_chars(text.data(), last, negative);
  value = static_cast<uint64_t>(negative);
  return result;
}

bool IsInteger(std::string_view text) {
  uint64_t ignored = 0;
  const std::from_chars_result result = Parse(text, ignored);
  return result.ptr == text.data() + text.size() && result.ec == std::errc();
}

// Returns why `text` is not an integer. Checks the text without blanks and sign with IsInteger, not
// recursively, because recursion would double the time with each blank and sign.
const char* Misfit(std::string_view text) {
  const std::string_view inner = WithoutBlanks(text);
  if (inner.size() < text.size() && IsInteger(inner)) {
    return "not a decimal integer (--trim removes the blanks around it)";
  }
  if (inner.starts_with('+') && !inner.starts_with("+-") && IsInteger(inner.substr(1))) {
    return "not a decimal integer (it has a plus sign)";
  }
  double number = 0;
  const char* last = inner.data() + inner.size();
  const auto [end, error] = std::from_chars(inner.data(), last, number);
  const bool is_decimal = inner.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  if (is_decimal && error != std::errc::invalid_argument && end == last) {
    if (inner.find('.') != std::string_view::npos) {
      return "not a decimal integer (it has a decimal point)";
    }
    if (inner.find_first_of("eE") != std::string_view::npos) {
      return "not a decimal integer (it has an exponent)";
    }
  }
  return "not a decimal integer";
}

}  // namespace

std::string_view WithoutBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return text.substr(0, 0);
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

const char* ParseIntegerKey(std::string_view text, uint64_t& value) {
  const std::from_chars_result result = Parse(text, value);
  if (result.ptr != text.data() + text.size() || result.ec == std::errc::invalid_argument) {
    return Misfit(text);
  }
  return result.ec == std::errc() ? nullptr : "an integer of more than 64 bits";
}

}  // namespace tamis::tools
