#include "parquet/src/value_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

#include "tamis/detail/compiler.h"

namespace tamis::parquet {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kDaySeconds = 86'400;
constexpr size_t kMaxDecimalText = 200;  // the widest decimals have 76 digits

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int64_t PerSecond(TimeUnit unit) {
  return unit == TimeUnit::kMillis   ? 1'000
         : unit == TimeUnit::kMicros ? 1'000'000
                                     : kNanosPerSecond;
}

// Consumes the front of the text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  bool Take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Reads exactly `digits` digits.
  bool Number(size_t digits, int64_t& value) {
    if (text_.size() < digits) return false;
    value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (!IsDigit(text_[i])) return false;
      value = 10 * value + (text_[i] - '0');
    }
    text_.remove_prefix(digits);
    return true;
  }
  // Reads a year of four to nine digits.
  bool Year(int64_t& value) {
    size_t digits = 0;
    while (digits < text_.size() && IsDigit(text_[digits])) ++digits;
    return digits >= 4 && digits <= 9 && Number(digits, value);
  }
  // Reads the digits behind a point as nanoseconds. Digits after the ninth must be 0.
  bool Fraction(int64_t& nanos) {
    size_t digits = 0;
    nanos = 0;
    for (; digits < text_.size() && IsDigit(text_[digits]); ++digits) {
      if (digits >= 9 && text_[digits] != '0') return false;
      if (digits < 9) nanos = 10 * nanos + (text_[digits] - '0');
    }
    for (size_t i = digits; i < 9; ++i) nanos *= 10;
    text_.remove_prefix(digits);
    return digits > 0;
  }

 private:
  std::string_view text_;
};

struct Moment {
  int64_t seconds = 0;
  int64_t nanos = 0;  // nanoseconds since the start of the second
};

std::optional<int64_t> InUnit(const Moment& moment, TimeUnit unit) {
  const int64_t per_second = PerSecond(unit);
  const int64_t nanos_each = kNanosPerSecond / per_second;
  if (moment.nanos % nanos_each != 0) return std::nullopt;
  // Computes seconds * per_second + nanos / nanos_each. If `seconds` is negative, adds 1 to it and
  // subtracts one second from the fraction. Otherwise the product would overflow for times close to
  // the earliest time that fits.
  const bool before = moment.seconds < 0;
  const int64_t fraction = moment.nanos / nanos_each - (before ? per_second : 0);
  int64_t value = 0;
  if (detail::MultiplyOverflows(moment.seconds + (before ? 1 : 0), per_second, &value) ||
      detail::AddOverflows(value, fraction, &value)) {
    return std::nullopt;
  }
  return value;
}

