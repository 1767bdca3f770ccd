// Conversion between SplitBlockBloomFilter and formats with the same blocks.
#ifndef TAMIS_FORMATS_SRC_BLOCK_IMPORT_H_
#define TAMIS_FORMATS_SRC_BLOCK_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/src/base/function_ref.h"
#include "tamis/backend.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash.h"
#include "tamis/key_types.h"
#include "tamis/memory.h"

namespace tamis::detail {

// XXH64 with seed 0, as in Parquet.
inline constexpr HashSpec kParquetHash{HashKind::kXxh64, 0};

// Sizes of Arrow's BlockSplitBloomFilter and its descendants: a power of two bytes.
inline constexpr uint64_t kArrowMinBytes = split_block::kBlockBytes;
inline constexpr uint64_t kArrowMaxBytes = uint64_t{128} << 20;

// Whether `bytes` is one of these sizes.
bool IsArrowSize(uint64_t bytes) noexcept;

// Returns the size that Arrow's OptimalNumOfBytes computes for `capacity` keys: -8n / ln(1 -
// p^(1/8)) bits, rounded up to a power of two. The formula assumes evenly loaded blocks, so the
// rate exceeds p if rounding adds only few bits. Throws Error(kInvalidArgument) unless `fpr` is in
// [min_fpr, max_fpr], and for sizes above kArrowMaxBytes. (Arrow then uses kArrowMaxBytes.)
uint64_t ArrowBytes(uint64_t capacity, double fpr, double min_fpr, double max_fpr);

// Returns a filter of `num_blocks` blocks, which read(out) fills in, with the key types `forms`.
// `capacity` is 0 if unknown. The number of keys is estimated from the contents.
SplitBlockBloomFilter BlocksRead(uint64_t num_blocks, const HashSpec& hash, uint64_t capacity,
                                 KeyTypes forms, const MemoryOptions& memory,
                                 const Backend* backend,
                                 FunctionRef<void(std::span<std::byte>)> read);
// Like BlocksRead, with a copy of `blocks`, which must be whole blocks.
SplitBlockBloomFilter CopyOfBlocks(std::span<const std::byte> blocks, const HashSpec& hash,
                                   uint64_t capacity, KeyTypes forms, const MemoryOptions& memory,
                                   const Backend* backend);

// Checks that the blocks of a filter can be written in the format `name`. Throws
// Error(kIncompatible) for another hash, and FormatError for a mapped filter whose file is damaged.
void RequireExportable(const SplitBlockBloomFilter& filter, const HashSpec& hash, const char* name);
// Like RequireExportable. Also throws Error(kInvalidArgument) unless IsArrowSize.
void RequireArrowExportable(const SplitBlockBloomFilter& filter, const char* name);

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_BLOCK_IMPORT_H_
