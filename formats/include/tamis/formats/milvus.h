// The membership filters of Milvus ("MBF1"), which its clients send with a query: read and written.
//
// Their blocks are those of a SplitBlockBloomFilter with the hash {HashKind::kXxh64, 0}: integers
// are 64-bit keys, as all are here, and text is its bytes in UTF-8. Before them are 32 bytes:
//
//   0  "MBF1"; 4 version, 1 (u16); 6 algorithm, 1 (u16); 8 keys that it was made for (u64);
//   16 rate that it was made for (f64); 24 number of blocks (u32); 28 domains (u8: 1 if it has
//   integers, 2 if it has text); 29 three zeros; all little-endian.
//
// The blocks are a power of two, up to 128 MiB. Functions that read check all of this but the two
// numbers of what it was made for, and throw FormatError naming the check ("file length", "magic",
// "version", "algorithm", "domains", "reserved" or "blocks") and the offset.
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

inline constexpr uint64_t kHeaderBytes = 32;
inline constexpr uint64_t kMaxBlocks = uint64_t{1} << 22;

// What is before the blocks.
struct Header {
  uint64_t capacity = 0;    // keys that it was made for
  double fpr = 0;           // false-positive rate that it was made for
  uint64_t num_blocks = 0;  // a power of two in [1, kMaxBlocks]
  // KeyType::kInteger, kBytes, both or, if it has no keys, none. To a key of another form Milvus
  // answers "no" without asking the blocks, in which an integer and the text with its eight bytes
  // are one key.
  KeyTypes key_types;
};

// The bytes that the blocks of a filter made by Milvus' clients have, a power of two: a
// SplitBlockBloomFilter of so many, with the right hash, can be written. fpr is in [0.0001, 0.05],
// and the formula that of Arrow: the rate may be above fpr, as blocks are unevenly loaded. Throws
// Error(kInvalidArgument), also where Milvus would make the largest, at a higher rate.
uint64_t BytesFor(uint64_t capacity, double fpr = 0.005);

Header ReadHeader(std::span<const std::byte> bytes);

// The blocks where they are, which is at a multiple of 4: else Error(kInvalidArgument) is thrown,
// and FromBytes makes a copy.
ConstSplitBlockView View(std::span<const std::byte> bytes, const Backend* backend = nullptr);

// A filter that can be changed, with a copy of the blocks. inserted_count() is what they suggest.
// Throws Error(kOutOfMemory), and Error(kIo) for files.
SplitBlockBloomFilter FromBytes(std::span<const std::byte> bytes, const MemoryOptions& memory = {},
                                const Backend* backend = nullptr);
SplitBlockBloomFilter Load(const std::filesystem::path& path, const MemoryOptions& memory = {},
                           const Backend* backend = nullptr);

// Of a filter: its capacity, the rate at it, and its types of keys. Throws Error(kIncompatible) if
// those are others than kInteger and kBytes: ready hashes, for example.
Header HeaderOf(const SplitBlockBloomFilter& filter);

// What Milvus reads. Throws Error(kIncompatible) for another hash, Error(kInvalidArgument) for a
// size that is not in the format, and unless the header has the number of blocks of the filter and
// no types of keys but kInteger and kBytes; FormatError for a mapped filter whose file is damaged.
std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter, const Header& header);
std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter);

}  // namespace tamis::milvus

#endif  // TAMIS_FORMATS_MILVUS_H_
