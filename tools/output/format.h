// Formats numbers and text for people.
#ifndef TAMIS_TOOLS_OUTPUT_FORMAT_H_
#define TAMIS_TOOLS_OUTPUT_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::tools {

// Returns the text that std::printf would write.
[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...);

// Returns "5,000,000,000".
std::string WithCommas(uint64_t n);
// Returns "1 key", "2,000 keys".
std::string Counted(uint64_t n, std::string_view what);

// Returns one line of a report: "  name      value\n".
std::string Row(std::string_view name, std::string_view value);

// Returns `text` in lines of at most `width` characters, broken at spaces, with `indent` spaces
// before all lines but the first. If a word does not fit, its line is longer. Ends with a newline.
std::string Wrapped(std::string_view text, size_t indent, size_t width);

// Returns `text` with \xNN for each byte of a control character, which could change the state of a
// terminal, and for each byte of a blank that looks like a space.
std::string Printable(std::string_view text);

// Returns at most 40 characters of `text`, Printable and in quotes.
std::string Quoted(std::string_view text);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_FORMAT_H_
