#include "bindings/python/src/keys/parquet_keys.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/arrow_column.h"
#include "bindings/python/src/keys/key_source.h"
#include "tamis/detail/compiler.h"

namespace tamis::python {
namespace {

using parquet::KeyList;
using parquet::TimeUnit;

// Converts a 16-bit floating-point number of IEEE 754.
double HalfOf(uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1F);
  const auto fraction = static_cast<double>(bits & 0x3FF);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1F) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// Returns a decimal number as text: the little-endian integer in `bytes` divided by 10^scale.
std::string DecimalText(std::string_view bytes, int scale) {
  const bool negative = (static_cast<uint8_t>(bytes.back()) & 0x80) != 0;
  // The magnitude, lowest 32 bits first.
  std::vector<uint32_t> limbs(bytes.size() / sizeof(uint32_t));
  std::memcpy(limbs.data(), bytes.data(), bytes.size());
  uint64_t carry = 1;
  for (uint32_t& limb : limbs) {
    if (!negative) break;
    carry += static_cast<uint32_t>(~limb);
    limb = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  std::string digits;  // lowest digit first
  const auto some_left = [&] {
    return std::ranges::any_of(limbs, [](uint32_t limb) { return limb != 0; });
  };
  while (some_left()) {
    uint64_t rest = 0;
    for (size_t i = limbs.size(); i-- > 0;) {
      rest = rest << 32 | limbs[i];
      limbs[i] = static_cast<uint32_t>(rest / 10);
      rest %= 10;
    }
    digits += static_cast<char>('0' + rest);
  }
  const auto after_point = static_cast<size_t>(std::max(scale, 0));
  if (digits.size() <= after_point) digits.resize(after_point + 1, '0');
  if (after_point > 0) digits.insert(after_point, 1, '.');
  if (negative) digits += '-';
  std::ranges::reverse(digits);
  return digits.append(static_cast<size_t>(std::max(-scale, 0)), '0');
}

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Calls act(i, string) for the valid elements of any layout of strings.
template <typename Act>
void ForStrings(const Keys& keys, const Act& act) {
  const auto each = [&](const auto& at) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys.IsValid(i)) act(i, at(i));
    }
  };
  const auto of_column = [&]<typename Offset>(const Offset* offsets) {
    each([&](size_t i) {
      return std::string_view(keys.bytes() + offsets[i],
                              static_cast<size_t>(offsets[i + 1] - offsets[i]));
    });
  };
  switch (keys.layout()) {
    case KeyLayout::kStringViews:
      return each([&](size_t i) { return keys.data<std::string_view>()[i]; });
    case KeyLayout::kColumn:
      return of_column(keys.data<int32_t>());
    case KeyLayout::kLargeColumn:
      return of_column(keys.data<int64_t>());
    case KeyLayout::kFixedColumn:
      return each([&](size_t i) {
        return std::string_view(keys.data<char>() + i * keys.width(), keys.width());
      });
    default:
      throw nb::type_error("keys are of one type, and these are integers among strings");
  }
}

// Calls act(i, integer) for the valid elements, widened to 64 bits.
template <typename Act>
void ForIntegers(const Keys& keys, const Act& act) {
  const auto each = [&](const auto* values) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys.IsValid(i)) act(i, static_cast<uint64_t>(static_cast<int64_t>(values[i])));
    }
  };
  switch (keys.layout()) {
    case KeyLayout::kU64:
      return each(keys.data<uint64_t>());
    case KeyLayout::kU32:
      return each(keys.data<uint32_t>());
    case KeyLayout::kI32:
      return each(keys.data<int32_t>());
    default:
      throw nb::type_error("keys are of one type, and these are strings among integers");
  }
}

}  // namespace

ParquetKeys::ParquetKeys(nb::handle x, std::string format) {
  const auto source = MakeKeySource(x, Numbers::kBitsToo);
  if (format.empty()) format = source->format();
  SetType(format);
  Keys keys;
  uint64_t first = 0;
  while (source->Next(keys)) {
    Add(keys, first);
    first += keys.size();
    if (first > std::numeric_limits<uint32_t>::max()) {
      throw nb::value_error("a list has 2^32 - 1 keys at most");
    }
    CheckSignals();
  }
  strings_.reserve(ends_.size());
  for (size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i++]) {
    strings_.push_back(std::string_view(bytes_).substr(begin, ends_[i] - begin));
  }
}

