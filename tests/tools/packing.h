// Makes packed data for tests without the programs that pack.
#ifndef TAMIS_TESTS_TOOLS_PACKING_H_
#define TAMIS_TESTS_TOOLS_PACKING_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::tools {

// Returns a gzip member with `text` in stored blocks.
std::string Gzip(std::string_view text);

// Zstd returns a zstd frame with `text` in raw blocks. ZstdRun returns a frame of `bytes` bytes
// equal to `c`, packed to a 30,000th of that size.
std::string Zstd(std::string_view text);
std::string ZstdRun(uint64_t bytes, char c);

// Returns a frame that programs skip.
std::string ZstdSkipped(std::string_view contents);

}  // namespace tamis::tools

#endif  // TAMIS_TESTS_TOOLS_PACKING_H_
