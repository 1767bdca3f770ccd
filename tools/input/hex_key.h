// Parses keys that are written in hexadecimal, such as the hashes of files.
#ifndef TAMIS_TOOLS_INPUT_HEX_KEY_H_
#define TAMIS_TOOLS_INPUT_HEX_KEY_H_

#include <string>
#include <string_view>

namespace tamis::tools {

// Appends to `bytes` the bytes that `text` represents: two hexadecimal digits per byte, in upper or
// lower case. Returns nullptr. If `text` is something else, appends nothing, and returns what is
// wrong with it.
const char* AppendHexKey(std::string_view text, std::string& bytes);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_HEX_KEY_H_