// Reads a date: yyyy-mm-dd, or with a sign and a year of up to nine digits. Year 0 is 1 BC.
bool ScanDate(Scanner& scanner, int64_t& days) {
  constexpr int64_t kCycleYears = 400;  // the calendar repeats after this time
  constexpr int64_t kCycleDays = 146'097;
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  const bool before = scanner.Take('-');
  if (!before) scanner.Take('+');
  if (!scanner.Year(year) || !scanner.Take('-') || !scanner.Number(2, month) ||
      !scanner.Take('-') || !scanner.Number(2, day)) {
    return false;
  }
  if (before) year = -year;
  int64_t cycles = year / kCycleYears;
  if (year % kCycleYears < 0) --cycles;
  // In [0, 400), the range of std::chrono::year.
  const auto of_cycle = static_cast<int>(year - kCycleYears * cycles);
  const std::chrono::year_month_day date(std::chrono::year(of_cycle),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return false;
  days = std::chrono::sys_days(date).time_since_epoch().count() + kCycleDays * cycles;
  return true;
}

// Reads a time of day: hh:mm, hh:mm:ss or hh:mm:ss.fraction
bool ScanTime(Scanner& scanner, Moment& moment) {
  int64_t hours = 0;
  int64_t minutes = 0;
  int64_t seconds = 0;
  if (!scanner.Number(2, hours) || !scanner.Take(':') || !scanner.Number(2, minutes)) return false;
  if (scanner.Take(':')) {
    if (!scanner.Number(2, seconds)) return false;
    if (scanner.Take('.') && !scanner.Fraction(moment.nanos)) return false;
  }
  if (hours > 24 || minutes > 59 || seconds > 59) return false;
  moment.seconds = 3600 * hours + 60 * minutes + seconds;
  // The end of the day is also a time.
  if (hours == 24 && (moment.seconds != kDaySeconds || moment.nanos != 0)) return false;
  return true;
}

// Reads a time zone: Z, UTC, +hh, +hhmm, +hh:mm and so on, with an optional space in front. Text
// without a zone is in UTC.
bool ScanZone(Scanner& scanner, int64_t& seconds) {
  if (scanner.done()) return true;
  scanner.Take(' ');
  if (scanner.Take('Z') || scanner.Take('z')) return true;
  if (scanner.Take('U')) return scanner.Take('T') && scanner.Take('C');
  const bool west = scanner.Take('-');
  if (!west && !scanner.Take('+')) return false;
  int64_t hours = 0;
  int64_t minutes = 0;
  if (!scanner.Number(2, hours)) return false;
  if (!scanner.done()) {
    scanner.Take(':');
    if (!scanner.Number(2, minutes)) return false;
  }
  if (hours > 18 || minutes > 59) return false;
  seconds = (west ? -1 : 1) * (3600 * hours + 60 * minutes);
  return true;
}

bool ParseExponent(std::string_view text, int& exponent) {
  if (!TakeOffPlus(text)) return false;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, exponent);
  return error == std::errc{} && stop == end;
}

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool TakeOffPlus(std::string_view& text) {
  if (text.starts_with("+-")) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  return true;
}

std::optional<Integer> ParseInteger(std::string_view text) {
  Integer value;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    value.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value.magnitude);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  if (value.magnitude == 0) value.negative = false;
  return value;
}

std::optional<Integer> ParseWholeNumber(std::string_view text) {
  if (const auto value = ParseInteger(text)) return value;
  const auto decimal = ParseDecimal(text, 0);
  if (!decimal) return std::nullopt;
  if (decimal->digits.empty()) return Integer{};
  auto value = ParseInteger(decimal->digits);
  if (value) value->negative = decimal->negative;
  return value;
}

std::optional<Unscaled> ParseDecimal(std::string_view text, int32_t scale) {
  if (text.size() > kMaxDecimalText || scale < 0 || scale > 100) return std::nullopt;
  Unscaled value;
  int exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    if (!ParseExponent(text.substr(e + 1), exponent)) return std::nullopt;
    text = text.substr(0, e);
  }
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    value.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string_view rest = text.substr(std::min(point + 1, text.size()));
  if (whole.empty() && rest.empty()) return std::nullopt;
  if (!std::all_of(whole.begin(), whole.end(), IsDigit) ||
      !std::all_of(rest.begin(), rest.end(), IsDigit)) {
    return std::nullopt;
  }
  value.digits = whole;
  value.digits += rest;
  value.digits.erase(0, std::min(value.digits.find_first_not_of('0'), value.digits.size()));
  if (value.digits.empty()) return Unscaled{};
  // Moves the point to the right by `places`. If `places` is negative, drops digits, which must be
  // zeros.
  int64_t places = int64_t{exponent} + scale - static_cast<int64_t>(rest.size());
  for (; places < 0; ++places) {
    if (!value.digits.ends_with('0')) return std::nullopt;
    value.digits.pop_back();
  }
  if (places > static_cast<int64_t>(kMaxDecimalText)) return std::nullopt;
  value.digits.append(static_cast<size_t>(places), '0');
  return value;
}

