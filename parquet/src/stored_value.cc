#include "parquet/src/stored_value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "parquet/src/value_text.h"
#include "tamis/detail/str_cat.h"

namespace tamis::parquet {
namespace {

using Type = KeyList::Type;
using Kind = LogicalType::Kind;

constexpr double kTwoTo64 = 18446744073709551616.0;

std::optional<Integer> IntegerOf(double value) {
  if (!(std::fabs(value) < kTwoTo64) || value != std::trunc(value)) return std::nullopt;
  return Integer{static_cast<uint64_t>(std::fabs(value)), value < 0};
}

std::optional<Integer> Whole(std::optional<int64_t> value) {
  if (!value) return std::nullopt;
  return Integer::Of(*value);
}

// Parses text according to the meaning of the column's values.
std::optional<Integer> ReadInteger(const LogicalType& type, std::string_view text) {
  std::optional<int64_t> value;
  switch (type.kind) {
    case Kind::kDate:
      value = ParseDate(text);
      break;
    case Kind::kTime:
      value = ParseTime(text, type.unit);
      break;
    case Kind::kTimestamp:
      value = ParseTimestamp(text, type.unit);
      break;
    default:
      break;
  }
  return value ? Whole(value) : ParseWholeNumber(text);
}

// Removes blanks at both ends. Only values of string columns can begin or end with blanks.
std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view TextOf(const KeyList& keys, size_t i) {
  return Trimmed(keys.values<std::string_view>()[i]);
}

std::string TextOfInteger(const Integer& value) {
  return detail::StrCat(value.negative ? "-" : "", value.magnitude);
}

// Returns key `i` times 10^scale.
std::optional<Unscaled> UnscaledOf(const LogicalType& type, const KeyList& keys, size_t i) {
  switch (keys.type()) {
    case Type::kIntegers:
      return ParseDecimal(TextOfInteger(Integer::Of(keys.values<int64_t>()[i])), type.scale);
    case Type::kUnsigned:
      return ParseDecimal(std::to_string(keys.values<uint64_t>()[i]), type.scale);
    case Type::kText:
      return ParseDecimal(TextOf(keys, i), type.scale);
    default:
      return std::nullopt;  // a double cannot represent 0.1
  }
}

std::optional<Integer> IntegerKey(const LogicalType& type, const KeyList& keys, size_t i) {
  if (type.kind == Kind::kDecimal) {
    const auto unscaled = UnscaledOf(type, keys, i);
    if (!unscaled) return std::nullopt;
    if (unscaled->digits.empty()) return Integer{};
    const auto value = ParseInteger(unscaled->digits);
    if (!value) return std::nullopt;
    return Integer{value->magnitude, unscaled->negative};
  }
  switch (keys.type()) {
    case Type::kIntegers:
      return Integer::Of(keys.values<int64_t>()[i]);
    case Type::kUnsigned:
      return Integer{keys.values<uint64_t>()[i], false};
    case Type::kDoubles:
      return IntegerOf(keys.values<double>()[i]);
    case Type::kTimestamps:
      if (type.kind != Kind::kTimestamp) return std::nullopt;
      return Whole(ConvertUnit(keys.values<int64_t>()[i], keys.unit(), type.unit));
    case Type::kText:
      return ReadInteger(type, TextOf(keys, i));
    case Type::kBytes:
      break;
  }
  return std::nullopt;
}

// Returns whether the value fits into an integer of `bits` bits.
bool Fits(const Integer& value, bool is_signed, int bits) {
  if (!is_signed) return !value.negative && (bits == 64 || value.magnitude >> bits == 0);
  const uint64_t limit = uint64_t{1} << (bits - 1);
  return value.negative ? value.magnitude <= limit : value.magnitude < limit;
}

// Returns whether a number that std::from_chars reported as out of range is too small. Computes
// this from the place of the first nonzero digit. Parsing into a wider type is not possible: not
// every machine has a wider type, and the standard library may lack from_chars for it.
bool IsTooSmall(std::string_view text) {
  constexpr int64_t kMost = int64_t{1} << 62;
  const size_t e = std::min(text.find_first_of("eE"), text.size());
  int64_t exponent = 0;
  if (e < text.size()) {
    std::string_view rest = text.substr(e + 1);
    if (rest.starts_with('+')) rest.remove_prefix(1);
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
    if (error == std::errc::result_out_of_range) exponent = rest.starts_with('-') ? -kMost : kMost;
  }
  const std::string_view digits = text.substr(0, e);
  const size_t point = std::min(digits.find('.'), digits.size());
  const size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  const auto place = static_cast<int64_t>(point) - static_cast<int64_t>(first);  // 0.1: -1, 1: 1
  return place + std::clamp(exponent, -kMost, kMost) <= 0;
}

template <typename Number>
std::optional<Number> ReadNumber(std::string_view text) {
  if (!TakeOffPlus(text)) return std::nullopt;
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end) return std::nullopt;
  if (error == std::errc{}) return value;
  // Out of range: a number that is too small rounds to 0, and one that is too large has no nearest
  // value.
  if (error != std::errc::result_out_of_range || !IsTooSmall(text)) return std::nullopt;
  return text.starts_with('-') ? -Number{0} : Number{0};
}

// Returns nothing for a number that is too large.
template <typename Number>
std::optional<Number> Nearest(double value) {
  if constexpr (std::is_same_v<Number, float>) {
    constexpr double kTooLarge = 0x1.ffffffp127;  // half a step above the largest
    constexpr double kLargest = std::numeric_limits<float>::max();
    if (std::isfinite(value) && std::fabs(value) >= kTooLarge) return std::nullopt;
    if (std::isfinite(value)) value = std::clamp(value, -kLargest, kLargest);
  }
  return static_cast<Number>(value);
}

// Returns the nearest value of the type, because some readers convert keys to the type of the
// column before they compare. A key that is a value of the type does not change.
template <typename Number>
std::optional<Number> NumberKey(const KeyList& keys, size_t i) {
  switch (keys.type()) {
    case Type::kIntegers:
      return static_cast<Number>(keys.values<int64_t>()[i]);
    case Type::kUnsigned:
      return static_cast<Number>(keys.values<uint64_t>()[i]);
    case Type::kDoubles:
      return Nearest<Number>(keys.values<double>()[i]);
    case Type::kText:
      return ReadNumber<Number>(TextOf(keys, i));
    default:
      return std::nullopt;
  }
}

}  // namespace

