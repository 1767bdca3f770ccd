// Counts keys before a filter is made for them.
#ifndef TAMIS_TOOLS_INPUT_COUNT_KEYS_H_
#define TAMIS_TOOLS_INPUT_COUNT_KEYS_H_

#include <cstdint>

#include "tools/input/input.h"

namespace tamis::tools {

// Reads all keys of regular files of `total_bytes` bytes, and leaves standard input where it was.
// Prints the count, unless `quiet`. Throws what KeyReader throws.
uint64_t CountKeys(const InputOptions& input, uint64_t total_bytes, bool quiet);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_COUNT_KEYS_H_