std::optional<std::string> BigEndian(const Unscaled& value, uint32_t width) {
  // 0 bytes cannot represent a value. A value wider than its digits would only repeat the sign.
  if (width == 0 || width > kMaxDecimalText) return std::nullopt;
  std::string bytes(width, '\0');
  for (const char digit : value.digits) {
    unsigned carry = static_cast<unsigned>(digit - '0');
    for (size_t i = bytes.size(); i-- > 0;) {
      carry += 10u * static_cast<uint8_t>(bytes[i]);
      bytes[i] = static_cast<char>(carry & 0xFF);
      carry >>= 8;
    }
    if (carry != 0) return std::nullopt;
  }
  if (value.negative) {
    unsigned carry = 1;
    for (size_t i = bytes.size(); i-- > 0;) {
      carry += static_cast<uint8_t>(~static_cast<uint8_t>(bytes[i]));
      bytes[i] = static_cast<char>(carry & 0xFF);
      carry >>= 8;
    }
  }
  // The sign must agree with the highest bit.
  const bool reads_negative = (static_cast<uint8_t>(bytes[0]) & 0x80) != 0;
  if (reads_negative != value.negative) return std::nullopt;
  return bytes;
}

std::optional<int64_t> ParseDate(std::string_view text) {
  Scanner scanner(text);
  int64_t days = 0;
  if (!ScanDate(scanner, days)) return std::nullopt;
  if (scanner.done()) return days;
  const auto millis = ParseTimestamp(text, TimeUnit::kMillis);
  if (!millis || *millis % (1'000 * kDaySeconds) != 0) return std::nullopt;
  return *millis / (1'000 * kDaySeconds);
}

std::optional<int64_t> ParseTime(std::string_view text, TimeUnit unit) {
  Scanner scanner(text);
  Moment moment;
  int64_t zone = 0;
  if (!ScanTime(scanner, moment) || !ScanZone(scanner, zone) || !scanner.done()) {
    return std::nullopt;
  }
  if (zone != 0) moment.seconds = (moment.seconds - zone + kDaySeconds) % kDaySeconds;
  return InUnit(moment, unit);
}

std::optional<int64_t> ParseTimestamp(std::string_view text, TimeUnit unit) {
  Scanner scanner(text);
  int64_t days = 0;
  Moment moment;
  int64_t zone = 0;
  if (!ScanDate(scanner, days)) return std::nullopt;
  if (!scanner.done()) {
    if (!scanner.Take('T') && !scanner.Take(' ')) return std::nullopt;
    if (!ScanTime(scanner, moment) || !ScanZone(scanner, zone) || !scanner.done()) {
      return std::nullopt;
    }
  }
  moment.seconds += kDaySeconds * days - zone;
  return InUnit(moment, unit);
}

std::optional<int64_t> ConvertUnit(int64_t value, TimeUnit from, TimeUnit to) {
  const int64_t have = PerSecond(from);
  const int64_t want = PerSecond(to);
  if (want >= have) {
    if (detail::MultiplyOverflows(value, want / have, &value)) return std::nullopt;
    return value;
  }
  if (value % (have / want) != 0) return std::nullopt;
  return value / (have / want);
}

std::optional<std::array<char, 16>> ParseUuid(std::string_view text) {
  constexpr size_t kDashes[] = {8, 13, 18, 23};
  const bool dashed = text.size() == 36;
  if (!dashed && text.size() != 32) return std::nullopt;
  std::array<char, 16> bytes;
  size_t nibbles = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (dashed && std::find(std::begin(kDashes), std::end(kDashes), i) != std::end(kDashes)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int digit = HexDigit(text[i]);
    if (digit < 0) return std::nullopt;
    char& byte = bytes[nibbles / 2];
    byte = static_cast<char>(nibbles % 2 == 0 ? digit << 4 : byte | digit);
    ++nibbles;
  }
  return bytes;
}

}  // namespace tamis::parquet