const char* WhyNotAsked(const Column& column) {
  switch (column.physical) {
    case PhysicalType::kBoolean:
      return "its filters are meaningless";
    case PhysicalType::kInt96:
      return "it is deprecated, and its values have no order";
    default:
      break;
  }
  switch (column.logical.kind) {
    case Kind::kFloat16:
    case Kind::kInterval:
    case Kind::kNull:
    case Kind::kOther:
      return "this library cannot convert keys to this type";
    case Kind::kDecimal:
      if (column.physical == PhysicalType::kByteArray) {
        return "decimals of BYTE_ARRAY can be stored in more than one way";
      }
      break;
    case Kind::kUuid:
      if (column.width != 16) return "UUIDs have 16 bytes";
      break;
    default:
      break;
  }
  return nullptr;
}

std::optional<NumberKind> NumberKindOf(const Column& column) {
  switch (column.physical) {
    case PhysicalType::kInt32:
    case PhysicalType::kInt64:
      return column.logical.kind == Kind::kInteger && !column.logical.is_signed
                 ? NumberKind::kUnsigned
                 : NumberKind::kSigned;
    case PhysicalType::kFloat:
      return NumberKind::kFloat;
    case PhysicalType::kDouble:
      return NumberKind::kDouble;
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> NumberBits(const Column& column, NumberKind kind, const KeyList& keys,
                                   size_t i) {
  if (kind == NumberKind::kDouble) {
    const auto value = NumberKey<double>(keys, i);
    if (!value) return std::nullopt;
    return std::bit_cast<uint64_t>(*value);
  }
  if (kind == NumberKind::kFloat) {
    const auto value = NumberKey<float>(keys, i);
    if (!value) return std::nullopt;
    return std::bit_cast<uint32_t>(*value);
  }
  const auto value = IntegerKey(column.logical, keys, i);
  const int stored = column.physical == PhysicalType::kInt32 ? 32 : 64;
  int bits = stored;
  if (column.logical.kind == Kind::kInteger && column.logical.bit_width < bits) {
    bits = column.logical.bit_width;
  }
  if (!value || !Fits(*value, kind == NumberKind::kSigned, bits)) return std::nullopt;
  const uint64_t two = value->negative ? ~value->magnitude + 1 : value->magnitude;
  return stored == 32 ? two & 0xFFFFFFFF : two;
}

std::optional<std::string_view> StoredBytes(const Column& column, const KeyList& keys, size_t i,
                                            std::string& made) {
  const bool text = keys.type() == Type::kText;
  if (column.logical.kind == Kind::kDecimal) {
    const auto unscaled = UnscaledOf(column.logical, keys, i);
    if (!unscaled) return std::nullopt;
    auto bytes = BigEndian(*unscaled, column.width);
    if (!bytes) return std::nullopt;
    made = std::move(*bytes);
    return made;
  }
  if (!text && keys.type() != Type::kBytes) return std::nullopt;
  const std::string_view value = keys.values<std::string_view>()[i];
  if (text && column.logical.kind == Kind::kUuid) {
    const auto bytes = ParseUuid(Trimmed(value));
    if (!bytes) return std::nullopt;
    made.assign(bytes->data(), bytes->size());
    return made;
  }
  if (column.physical == PhysicalType::kFixedLenByteArray && value.size() != column.width) {
    return std::nullopt;
  }
  return value;
}

}  // namespace tamis::parquet
