#include "tests/tools/packing.h"

#include <algorithm>

namespace tamis::tools {
namespace {

// Returns the lowest `bytes` bytes of `value`, little-endian.
std::string Little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

uint32_t Crc32(std::string_view text) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

constexpr size_t kZstdBlock = size_t{128} << 10;

// Without checksum or size, with a window of 128 KiB.
std::string ZstdHeader() { return std::string("\x28\xB5\x2F\xFD\0\x38", 6); }

std::string ZstdBlockHeader(bool last, unsigned type, size_t bytes) {
  return Little((last ? 1 : 0) | type << 1 | bytes << 3, 3);
}

}  // namespace

std::string Gzip(std::string_view text) {
  constexpr size_t kStored = 65535;
  std::string packed("\x1F\x8B\x08\0\0\0\0\0\0\xFF", 10);
  std::string_view rest = text;
  do {
    const std::string_view block = rest.substr(0, kStored);
    rest.remove_prefix(block.size());
    packed += rest.empty() ? '\1' : '\0';
    packed += Little(block.size(), 2) + Little(~block.size(), 2) + std::string(block);
  } while (!rest.empty());
  return packed + Little(Crc32(text), 4) + Little(text.size(), 4);
}

std::string Zstd(std::string_view text) {
  std::string packed = ZstdHeader();
  do {
    const std::string_view block = text.substr(0, kZstdBlock);
    text.remove_prefix(block.size());
    packed += ZstdBlockHeader(text.empty(), 0, block.size()) + std::string(block);
  } while (!text.empty());
  return packed;
}

std::string ZstdRun(uint64_t bytes, char c) {
  std::string packed = ZstdHeader();
  do {
    const size_t block = std::min<uint64_t>(bytes, kZstdBlock);
    bytes -= block;
    packed += ZstdBlockHeader(bytes == 0, 1, block) + c;
  } while (bytes > 0);
  return packed;
}

std::string ZstdSkipped(std::string_view contents) {
  return "\x50\x2A\x4D\x18" + Little(contents.size(), 4) + std::string(contents);
}

}  // namespace tamis::tools
