// Numbers in sentences for people.
#ifndef TAMIS_CORE_SRC_BASE_UNITS_H_
#define TAMIS_CORE_SRC_BASE_UNITS_H_

#include <string>

namespace tamis::detail {

// With so many digits after the point.
std::string Fixed(double value, int digits);

// Three digits and a unit: "1.25 ms", "512 bytes", "6.13 GiB", "52.7 billion".
std::string DurationText(double seconds);
std::string BytesText(double bytes);
std::string CountText(double count);

// "1.00%", "0.244%", "1.2e-05%"
std::string PercentText(double fraction);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_UNITS_H_
