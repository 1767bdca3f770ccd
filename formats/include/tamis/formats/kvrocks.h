// The Bloom filters of Apache Kvrocks (BF.ADD and the like), as they are in its RocksDB: read and
// written.
//
// One key of Kvrocks is a chain of filters. The record of the key, in the column family "metadata",
// says how many there are; each is a value of its own, and nothing but blocks: those of a
// SplitBlockBloomFilter with the hash {HashKind::kXxh64, 0} and keys that are strings, a power of
// two bytes from 32 to 128 MiB. A string is in the chain if any of its filters has it.
//
// Functions that read throw FormatError naming the check ("file length", "type", "blocks",
// "filters" or "error rate") and the offset.
#ifndef TAMIS_FORMATS_KVROCKS_H_
#define TAMIS_FORMATS_KVROCKS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tamis/backend.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/memory.h"

namespace tamis::kvrocks {

// The record of a key.
struct Chain {
  uint64_t expires = 0;        // milliseconds since 1970; 0: never
  uint64_t version = 0;        // of the key, and in the keys of its filters
  uint64_t keys = 0;           // strings inserted, each of which was new
  uint16_t filters = 0;        // at least 1
  uint16_t expansion = 0;      // filter i is for expansion^i times the first; 0: there is but one
  uint32_t base_capacity = 0;  // strings that the first is for
  double fpr = 0;              // the rate that each is for, between 0 and 1, both excluded
  uint32_t bytes = 0;          // of all filters
};

// All of a record and nothing else, in the encoding of 32 bits or that of 64.
Chain ReadChain(std::span<const std::byte> record);

// The bytes of a filter of Kvrocks for so many keys, a power of two: a SplitBlockBloomFilter of so
// many, with the right hash, can be written. The formula is that of Arrow: the rate may be above
// fpr, as blocks are unevenly loaded. Throws Error(kInvalidArgument) unless fpr is in
// [10^-12, 0.99], and where Kvrocks would make the largest, at a higher rate.
uint64_t BytesFor(uint32_t capacity, double fpr = 0.01);

// One filter, where it is, which is at a multiple of 4: else Error(kInvalidArgument) is thrown, and
// FromBytes makes a copy.
ConstSplitBlockView View(std::span<const std::byte> value, const Backend* backend = nullptr);

// A filter that can be changed, with a copy of the blocks. inserted_count() is what they suggest.
// Throws Error(kOutOfMemory).
SplitBlockBloomFilter FromBytes(std::span<const std::byte> value, const MemoryOptions& memory = {},
                                const Backend* backend = nullptr);

// The value of a filter. Throws Error(kIncompatible) for another hash, and for keys that were not
// strings, Error(kInvalidArgument) for a size that is not in the format, FormatError for a mapped
// filter whose file is damaged.
std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter);

}  // namespace tamis::kvrocks

#endif  // TAMIS_FORMATS_KVROCKS_H_
