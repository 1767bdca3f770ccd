// The bytes in front of the bits of a Bloom filter: BloomFilterHeader of parquet.thrift.
#ifndef TAMIS_PARQUET_SRC_FILTER_HEADER_H_
#define TAMIS_PARQUET_SRC_FILTER_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tamis::parquet {

// The bits that a header can stand for: a signed number of 32 bits, and whole blocks.
inline constexpr uint64_t kMaxFilterBytes = (uint64_t{1} << 31) - 32;
// No header is longer. Those of today have 15 to 19 bytes.
inline constexpr size_t kMaxHeaderBytes = 256;

// Of a split-block filter by XXH64, not compressed. `bits` is a multiple of 32 in
// [32, kMaxFilterBytes].
std::string FilterHeader(uint64_t bits);

struct ParsedHeader {
  size_t header_bytes = 0;
  uint64_t bits = 0;  // bytes of them, behind the header: a multiple of 32, at least 32
};

// What `bytes` begin with, which are at `offset` of a file. Throws FormatError(kCorrupt) if that is
// no header, and Error(kUnsupported) for another algorithm, hash or compression.
ParsedHeader ParseFilterHeader(std::span<const std::byte> bytes, uint64_t offset);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_FILTER_HEADER_H_
