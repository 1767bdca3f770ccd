// Packed data for tests, made without the programs that pack.
#ifndef TAMIS_TESTS_TOOLS_PACKING_H_
#define TAMIS_TESTS_TOOLS_PACKING_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::tools {

// A member of gzip with `text` in stored blocks.
std::string Gzip(std::string_view text);

// A frame of zstd with `text` in raw blocks, and one of so many bytes that all are `c`, in a
// 30,000th of the room.
std::string Zstd(std::string_view text);
std::string ZstdRun(uint64_t bytes, char c);

// A frame that programs skip.
std::string ZstdSkipped(std::string_view contents);

}  // namespace tamis::tools

#endif  // TAMIS_TESTS_TOOLS_PACKING_H_
