// How many keys there are, found out before a filter is made for them.
#ifndef TAMIS_TOOLS_INPUT_COUNT_KEYS_H_
#define TAMIS_TOOLS_INPUT_COUNT_KEYS_H_

#include <cstdint>

#include "tools/input/input.h"

namespace tamis::tools {

// Reads all keys of regular files, `total_bytes` together, and leaves standard input where it was.
// Says how many there are, unless `quiet`. Throws as KeyReader does.
uint64_t CountKeys(const InputOptions& input, uint64_t total_bytes, bool quiet);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_COUNT_KEYS_H_
