// Numbers as text for people, the same in every locale.
#ifndef TAMIS_UNITS_H_
#define TAMIS_UNITS_H_

#include <string>

#include "tamis/cpp20.h"

namespace tamis {

// Returns three digits and a unit: "1.25 ms", "52.3 s", and "2 min 05 s", "1 h 10 min".
std::string DurationText(double seconds);
// "512 bytes", "6.13 GiB". Four digits if a larger unit would give less than 1: "1000 KiB".
std::string BytesText(double bytes);
// "17", "52.7 billion"
std::string CountText(double count);
// "17", "52.7 G". For rates.
std::string ShortCountText(double count);

// Returns a percentage with `digits` significant digits: "1.000%", "0.2441%". 0 is "0%". Fractions
// below one in a million become "1 in 8.33 million" or "1 in 10^9".
std::string PercentText(double fraction, int digits = 4);
// Returns a percentage with at most three digits: "1%", "0.244%".
std::string ShortPercentText(double fraction);

// Returns a number with `digits` digits after the point.
std::string FixedText(double value, int digits);
// Returns the shortest decimal number that reads back as the same value.
std::string NumberText(double value);

}  // namespace tamis

#endif  // TAMIS_UNITS_H_
