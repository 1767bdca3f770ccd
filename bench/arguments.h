// Parses numbers in the arguments of the small programs in this folder.
#ifndef TAMIS_BENCH_ARGUMENTS_H_
#define TAMIS_BENCH_ARGUMENTS_H_

#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace tamis::bench {

// Returns whether all of `text` is a whole number in [min, max]. If so, sets `value` to it.
inline bool ParseCount(const char* text, uint64_t& value, uint64_t min = 1,
                       uint64_t max = uint64_t{1} << 40) {
  const char* const end = text + std::strlen(text);
  uint64_t number = 0;
  const auto result = std::from_chars(text, end, number);
  if (result.ec != std::errc() || result.ptr != end || number < min || number > max) return false;
  value = number;
  return true;
}

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_ARGUMENTS_H_
