#include "tools/options/parse.h"

#include <tamis/detail/str_cat.h>
#include <tamis/error.h>
#include <tamis/filters/sizing.h>
#include <tamis/random_seed.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "tools/output/format.h"

namespace tamis::tools {
namespace {

[[noreturn]] void Refuse(std::string_view option, std::string_view text, const char* allowed) {
  throw Error(ErrorCode::kInvalidArgument,
              std::string(option) + ": " + Quoted(text) + " is not " + allowed);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns value * factor + term, or std::nullopt if that exceeds 2^64 - 1.
std::optional<uint64_t> MultiplyAdd(uint64_t value, uint64_t factor, uint64_t term) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  if (factor != 0 && value > (kMost - term) / factor) return std::nullopt;
  return value * factor + term;
}

// Parses a decimal number with an optional fraction and exponent, and with single underscores
// between digits. Returns the number * 10^exponent10, without rounding, or std::nullopt if the
// result is not a whole number of 64 bits.
std::optional<uint64_t> WholeNumber(std::string_view text, int exponent10) {
  std::string digits;
  bool fraction = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const bool after_digit = i > 0 && IsDigit(text[i - 1]);
    if (IsDigit(text[i])) {
      digits += text[i];
      if (fraction) --exponent10;
    } else if (text[i] == '_' && after_digit && i + 1 < text.size() && IsDigit(text[i + 1])) {
      continue;
    } else if (text[i] == '.' && after_digit && !fraction) {
      fraction = true;
    } else {
      break;
    }
  }
  if (i == 0 || !IsDigit(text[i - 1])) return std::nullopt;
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') return std::nullopt;
    text.remove_prefix(i + 1);
    if (text.starts_with("+-")) return std::nullopt;  // std::from_chars would accept "-" after "+"
    if (text.starts_with('+')) text.remove_prefix(1);
    int exponent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error != std::errc() || end != text.data() + text.size() || exponent > 30 ||
        exponent < -30) {
      return std::nullopt;
    }
    exponent10 += exponent;
  }
  // Zeros after the decimal point are ignored: 5.0 is 5.
  while (exponent10 < 0 && digits.ends_with('0')) {
    digits.pop_back();
    ++exponent10;
  }
  std::optional<uint64_t> value = 0;
  for (const char c : digits) {
    value = MultiplyAdd(*value, 10, static_cast<uint64_t>(c - '0'));
    if (!value) return std::nullopt;
  }
  if (*value == 0) return 0;
  if (exponent10 < 0) return std::nullopt;
  for (; exponent10 > 0 && value; --exponent10) value = MultiplyAdd(*value, 10, 0);
  return value;
}

bool RemoveSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::optional<uint64_t> Count(std::string_view text) {
  struct Suffix {
    std::string_view name;
    int exponent10;
  };
  constexpr std::array<Suffix, 5> kSuffixes = {{{"k", 3}, {"K", 3}, {"M", 6}, {"G", 9}, {"T", 12}}};
  for (const Suffix& suffix : kSuffixes) {
    if (RemoveSuffix(text, suffix.name)) return WholeNumber(text, suffix.exponent10);
  }
  return WholeNumber(text, 0);
}

// Parses 0.01 or 1%.
std::optional<double> Share(std::string_view text) {
  const bool percent = RemoveSuffix(text, "%");
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return percent ? value / 100 : value;
}

unsigned ParseUnsigned(std::string_view option, std::string_view text, unsigned most,
                       const char* allowed) {
  unsigned value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < 1 || value > most) {
    Refuse(option, text, allowed);
  }
  return value;
}

// Parses a time such as 2026-12-31T23:59:59Z.
std::optional<std::chrono::sys_seconds> UtcTime(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kForm.size()) return std::nullopt;
  unsigned fields[6] = {};
  size_t field = 0;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != 'd') {
      if (text[i] != kForm[i]) return std::nullopt;
      ++field;
    } else {
      if (!IsDigit(text[i])) return std::nullopt;
      fields[field] = 10 * fields[field] + static_cast<unsigned>(text[i] - '0');
    }
  }
  const auto [year, month, day, hour, minute, second] = fields;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(month), std::chrono::day(day)};
  // std::chrono::system_clock counts nanoseconds in 64 bits, so it represents only the years 1678
  // to 2262.
  if (!date.ok() || year < 1970 || year > 2200) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

constexpr std::pair<char, uint64_t> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};

// Parses a duration such as 36h.
std::optional<std::chrono::seconds> Duration(std::string_view text) {
  constexpr uint64_t kMost = uint64_t{100} * 365 * 86400;
  for (const auto& [unit, seconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const std::optional<uint64_t> count = WholeNumber(text.substr(0, text.size() - 1), 0);
    if (!count || *count > kMost / seconds) return std::nullopt;
    return std::chrono::seconds(*count * seconds);
  }
  return std::nullopt;
}

}  // namespace

uint64_t ParseCount(std::string_view option, std::string_view text) {
  const std::optional<uint64_t> value = Count(text);
  if (!value)
    Refuse(option, text,
           "a whole number from 0 to 2^64 - 1, such as 5000000000, 5_000_000_000, 5e9 or 5G");
  return *value;
}

