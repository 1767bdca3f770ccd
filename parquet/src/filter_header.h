// The header in front of the bits of a Bloom filter: BloomFilterHeader of parquet.thrift.
#ifndef TAMIS_PARQUET_SRC_FILTER_HEADER_H_
#define TAMIS_PARQUET_SRC_FILTER_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tamis::parquet {

// The largest size that a header can state: a signed 32-bit number, in whole blocks.
inline constexpr uint64_t kMaxFilterBytes = (uint64_t{1} << 31) - 32;
// Upper bound for the size of a header. Current headers have 15 to 19 bytes.
inline constexpr size_t kMaxHeaderBytes = 256;

// Returns the header of an uncompressed split-block filter with XXH64. `bytes` is the size of
// its bits: a multiple of 32 in [32, kMaxFilterBytes].
std::string FilterHeader(uint64_t bytes);

struct ParsedHeader {
  size_t header_bytes = 0;
  uint64_t bits = 0;  // bytes of bits behind the header: a multiple of 32, at least 32
};

// Parses the header at the start of `bytes`, which are at `offset` of a file. Throws
// FormatError(kCorrupt) if it is invalid, and Error(kUnsupported) for another algorithm, hash or
// compression.
ParsedHeader ParseFilterHeader(std::span<const std::byte> bytes, uint64_t offset);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_FILTER_HEADER_H_
