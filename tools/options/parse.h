// Numbers as people type them. Every function takes the whole of `text` or throws
// Error(kInvalidArgument), which names `option`, the text and what is allowed.
#ifndef TAMIS_TOOLS_OPTIONS_PARSE_H_
#define TAMIS_TOOLS_OPTIONS_PARSE_H_

#include <tamis/plan/plan.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/input/bad_lines.h"

namespace tamis::tools {

// A whole number: 5000000000, 5_000_000_000, 5e9, 1.5e9, or with a decimal suffix 5G (k, M, G, T).
uint64_t ParseCount(std::string_view option, std::string_view text);

// The same, but not 0.
uint64_t ParsePositiveCount(std::string_view option, std::string_view text);

// Bytes, not 0, with a suffix K, KiB, M, MiB ... (powers of 1024) or kB, MB ... (powers of 1000),
// or none.
uint64_t ParseBytes(std::string_view option, std::string_view text);

// A number of threads in [1, 1024].
unsigned ParseThreads(std::string_view option, std::string_view text);

// A false-positive rate in [kMinFpr, kMaxFpr]: 0.01 or 1%.
double ParseFpr(std::string_view option, std::string_view text);

// "1%" or 0.01 for a share of the lines, a whole number for so many.
MaxBad ParseMaxBad(std::string_view option, std::string_view text);

// What stands between fields: one byte, and no quote or line end.
char ParseSeparator(std::string_view option, std::string_view text);

// "random", or a number: decimal, or hexadecimal with 0x.
uint64_t ParseSeed(std::string_view option, std::string_view text);

// "LO:HI", both inclusive, with LO <= HI.
KeyRange ParseRange(std::string_view option, std::string_view text);

// A number of digits in [1, 19], and by it the range of integers of so many digits or fewer.
KeyRange ParseDigits(std::string_view option, std::string_view text);

// A time in UTC, 2026-12-31T23:59:59Z, or one so long from now: 90s, 30m, 36h or 7d. From the year
// 1970 up to 2200.
std::chrono::system_clock::time_point ParseTime(std::string_view option, std::string_view text);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_PARSE_H_