uint64_t ParsePositiveCount(std::string_view option, std::string_view text) {
  const std::optional<uint64_t> value = Count(text);
  if (!value || *value == 0) {
    Refuse(option, text,
           "a whole number from 1 to 2^64 - 1, such as 5000000000, 5_000_000_000, 5e9 or 5G");
  }
  return *value;
}

uint64_t ParseBytes(std::string_view option, std::string_view text) {
  std::string_view number = text;
  std::optional<uint64_t> value;
  uint64_t binary = 1;
  int decimal = 0;
  bool matched = false;
  for (const std::string prefix : {"K", "M", "G", "T"}) {
    binary *= 1024;
    decimal += 3;
    if (RemoveSuffix(number, prefix + "iB") || RemoveSuffix(number, prefix)) {
      value = WholeNumber(number, 0);
      if (value) value = MultiplyAdd(*value, binary, 0);
      matched = true;
    } else if (RemoveSuffix(number, prefix + "B") ||
               (prefix == "K" && RemoveSuffix(number, "kB"))) {
      value = WholeNumber(number, decimal);
      matched = true;
    }
    if (matched) break;
  }
  if (!matched) value = WholeNumber(number, 0);
  if (!value || *value == 0)
    Refuse(option, text, "a number of bytes, at least 1, such as 1000000, 512KiB, 64M or 2GB");
  return *value;
}

unsigned ParseThreads(std::string_view option, std::string_view text) {
  return ParseUnsigned(option, text, 1024, "a number of threads from 1 to 1024");
}

double ParseShare(std::string_view option, std::string_view text) {
  const std::optional<double> share = Share(text);
  if (!share || !(*share > 0 && *share <= 1)) {
    Refuse(option, text, "a share above 0 and up to 1, such as 0.8 or 80%");
  }
  return *share;
}

double ParseFpr(std::string_view option, std::string_view text) {
  const std::optional<double> rate = Share(text);
  if (!rate || !(*rate >= kMinFpr && *rate <= kMaxFpr)) {
    Refuse(option, text, "a false-positive rate from 1e-12 to 0.5, such as 0.01 or 1%");
  }
  return *rate;
}

MaxBad ParseMaxBad(std::string_view option, std::string_view text) {
  MaxBad max_bad;
  max_bad.count = Count(text);  // std::nullopt for a share such as 0.01
  if (max_bad.count) return max_bad;
  const std::optional<double> share = Share(text);
  if (!share || !(*share >= 0 && *share <= 1)) {
    Refuse(option, text, "a share of the lines, such as 1% or 0.01, or a number of them");
  }
  max_bad.share = *share;
  if (*share == 0) max_bad.count = 0;
  return max_bad;
}

char ParseSeparator(std::string_view option, std::string_view text) {
  if (text.size() != 1 || text.find_first_of("\"\r\n") == 0) {
    Refuse(option, text,
           "one byte other than a quote or line end, such as ';' or '|' (for tabs, give --tsv)");
  }
  return text[0];
}

uint64_t ParseSeed(std::string_view option, std::string_view text) {
  if (text == "random") return RandomSeed();
  std::string_view number = text;
  int base = 10;
  if (number.starts_with("0x") || number.starts_with("0X")) {
    number.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  const char* last = number.data() + number.size();
  const auto [end, error] = std::from_chars(number.data(), last, value, base);
  if (error != std::errc() || end != last) {
    Refuse(option, text, "\"random\" or a number from 0 to 2^64 - 1, such as 42 or 0x2A");
  }
  return value;
}

KeyRange ParseRange(std::string_view option, std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) Refuse(option, text, "two numbers LO:HI");
  KeyRange range{ParseCount(option, text.substr(0, colon)),
                 ParseCount(option, text.substr(colon + 1))};
  if (range.low > range.high) Refuse(option, text, "a range LO:HI with LO at most HI");
  return range;
}

KeyRange ParseDigits(std::string_view option, std::string_view text) {
  const unsigned digits = ParseUnsigned(option, text, 19, "a number of digits from 1 to 19");
  KeyRange range;
  for (unsigned i = 0; i < digits; ++i) range.high = 10 * range.high + 9;
  return range;
}

std::chrono::system_clock::time_point ParseTime(std::string_view option, std::string_view text) {
  if (const auto time = UtcTime(text)) return *time;
  if (const auto duration = Duration(text)) return std::chrono::system_clock::now() + *duration;
  Refuse(option, text,
         "a time in UTC in the years 1970 to 2200, such as 2026-12-31T23:59:59Z, or a duration "
         "from now of at most 36500d, such as 36h");
}

WindowSize ParseWindow(std::string_view option, std::string_view text) {
  WindowSize size;
  if (const auto span = Duration(text)) {
    size.span = *span;
  } else {
    size.keys = Count(text).value_or(0);
  }
  if (!size.given()) {
    Refuse(option, text,
           "a whole number from 1 to 2^64 - 1, such as 10M, or a time from 1s to 36500d, such as "
           "90s, 5m, 36h or 7d");
  }
  return size;
}

std::string WindowText(const WindowSize& size) {
  if (!size.by_time()) return std::to_string(size.keys);
  const auto seconds = static_cast<uint64_t>(size.span.count());
  const auto* unit = std::begin(kUnits);
  while (unit + 1 != std::end(kUnits) && seconds % unit[1].second == 0) ++unit;
  return detail::StrCat(seconds / unit->second, unit->first);
}

}  // namespace tamis::tools
