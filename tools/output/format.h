// Numbers as people read them.
#ifndef TAMIS_TOOLS_OUTPUT_FORMAT_H_
#define TAMIS_TOOLS_OUTPUT_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::tools {

// As std::snprintf, into a string of whatever length it takes.
[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...);

// "5,000,000,000"
std::string WithCommas(uint64_t n);
// "1 key", "2,000 keys".
std::string Counted(uint64_t n, std::string_view what);

// One line of a report: "  name      value\n".
std::string Row(std::string_view name, std::string_view value);

// `text` in lines of at most `width` characters, broken at spaces, with `indent` spaces before all
// but the first; a longer word stands out. Ends with a newline.
std::string Wrapped(std::string_view text, size_t indent, size_t width);

// `text` with the bytes of control characters, which a terminal would obey, and of blanks other
// than the usual one, which nobody would tell from it, as \xNN.
std::string Printable(std::string_view text);

// At most 40 characters of `text`, Printable and in quotes.
std::string Quoted(std::string_view text);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_FORMAT_H_