void ParquetKeys::SetType(const std::string& format) {
  const auto unit_of = [&](char letter) {
    per_second_ = letter == 's'   ? 1
                  : letter == 'm' ? 1'000
                  : letter == 'u' ? 1'000'000
                                  : 1'000'000'000;
    unit_ = letter == 'u'   ? TimeUnit::kMicros
            : letter == 'n' ? TimeUnit::kNanos
                            : TimeUnit::kMillis;
  };
  const char kind = format.empty() ? 'n' : format[0];
  if (format.starts_with("td")) {
    conversion_ = Conversion::kDates;
    if (format == "tdm") per_day_ = 86'400'000;
  } else if (format.starts_with("tt") && format.size() == 3) {
    conversion_ = Conversion::kTimes;
    unit_of(format[2]);
  } else if (format.starts_with("ts") && format.size() > 2) {
    conversion_ = Conversion::kTimestamps;
    unit_of(format[2]);
  } else if (format.starts_with("tD")) {
    conversion_ = Conversion::kSigned;
  } else if (kind == 'd') {
    conversion_ = Conversion::kDecimals;
    scale_ = ArrowDecimalOf(format.c_str()).scale;
  } else if (kind == 'e' || kind == 'f' || kind == 'g') {
    conversion_ = Conversion::kReal;
    width_ = kind == 'e' ? 2 : kind == 'f' ? 4 : 8;
  } else if (kind == 'u' || kind == 'U' || format == "vu") {
    conversion_ = Conversion::kText;
  } else if (kind == 'z' || kind == 'Z' || kind == 'v' || kind == 'w') {
    conversion_ = Conversion::kBytes;
  } else {
    conversion_ = kind == 'C' || kind == 'S' || kind == 'I' || kind == 'L' ? Conversion::kUnsigned
                                                                           : Conversion::kSigned;
  }
}

void ParquetKeys::Add(const Keys& keys, uint64_t first) {
  if (!indices_ && keys.CountValid() < keys.size()) {
    indices_.emplace(size_);
    std::iota(indices_->begin(), indices_->end(), 0);
  }
  const auto count = [&](size_t i) {
    ++size_;
    if (indices_) indices_->push_back(first + i);
  };
  if (keys.CountValid() == 0) return;  // null keys may have any layout
  if (conversion_ == Conversion::kBytes || conversion_ == Conversion::kText ||
      conversion_ == Conversion::kDecimals) {
    return ForStrings(keys, [&](size_t i, std::string_view key) {
      AddString(conversion_ == Conversion::kDecimals ? DecimalText(key, scale_) : key);
      count(i);
    });
  }
  ForIntegers(keys, [&](size_t i, uint64_t key) {
    AddInteger(key);
    count(i);
  });
}

void ParquetKeys::AddInteger(uint64_t bits) {
  switch (conversion_) {
    case Conversion::kReal:
      return AddReal(bits);
    case Conversion::kTimestamps:
      return AddTimestamp(static_cast<int64_t>(bits));
    case Conversion::kDates:
      return AddDate(static_cast<int64_t>(bits));
    case Conversion::kTimes:
      return AddTime(static_cast<int64_t>(bits));
    default:
      integers_.push_back(bits);
  }
}

void ParquetKeys::AddReal(uint64_t bits) {
  reals_.push_back(width_ == 8   ? std::bit_cast<double>(bits)
                   : width_ == 4 ? double{std::bit_cast<float>(static_cast<uint32_t>(bits))}
                                 : HalfOf(bits));
}

void ParquetKeys::AddTimestamp(int64_t value) {
  // tamis::parquet does not support seconds, so these become milliseconds.
  if (per_second_ == 1 && tamis::detail::MultiplyOverflows(value, 1000, &value)) {
    PyErr_SetString(PyExc_OverflowError, "a timestamp in seconds does not fit 64 bits in ms");
    throw nb::python_error();
  }
  integers_.push_back(static_cast<uint64_t>(value));
}

// Adds a date as text. In a date column, the text means the day. In a timestamp column, it means
// the first moment of the day.
void ParquetKeys::AddDate(int64_t value) {
  using std::chrono::year_month_day;
  const int64_t days = FloorDiv(value, per_day_);
  constexpr int64_t kFirst = -719'162, kLast = 2'932'896;  // 0001-01-01 and 9999-12-31
  if (days < kFirst || days > kLast) {
    throw nb::value_error("a date is in a year that is not from 1 to 9999");
  }
  const year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  char text[32];
  const int size =
      std::snprintf(text, sizeof(text), "%04d-%02u-%02u", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  AddString({text, static_cast<size_t>(size)});
}

// Adds a time as text, because the column may have another unit.
void ParquetKeys::AddTime(int64_t value) {
  if (value < 0 || value >= 86'400 * per_second_) {
    throw nb::value_error("a time of day is not within the day");
  }
  const int64_t seconds = value / per_second_;
  const int64_t nanos = value % per_second_ * (1'000'000'000 / per_second_);
  char text[40];
  const int size = std::snprintf(
      text, sizeof(text), "%02d:%02d:%02d.%09d", static_cast<int>(seconds / 3600),
      static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60), static_cast<int>(nanos));
  AddString({text, static_cast<size_t>(size)});
}

void ParquetKeys::AddString(std::string_view text) {
  bytes_.append(text);
  ends_.push_back(bytes_.size());
}

KeyList ParquetKeys::list() const {
  const std::span signed_integers(reinterpret_cast<const int64_t*>(integers_.data()),
                                  integers_.size());
  switch (conversion_) {
    case Conversion::kSigned:
      return KeyList::Integers(signed_integers);
    case Conversion::kUnsigned:
      return KeyList::Unsigned(integers_);
    case Conversion::kReal:
      return KeyList::Doubles(reals_);
    case Conversion::kTimestamps:
      return KeyList::Timestamps(signed_integers, unit_);
    case Conversion::kBytes:
      return KeyList::Bytes(strings_);
    default:
      return KeyList::Text(strings_);
  }
}

}  // namespace tamis::python
