// The Bloom filters of Apache Kvrocks (BF.ADD and related commands), as stored in its RocksDB:
// reading and writing them.
//
// One key of Kvrocks is a chain of filters. The record of the key, in the column family "metadata",
// has the number of filters. Each filter is a separate value, which consists of the blocks of a
// SplitBlockBloomFilter with the hash {HashKind::kXxh64, 0} and strings as keys. The size of a
// value is a power of two from 32 bytes to 128 MiB. A string is in the chain if any of its filters
// contains it.
//
// Functions that read throw FormatError with the failed check ("file length", "type", "blocks",
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
  uint64_t version = 0;        // version of the record; part of the RocksDB keys of its filters
  uint64_t keys = 0;           // number of inserted strings that were new
  uint16_t filters = 0;        // number of filters, at least 1
  uint16_t expansion = 0;      // filter i has expansion^i times the first capacity; 0: one filter
  uint32_t base_capacity = 0;  // capacity of the first filter, in strings
  double fpr = 0;              // error rate of each filter, between 0 and 1, both excluded
  uint32_t bytes = 0;          // size of all filters
};

// Reads one record in the 32-bit or the 64-bit encoding. Missing or further bytes are an error.
Chain ReadChain(std::span<const std::byte> record);

// Returns the size in bytes, a power of two, of a filter that Kvrocks makes for `capacity` keys.
// ToBytes accepts a SplitBlockBloomFilter of this size with the hash above. The formula is Arrow's,
// which assumes evenly loaded blocks, so the rate may exceed `fpr`. Throws Error(kInvalidArgument)
// unless `fpr` is in [10^-12, 0.99], and if the filter would need more than 128 MiB. (Kvrocks then
// makes the largest filter, at a higher rate.)
uint64_t BytesFor(uint32_t capacity, double fpr = 0.01);

// Views one filter in place. If the address is not a multiple of 4, throws Error(kInvalidArgument):
// use FromBytes, which copies.
ConstSplitBlockView View(std::span<const std::byte> value, const Backend* backend = nullptr);

// Copies the blocks into a filter that can be changed. inserted_count() is estimated from them.
// Throws Error(kOutOfMemory).
SplitBlockBloomFilter FromBytes(std::span<const std::byte> value, const MemoryOptions& memory = {},
                                const Backend* backend = nullptr);

// Returns the value of a filter. Throws Error(kIncompatible) for another hash or for keys that are
// not strings, Error(kInvalidArgument) for a size that the format does not have, and FormatError
// for a mapped filter whose file is damaged.
std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter);

}  // namespace tamis::kvrocks

#endif  // TAMIS_FORMATS_KVROCKS_H_
