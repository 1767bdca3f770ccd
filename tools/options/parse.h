// Parses the values of options. If the whole of `text` is not an allowed value, each function
// throws Error(kInvalidArgument). The message contains `option`, `text` and the allowed values.
#ifndef TAMIS_TOOLS_OPTIONS_PARSE_H_
#define TAMIS_TOOLS_OPTIONS_PARSE_H_

#include <tamis/plan/plan.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/input/bad_lines.h"

namespace tamis::tools {

// Parses a whole number: 5000000000, 5_000_000_000, 5e9, 1.5e9, or with a decimal suffix 5G (k, M,
// G, T).
uint64_t ParseCount(std::string_view option, std::string_view text);

// Parses a whole number that is not 0.
uint64_t ParsePositiveCount(std::string_view option, std::string_view text);

// Parses a number of bytes that is not 0. Optional suffixes are K, KiB, M, MiB ... (powers of 1024)
// and kB, MB ... (powers of 1000).
uint64_t ParseBytes(std::string_view option, std::string_view text);

// Parses a number of threads in [1, 1024].
unsigned ParseThreads(std::string_view option, std::string_view text);

// Parses a false-positive rate in [kMinFpr, kMaxFpr]: 0.01 or 1%.
double ParseFpr(std::string_view option, std::string_view text);

// Parses a share in (0, 1]: 0.8 or 80%.
double ParseShare(std::string_view option, std::string_view text);

// Parses "1%" or 0.01 for a share of the lines, or a whole number of lines.
MaxBad ParseMaxBad(std::string_view option, std::string_view text);

// Parses the separator of fields: one byte that is not a quote or line end.
char ParseSeparator(std::string_view option, std::string_view text);

// Parses a decimal number, or a hexadecimal number that begins with 0x. Returns a random number for
// "random".
uint64_t ParseSeed(std::string_view option, std::string_view text);

// Parses "LO:HI", both inclusive, with LO <= HI.
KeyRange ParseRange(std::string_view option, std::string_view text);

// Parses a number of digits in [1, 19]. Returns the range of integers of at most that many digits.
KeyRange ParseDigits(std::string_view option, std::string_view text);

// Parses a time in UTC, 2026-12-31T23:59:59Z, or a duration from now: 90s, 30m, 36h or 7d. Times
// are in the years 1970 to 2200. Durations are at most 36500 days.
std::chrono::system_clock::time_point ParseTime(std::string_view option, std::string_view text);

// The size of a window: a number of keys, or a time.
struct WindowSize {
  uint64_t keys = 0;
  std::chrono::seconds span{0};  // 0: by keys

  bool given() const { return keys != 0 || by_time(); }
  bool by_time() const { return span != std::chrono::seconds(0); }
  friend bool operator==(const WindowSize&, const WindowSize&) = default;
};

// Parses a whole number that is not 0, such as 10M, or a time that is not 0: 90s, 5m, 36h or 7d.
// Times are at most 36500 days.
WindowSize ParseWindow(std::string_view option, std::string_view text);
// Returns a text that ParseWindow accepts.
std::string WindowText(const WindowSize& size);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_PARSE_H_
