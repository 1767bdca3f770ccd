#include "tamis/units.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tamis/detail/str_cat.h"

namespace tamis {
namespace {

template <typename... Format>
std::string Text(double value, Format... format) {
  char buffer[512];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value, format...);
  return result.ec == std::errc() ? std::string(buffer, result.ptr) : "?";
}

// `units` must ascend by factors of `step`.
template <size_t kUnits>
std::string WithUnit(double value, double step, const char* const (&units)[kUnits]) {
  size_t unit = 0;
  for (; unit + 1 < kUnits && value >= 0.9995 * step; ++unit) value /= step;
  return FixedText(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + units[unit];
}

// Returns whether the fraction is too small to be readable as a percentage.
bool IsRare(double fraction) { return fraction > 0 && fraction < 1e-6; }

std::string OneIn(double fraction) {
  const double exponent = std::round(-std::log10(fraction));
  const bool power = std::abs(fraction * std::pow(10, exponent) - 1) < 5e-4;
  constexpr double kWithoutName = 15;  // larger numbers than trillions
  if (power || exponent >= kWithoutName) return "1 in 10^" + FixedText(exponent, 0);
  return "1 in " + CountText(1 / fraction);
}

std::string TwoDigits(uint64_t number) { return detail::StrCat(number < 10 ? "0" : "", number); }

}  // namespace

std::string FixedText(double value, int digits) {
  return Text(value, std::chars_format::fixed, digits);
}

std::string NumberText(double value) { return Text(value); }

std::string DurationText(double seconds) {
  if (!(seconds >= 99.95 && seconds < 1e15)) {
    return WithUnit(1e9 * seconds, 1000, {" ns", " us", " ms", " s"});
  }
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 3600) return detail::StrCat(whole / 60, " min ", TwoDigits(whole % 60), " s");
  return detail::StrCat(whole / 3600, " h ", TwoDigits(whole % 3600 / 60), " min");
}

std::string BytesText(double bytes) {
  if (bytes < 1024) return FixedText(bytes, 0) + " bytes";
  return WithUnit(bytes / 1024, 1024, {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"});
}

std::string CountText(double count) {
  if (count < 999.5) return FixedText(count, 0);
  return WithUnit(count / 1000, 1000, {" thousand", " million", " billion", " trillion"});
}

std::string ShortCountText(double count) {
  if (count < 999.5) return FixedText(count, 0);
  return WithUnit(count / 1000, 1000, {" k", " M", " G", " T", " P", " E"});
}

std::string PercentText(double fraction, int digits) {
  if (fraction == 0) return "0%";
  if (IsRare(fraction)) return OneIn(fraction);
  const std::string scientific = Text(100 * fraction, std::chars_format::scientific, digits - 1);
  // Takes the exponent after rounding, so that 99.99 has as many digits as 100.
  const size_t e = scientific.find('e');
  const int exponent = e == std::string::npos ? digits : std::stoi(scientific.substr(e + 1));
  if (exponent < -4 || exponent >= digits) return scientific + "%";
  return FixedText(100 * fraction, digits - 1 - exponent) + "%";
}

std::string ShortPercentText(double fraction) {
  if (IsRare(fraction)) return OneIn(fraction);
  return Text(100 * fraction, std::chars_format::general, 3) + "%";
}

}  // namespace tamis
