#include "parquet/src/stored_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <vector>

#include "parquet/src/stored_value.h"

namespace tamis::parquet {
namespace {

using Kind = LogicalType::Kind;

constexpr int64_t kSecondsOfDay = 86'400;
constexpr int32_t kMaxScale = 100;

struct Divided {
  int64_t whole;  // rounded down
  int64_t rest;   // not negative
};

Divided Divide(int64_t value, int64_t by) {
  const int64_t rest = value % by < 0 ? value % by + by : value % by;
  return {value / by - (value % by < 0), rest};
}

// Pads the number with zeros to `digits` digits.
std::string Padded(int64_t value, size_t digits) {
  std::string text = std::to_string(value);
  const size_t sign = value < 0;
  if (text.size() - sign < digits) text.insert(sign, digits + sign - text.size(), '0');
  return text;
}

std::string DateText(int64_t days) {
  constexpr int64_t kCycleYears = 400;  // the calendar repeats after this time
  constexpr int64_t kCycleDays = 146'097;
  const auto [cycles, of_cycle] = Divide(days, kCycleDays);
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(of_cycle)))};
  return Padded(static_cast<int>(date.year()) + kCycleYears * cycles, 4) + "-" +
         Padded(static_cast<unsigned>(date.month()), 2) + "-" +
         Padded(static_cast<unsigned>(date.day()), 2);
}

int FractionDigits(TimeUnit unit) {
  return unit == TimeUnit::kMillis ? 3 : unit == TimeUnit::kMicros ? 6 : 9;
}

int64_t TicksPerSecond(TimeUnit unit) {
  return unit == TimeUnit::kMillis ? 1'000 : unit == TimeUnit::kMicros ? 1'000'000 : 1'000'000'000;
}

// If the value is not a time of day, the text has more hours than a reader accepts.
std::string TimeText(int64_t value, TimeUnit unit) {
  const auto [seconds, fraction] = Divide(value, TicksPerSecond(unit));
  std::string text = Padded(seconds / 3600, 2) + ":" + Padded(seconds / 60 % 60, 2) + ":" +
                     Padded(seconds % 60, 2);
  if (fraction != 0) text += "." + Padded(fraction, static_cast<size_t>(FractionDigits(unit)));
  return text;
}

std::string TimestampText(int64_t value, TimeUnit unit) {
  const auto [days, of_day] = Divide(value, kSecondsOfDay * TicksPerSecond(unit));
  return DateText(days) + " " + TimeText(of_day, unit);
}

std::string DecimalText(bool negative, std::string digits, int32_t scale) {
  const auto behind = static_cast<size_t>(scale);
  if (digits.size() <= behind) digits.insert(0, behind + 1 - digits.size(), '0');
  if (behind > 0) digits.insert(digits.size() - behind, 1, '.');
  return (negative ? "-" : "") + digits;
}

// `bytes` is in two's complement, highest byte first.
std::string DecimalText(std::string_view bytes, int32_t scale) {
  std::vector<uint8_t> magnitude(bytes.begin(), bytes.end());
  const bool negative = !magnitude.empty() && (magnitude[0] & 0x80) != 0;
  if (negative) {
    unsigned carry = 1;
    for (size_t i = magnitude.size(); i-- > 0;) {
      carry += static_cast<uint8_t>(~magnitude[i]);
      magnitude[i] = static_cast<uint8_t>(carry);
      carry >>= 8;
    }
  }
  std::string digits;
  for (size_t begin = 0; begin < magnitude.size();) {
    unsigned rest = 0;
    for (size_t i = begin; i < magnitude.size(); ++i) {
      const unsigned part = rest << 8 | magnitude[i];
      magnitude[i] = static_cast<uint8_t>(part / 10);
      rest = part % 10;
    }
    digits += static_cast<char>('0' + rest);
    while (begin < magnitude.size() && magnitude[begin] == 0) ++begin;
  }
  std::reverse(digits.begin(), digits.end());
  return DecimalText(negative, digits, scale);
}

std::string IntegerText(const LogicalType& type, int64_t value) {
  switch (type.kind) {
    case Kind::kDate:
      return DateText(value);
    case Kind::kTime:
      return TimeText(value, type.unit);
    case Kind::kTimestamp:
      return TimestampText(value, type.unit);
    case Kind::kDecimal: {
      const uint64_t magnitude =
          value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
      return DecimalText(value < 0, std::to_string(magnitude), type.scale);
    }
    default:
      return std::to_string(value);
  }
}

// Returns the shortest text that is read as the same number.
std::string DoubleText(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return {text, end};
}

}  // namespace

bool HasText(const Column& column) {
  if (column.logical.kind == Kind::kDecimal) {
    return column.logical.scale >= 0 && column.logical.scale <= kMaxScale;
  }
  return WhyNotAsked(column) == nullptr;
}

std::string TextOfNumber(const Column& column, uint64_t bits) {
  const bool narrow = column.physical == PhysicalType::kInt32;
  switch (*NumberKindOf(column)) {
    case NumberKind::kFloat:
      return DoubleText(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case NumberKind::kDouble:
      return DoubleText(std::bit_cast<double>(bits));
    case NumberKind::kUnsigned:
      return std::to_string(narrow ? static_cast<uint32_t>(bits) : bits);
    case NumberKind::kSigned:
      break;
  }
  return IntegerText(column.logical,
                     narrow ? static_cast<int32_t>(bits) : static_cast<int64_t>(bits));
}

std::string TextOfBytes(const Column& column, std::string_view bytes) {
  if (column.logical.kind == Kind::kDecimal) return DecimalText(bytes, column.logical.scale);
  if (column.logical.kind != Kind::kUuid) return std::string(bytes);
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kHex[static_cast<uint8_t>(bytes[i]) >> 4];
    text += kHex[static_cast<uint8_t>(bytes[i]) & 15];
  }
  return text;
}

}  // namespace tamis::parquet
