// Between a SplitBlockBloomFilter and formats that have its blocks as they are.
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

// What Arrow's BlockSplitBloomFilter, and others after it, may have: a power of two bytes.
inline constexpr uint64_t kArrowMinBytes = split_block::kBlockBytes;
inline constexpr uint64_t kArrowMaxBytes = uint64_t{128} << 20;

// Whether so many bytes are one of these sizes.
bool IsArrowSize(uint64_t bytes) noexcept;

// The size that its OptimalNumOfBytes has for so many keys: -8n / ln(1 - p^(1/8)) bits, rounded up
// to a power of two. That formula is for evenly loaded blocks: the rate is higher than p where the
// size is not rounded up much. Throws Error(kInvalidArgument) unless fpr is in [min_fpr, max_fpr],
// and where that would be more than kArrowMaxBytes, of which Arrow makes as many.
uint64_t ArrowBytes(uint64_t capacity, double fpr, double min_fpr, double max_fpr);

// A filter of so many blocks, which read(out) fills in, and of these types of keys. `capacity` is 0
// if nobody knows it. The number of keys is what the contents suggest.
SplitBlockBloomFilter BlocksRead(uint64_t num_blocks, const HashSpec& hash, uint64_t capacity,
                                 KeyTypes forms, const MemoryOptions& memory,
                                 const Backend* backend,
                                 FunctionRef<void(std::span<std::byte>)> read);
// The same with a copy of blocks, which are a whole number.
SplitBlockBloomFilter CopyOfBlocks(std::span<const std::byte> blocks, const HashSpec& hash,
                                   uint64_t capacity, KeyTypes forms, const MemoryOptions& memory,
                                   const Backend* backend);

// Before the blocks of a filter go into another format, called `name`: throws Error(kIncompatible)
// for another hash, and FormatError for a mapped filter whose file is damaged.
void RequireExportable(const SplitBlockBloomFilter& filter, const HashSpec& hash, const char* name);
// The same, and Error(kInvalidArgument) unless IsArrowSize.
void RequireArrowExportable(const SplitBlockBloomFilter& filter, const char* name);

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_BLOCK_IMPORT_H_
