// Numbers as users write and read them: values of options, integer keys, secrets, and formatted
// figures. For any text, the outcome is its value, checked by string arithmetic, or an Error that
// names the option and has no control characters.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/units.h"
#include "tests/fuzz/memory_file.h"
#include "tools/input/integer_key.h"
#include "tools/options/parse.h"
#include "tools/options/secret.h"

namespace tamis::tools {
namespace {

constexpr std::string_view kOption = "--option";

bool AreDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void RequirePrintable(std::string_view text) {
  Require(std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }));
}

// Returns the result of `parse`, or nothing if it refuses the text.
template <typename T>
std::optional<T> Parsed(T (*parse)(std::string_view, std::string_view), std::string_view text) {
  try {
    return parse(kOption, text);
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kInvalidArgument);
    Require(std::string_view(error.what()).starts_with(kOption));
    RequirePrintable(error.what());
    return std::nullopt;
  }
}

std::string WithoutZerosAtFront(const std::string& digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}

// Returns all digits of a number that ParseCount has accepted.
std::string WrittenOut(std::string_view text) {
  int exponent = 0;
  constexpr std::pair<char, int> kSuffixes[] = {{'k', 3}, {'K', 3}, {'M', 6}, {'G', 9}, {'T', 12}};
  for (const auto& [suffix, digits] : kSuffixes) {
    if (!text.ends_with(suffix)) continue;
    exponent = digits;
    text.remove_suffix(1);
    break;
  }
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    exponent += std::stoi(std::string(text.substr(e + 1)));
    text = text.substr(0, e);
  }
  std::string whole, fraction;
  bool past_point = false;
  for (const char c : text) {
    if (c == '.') past_point = true;
    if (c >= '0' && c <= '9') (past_point ? fraction : whole) += c;
  }
  for (; exponent > 0; --exponent) {
    whole += fraction.empty() ? '0' : fraction.front();
    fraction.erase(0, 1);
  }
  for (; exponent < 0; ++exponent) {
    fraction.insert(0, 1, whole.empty() ? '0' : whole.back());
    if (!whole.empty()) whole.pop_back();
  }
  Require(fraction.find_first_not_of('0') == std::string::npos);
  return WithoutZerosAtFront(whole);
}

void ReadCounts(std::string_view text) {
  const auto count = Parsed(ParseCount, text);
  if (count) Require(std::to_string(*count) == WrittenOut(text));
  if (AreDigits(text) && text.size() <= 19) Require(count.has_value());
  const auto positive = Parsed(ParsePositiveCount, text);
  Require(count.value_or(0) == positive.value_or(0));
  const auto bytes = Parsed(ParseBytes, text);
  Require(bytes != uint64_t{0});
  if (AreDigits(text)) Require(bytes.value_or(0) == count.value_or(0));
  if (!bytes) return;
  const bool binary = text.ends_with("iB") || !text.ends_with('B');
  const std::string number(text.substr(0, text.find_last_of("0123456789.") + 1));
  if (number.size() < text.size()) {
    const char prefix = text[number.size()];
    if (binary) {
      const auto units = Parsed(ParseCount, number);
      const auto power = std::string_view("KMGT").find(prefix) + 1;
      Require(units && *bytes == *units << (10 * power));
    } else {
      Require(Parsed(ParseCount, number + prefix) == bytes);
    }
  }
}

void ReadRates(std::string_view text) {
  if (const auto rate = Parsed(ParseFpr, text)) Require(*rate >= kMinFpr && *rate <= kMaxFpr);
  if (const auto bad = Parsed(ParseMaxBad, text)) {
    Require(bad->share >= 0 && bad->share <= 1);
    for (const uint64_t lines : {uint64_t{0}, uint64_t{1000}}) {
      Require(bad->count || bad->Of(lines) <= std::max<uint64_t>(lines, 1));
    }
  }
  if (const auto threads = Parsed(ParseThreads, text)) Require(*threads >= 1 && *threads <= 1024);
  if (const auto c = Parsed(ParseSeparator, text)) Require(text == std::string_view(&*c, 1));
}

void ReadRanges(std::string_view text) {
  if (const auto range = Parsed(ParseRange, text)) {
    Require(range->low <= range->high);
    const size_t colon = text.find(':');
    Require(std::to_string(range->low) == WrittenOut(text.substr(0, colon)));
    Require(std::to_string(range->high) == WrittenOut(text.substr(colon + 1)));
  }
  if (const auto digits = Parsed(ParseDigits, text)) {
    Require(std::to_string(digits->high) ==
            std::string(static_cast<size_t>(std::stoi(std::string(text))), '9'));
  }
  if (text != "random") {
    if (const auto seed = Parsed(ParseSeed, text); seed && AreDigits(text)) {
      Require(std::to_string(*seed) == WithoutZerosAtFront(std::string(text)));
    }
  }
}

void ReadTime(std::string_view text) {
  using std::chrono::system_clock;
  const system_clock::time_point before = system_clock::now();
  const auto time = Parsed(ParseTime, text);
  if (!time) return;
  Require(*time >= std::chrono::sys_days(std::chrono::year(1970) / 1 / 1));
  Require(*time < std::chrono::sys_days(std::chrono::year(2201) / 1 / 1));
  if (!text.ends_with('Z')) Require(*time >= before);
}

void ReadIntegerKey(std::string_view text) {
  uint64_t value = 0;
  const char* const problem = ParseIntegerKey(text, value);
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (problem == nullptr) {
    Require(AreDigits(digits));
    const std::string written = WithoutZerosAtFront(std::string(digits));
    Require(std::to_string(negative ? 0 - value : value) == written);
    Require(!negative || value == 0 || static_cast<int64_t>(value) < 0);
    Require(WithoutBlanks(text) == text);
  } else {
    Require(!AreDigits(digits) || digits.size() >= 19);
    RequirePrintable(problem);
  }
}

void ReadSecret(std::string_view text) {
  static MemoryFile file;
  const std::string path = file.Write({text.begin(), text.end()});
  try {
    const std::optional<HashSecret> secret = SecretOptions{path}.Read();
    Require(secret.has_value() && text.size() >= 32);
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kInvalidArgument);
    constexpr size_t kLongest = 100;  // of the rest of the message
    Require(text.size() <= kLongest ||
            std::string_view(error.what()).find(text) == std::string_view::npos);
  }
}

// Formats any figure, including NaN.
void WriteFigures(std::string_view text) {
  double value = 0;
  if (text.size() < sizeof(value) + 1) return;
  std::memcpy(&value, text.data(), sizeof(value));
  const int digits = 1 + static_cast<unsigned char>(text[sizeof(value)]) % 16;
  for (const std::string& written :
       {DurationText(value), BytesText(value), CountText(value), ShortCountText(value),
        PercentText(value), PercentText(value, digits), ShortPercentText(value),
        FixedText(value, digits)}) {
    Require(!written.empty());
    RequirePrintable(written);
  }
  Require(std::isnan(value) || std::strtod(NumberText(value).c_str(), nullptr) == value);
}

}  // namespace
}  // namespace tamis::tools

// The first byte selects the meaning of the rest.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tamis::tools;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'c':
      ReadCounts(text);
      break;
    case 'f':
      ReadRates(text);
      break;
    case 'r':
      ReadRanges(text);
      break;
    case 't':
      ReadTime(text);
      break;
    case 's':
      ReadSecret(text);
      break;
    case 'w':
      WriteFigures(text);
      break;
    default:
      ReadIntegerKey(text);
  }
  return 0;
}
