// Parses texts of numbers, dates, times and UUIDs. These functions return nothing if the text is
// not such a value. They do not skip blanks.
#ifndef TAMIS_PARQUET_SRC_VALUE_TEXT_H_
#define TAMIS_PARQUET_SRC_VALUE_TEXT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/parquet/schema.h"

namespace tamis::parquet {

// Sign and magnitude: covers int64_t and uint64_t.
struct Integer {
  uint64_t magnitude = 0;
  bool negative = false;

  static Integer Of(int64_t value) {
    return {value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value),
            value < 0};
  }
};

std::optional<Integer> ParseInteger(std::string_view text);
// Like ParseInteger, but also accepts 42.0 and 4.2e1, because some programs write whole numbers in
// this way.
std::optional<Integer> ParseWholeNumber(std::string_view text);

// A decimal number that was multiplied by 10^scale. The product must be a whole number: at scale 1,
// "-1.50" and "-15e-1" have the digits "15" and are negative. The digits have no leading zeros; ""
// is 0.
struct Unscaled {
  std::string digits;
  bool negative = false;
};
std::optional<Unscaled> ParseDecimal(std::string_view text, int32_t scale);
// Returns the value in two's complement of `width` bytes, the highest first, or nothing if the
// value does not fit.
std::optional<std::string> BigEndian(const Unscaled& value, uint32_t width);

// Removes a plus sign, which std::from_chars does not accept. Returns false if a minus follows it.
bool TakeOffPlus(std::string_view& text);

// Returns days since 1970-01-01 in the Gregorian calendar. The year may have up to nine digits. A
// time may follow if it is midnight.
std::optional<int64_t> ParseDate(std::string_view text);
// Returns the time since midnight in `unit`, or nothing if the unit is too coarse. If the text has
// a zone, the time is converted to UTC. 24:00 is the end of the day.
std::optional<int64_t> ParseTime(std::string_view text, TimeUnit unit);
std::optional<int64_t> ParseTimestamp(std::string_view text, TimeUnit unit);
// Returns nothing if `to` is too coarse, or the result too large.
std::optional<int64_t> ConvertUnit(int64_t value, TimeUnit from, TimeUnit to);

std::optional<std::array<char, 16>> ParseUuid(std::string_view text);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_VALUE_TEXT_H_
