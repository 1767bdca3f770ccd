// The Bloom filters of Vortex, a columnar file format ("vortex.bloom_filter.sbbf"), with one filter
// for each zone of a column: reading and writing them.
//
// Each filter consists of blocks only. These are the blocks of a SplitBlockBloomFilter with the
// default hash of tamis, {HashKind::kXxh3, 0}. Keys are the bytes of the values: 64-bit integers
// are 8 bytes, little-endian, as in tamis, and narrower values are keys of a FixedColumn. The
// options of the column are stored separately. They have 8 bytes: the number of blocks, and 0,
// which stands for this hash (u32 each, little-endian). Vortex documents that all of this may still
// change.
//
// Functions that read throw FormatError with the failed check ("file length", "blocks" or "hash")
// and the offset.
#ifndef TAMIS_FORMATS_VORTEX_H_
#define TAMIS_FORMATS_VORTEX_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tamis/backend.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/memory.h"

namespace tamis::vortex {

inline constexpr uint64_t kOptionsBytes = 8;

// Returns the number of blocks of each filter, from the options of the column.
uint64_t ReadOptions(std::span<const std::byte> options);
// Returns the options for filters of the size of `filter`.
std::vector<std::byte> OptionsOf(const SplitBlockBloomFilter& filter);

// Views one filter in place. `num_blocks` is the result of ReadOptions. If the address is not a
// multiple of 4, throws Error(kInvalidArgument): use FromBytes, which copies.
ConstSplitBlockView View(std::span<const std::byte> bytes, uint64_t num_blocks,
                         const Backend* backend = nullptr);

// Copies the blocks into a filter that can be changed. inserted_count() is estimated from them.
// Throws Error(kOutOfMemory).
SplitBlockBloomFilter FromBytes(std::span<const std::byte> bytes, uint64_t num_blocks,
                                const MemoryOptions& memory = {}, const Backend* backend = nullptr);

// Returns the bytes that Vortex reads, next to OptionsOf(filter). Like OptionsOf, throws
// Error(kIncompatible) for another hash, and FormatError for a mapped filter whose file is damaged.
std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter);

}  // namespace tamis::vortex

#endif  // TAMIS_FORMATS_VORTEX_H_
