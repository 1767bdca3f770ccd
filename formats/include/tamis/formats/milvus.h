// The membership filters of Milvus ("MBF1"), which its clients send with a query: reading and
// writing them.
//
// The filter consists of a header and of the blocks of a SplitBlockBloomFilter with the hash
// {HashKind::kXxh64, 0}. Integers are keys of 64 bits, as everywhere in tamis. Text is a key by its
// bytes in UTF-8. The header has 32 bytes:
//
//   0  "MBF1"; 4 version, 1 (u16); 6 algorithm, 1 (u16); 8 capacity in keys (u64);
//   16 false-positive rate at the capacity (f64); 24 number of blocks (u32);
//   28 domains (u8: 1 for integers, 2 for text, 3 for both); 29 three zeros; all little-endian.
//
// The number of blocks is a power of two, and the blocks have up to 128 MiB. Functions that read
// check all fields except capacity and rate. They throw FormatError with the failed check ("file
// length", "magic", "version", "algorithm", "domains", "reserved" or "blocks") and the offset.
#ifndef TAMIS_FORMATS_MILVUS_H_
#define TAMIS_FORMATS_MILVUS_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "tamis/backend.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/key_types.h"
#include "tamis/memory.h"

namespace tamis::milvus {

inline constexpr uint64_t kHeaderBytes = 32;               // size of the header
inline constexpr uint64_t kMaxBlocks = uint64_t{1} << 22;  // largest number of blocks

// The fields before the blocks.
struct Header {
  uint64_t capacity = 0;    // keys that the filter was made for
  double fpr = 0;           // false-positive rate that the filter was made for
  uint64_t num_blocks = 0;  // a power of two in [1, kMaxBlocks]
  // KeyType::kInteger, kBytes, both, or empty for a filter without keys. For keys of another type,
  // Milvus answers "no" without reading the blocks. In the blocks, an integer and the text of its
  // eight bytes are the same key.
  KeyTypes key_types;
};

// Returns the size in bytes, a power of two, of the blocks that Milvus' clients make for `capacity`
// keys. ToBytes accepts a SplitBlockBloomFilter of this size with the hash above. The formula is
// Arrow's, which assumes evenly loaded blocks, so the rate may exceed `fpr`. Throws
// Error(kInvalidArgument) unless `fpr` is in [0.0001, 0.05], and if the blocks would need more than
// 128 MiB. (Milvus then makes the largest filter, at a higher rate.)
uint64_t BytesFor(uint64_t capacity, double fpr = 0.005);

// Returns the fields before the blocks. Throws FormatError if a check fails.
Header ReadHeader(std::span<const std::byte> bytes);

// Views the blocks in place. If their address is not a multiple of 4, throws
// Error(kInvalidArgument): use FromBytes, which copies.
ConstSplitBlockView View(std::span<const std::byte> bytes, const Backend* backend = nullptr);

// Copies the blocks into a filter that can be changed. inserted_count() is estimated from them.
// Throws Error(kOutOfMemory), and Load also Error(kIo).
SplitBlockBloomFilter FromBytes(std::span<const std::byte> bytes, const MemoryOptions& memory = {},
                                const Backend* backend = nullptr);
// Reads a file like FromBytes.
SplitBlockBloomFilter Load(const std::filesystem::path& path, const MemoryOptions& memory = {},
                           const Backend* backend = nullptr);

// Returns the header of a filter: its capacity, its rate at capacity, and its key types. Throws
// Error(kIncompatible) for key types other than kInteger and kBytes, such as hashes.
Header HeaderOf(const SplitBlockBloomFilter& filter);

// Returns the bytes that Milvus reads. Throws
// - Error(kIncompatible) for another hash;
// - Error(kInvalidArgument) for a size that the format does not have, and unless the header has the
//   number of blocks of the filter and no key types except kInteger and kBytes;
// - FormatError for a mapped filter whose file is damaged.
std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter, const Header& header);
std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter);

}  // namespace tamis::milvus

#endif  // TAMIS_FORMATS_MILVUS_H_
