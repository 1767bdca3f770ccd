// Counts keys before a filter is made for them.
#ifndef TAMIS_TOOLS_INPUT_COUNT_KEYS_H_
#define TAMIS_TOOLS_INPUT_COUNT_KEYS_H_

#include <cstdint>

#include "tools/input/input.h"

namespace tamis::tools {

// Counts all keys of the input, regular files of `total_bytes` bytes. Restores the position of
// standard input. If `quiet` is false, prints the count. Throws the errors of KeyReader.
uint64_t CountKeys(const InputOptions& input, uint64_t total_bytes, bool quiet);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_COUNT_KEYS_H_
