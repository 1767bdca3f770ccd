// Numbers as people read them.
#ifndef TAMIS_TOOLS_FORMAT_H_
#define TAMIS_TOOLS_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::tools {

// As std::snprintf, into a string of whatever length it takes.
[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...);

// "5,000,000,000"
std::string WithCommas(uint64_t n);

// "6.13 GiB", "512 bytes"
std::string HumanBytes(double bytes);

// "95.6 M", "812 k", "17": three digits and a decimal prefix, for rates.
std::string HumanCount(double n);

// "3.12 ms", "52.3 s", "2 min 05 s", "1 h 10 min"
std::string HumanSeconds(double seconds);

// 0.01 is "1.000%", with so many significant digits.
std::string Percent(double fraction, int digits = 4);

// One line of a report: "  name      value\n".
std::string Row(std::string_view name, std::string_view value);

// `text` in lines of at most `width` characters, broken at spaces, with `indent` spaces before all
// but the first; a longer word stands out. Ends with a newline.
std::string Wrapped(std::string_view text, size_t indent, size_t width);

// At most 40 characters of `text`, in quotes, with unprintable bytes as \xNN.
std::string Quoted(std::string_view text);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_FORMAT_H_
