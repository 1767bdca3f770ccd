// Parses keys that are decimal integers.
#ifndef TAMIS_TOOLS_INPUT_INTEGER_KEY_H_
#define TAMIS_TOOLS_INPUT_INTEGER_KEY_H_

#include <cstdint>
#include <string_view>

namespace tamis::tools {

// Returns `text` without the spaces and tabs at its ends.
std::string_view WithoutBlanks(std::string_view text);

// Parses an integer from -2^63 to 2^64 - 1: digits, with or without a minus sign before them.
// Returns nullptr, or what is wrong with `text`.
const char* ParseIntegerKey(std::string_view text, uint64_t& value);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_INTEGER_KEY_H_
