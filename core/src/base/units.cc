#include "core/src/base/units.h"

#include <charconv>
#include <cstddef>

namespace tamis::detail {
namespace {

// `units` ascend by factors of `step`.
template <size_t kUnits>
std::string WithUnit(double value, double step, const char* const (&units)[kUnits]) {
  size_t unit = 0;
  for (; unit + 1 < kUnits && value >= 0.9995 * step; ++unit) value /= step;
  return Fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + units[unit];
}

}  // namespace

std::string Fixed(double value, int digits) {
  char buffer[512];
  const auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, digits);
  return result.ec == std::errc() ? std::string(buffer, result.ptr) : "?";
}

std::string DurationText(double seconds) {
  return WithUnit(1e9 * seconds, 1000, {" ns", " us", " ms", " s"});
}

std::string BytesText(double bytes) {
  if (bytes < 1024) return Fixed(bytes, 0) + " bytes";
  return WithUnit(bytes / 1024, 1024, {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"});
}

std::string CountText(double count) {
  if (count < 1000) return Fixed(count, 0);
  return WithUnit(count / 1000, 1000, {" thousand", " million", " billion", " trillion"});
}

std::string PercentText(double fraction) {
  char buffer[64];
  const auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), 100 * fraction, std::chars_format::general, 3);
  return result.ec == std::errc() ? std::string(buffer, result.ptr) + "%" : "?";
}

}  // namespace tamis::detail
