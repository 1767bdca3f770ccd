// The Bloom filters of Vortex, the columnar file format ("vortex.bloom_filter.sbbf"), one for each
// zone of a column: read and written.
//
// Each is nothing but blocks: those of a SplitBlockBloomFilter with the hash that is the default
// here, {HashKind::kXxh3, 0}, and keys that are the bytes of the values; those of 64-bit integers
// are 8 bytes, little-endian, as here, and narrower values are keys of a FixedColumn. Beside them
// are the options of the column, 8 bytes: the number of blocks, and 0, which means this hash (u32
// each, little-endian). Vortex says of all of this that it may still change.
//
// Functions that read throw FormatError naming the check ("file length", "blocks" or "hash") and
// the offset.
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

// The number of blocks that the options of a column say its filters have.
uint64_t ReadOptions(std::span<const std::byte> options);
// The options for filters like this.
std::vector<std::byte> OptionsOf(const SplitBlockBloomFilter& filter);

// One filter, where it is, which is at a multiple of 4: else Error(kInvalidArgument) is thrown, and
// FromBytes makes a copy. `num_blocks` is what the options say.
ConstSplitBlockView View(std::span<const std::byte> bytes, uint64_t num_blocks,
                         const Backend* backend = nullptr);

// A filter that can be changed, with a copy of the blocks. inserted_count() is what they suggest.
// Throws Error(kOutOfMemory).
SplitBlockBloomFilter FromBytes(std::span<const std::byte> bytes, uint64_t num_blocks,
                                const MemoryOptions& memory = {}, const Backend* backend = nullptr);

// What Vortex reads, beside OptionsOf(filter). Throws, as that does, Error(kIncompatible) for
// another hash, and FormatError for a mapped filter whose file is damaged.
std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter);

}  // namespace tamis::vortex

#endif  // TAMIS_FORMATS_VORTEX_H_
