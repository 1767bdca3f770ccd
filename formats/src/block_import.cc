#include "formats/src/block_import.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>

#include "core/src/filters/base/filter_access.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/hash_kinds.h"

namespace tamis::detail {

bool IsArrowSize(uint64_t bytes) noexcept {
  return std::has_single_bit(bytes) && bytes >= kArrowMinBytes && bytes <= kArrowMaxBytes;
}

uint64_t ArrowBytes(uint64_t capacity, double fpr, double min_fpr, double max_fpr) {
  if (!(fpr >= min_fpr && fpr <= max_fpr)) {  // also true for NaN
    std::ostringstream message;
    message << "false-positive rate " << fpr << " is out of range [" << min_fpr << ", " << max_fpr
            << "]";
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
  const double bits = -8.0 * static_cast<double>(capacity) / std::log(1 - std::pow(fpr, 1.0 / 8));
  if (bits > 8.0 * static_cast<double>(kArrowMaxBytes)) {
    throw Error(ErrorCode::kInvalidArgument,
                StrCat(capacity, " keys need more than ", kArrowMaxBytes,
                       " bytes, the maximum of the format"));
  }
  return std::max(kArrowMinBytes, std::bit_ceil(static_cast<uint64_t>(bits)) / 8);
}

SplitBlockBloomFilter BlocksRead(uint64_t num_blocks, const HashSpec& hash, uint64_t capacity,
                                 KeyTypes forms, const MemoryOptions& memory,
                                 const Backend* backend,
                                 FunctionRef<void(std::span<std::byte>)> read) {
  SplitBlockBloomFilter filter({.capacity = capacity,
                                .bytes = split_block::kBlockBytes * num_blocks,
                                .hash = hash,
                                .memory = memory,
                                .backend = backend});
  const SplitBlockView view = filter.mutable_view();
  read(view.mutable_blocks());
  // Infinite if every bit is set.
  const double keys = view.estimated_count();
  if (std::isfinite(keys)) view.AddInserted(static_cast<uint64_t>(std::llround(keys)));
  filter.set_key_types(forms);
  return filter;
}

SplitBlockBloomFilter CopyOfBlocks(std::span<const std::byte> blocks, const HashSpec& hash,
                                   uint64_t capacity, KeyTypes forms, const MemoryOptions& memory,
                                   const Backend* backend) {
  return BlocksRead(
      blocks.size() / split_block::kBlockBytes, hash, capacity, forms, memory, backend,
      [&](std::span<std::byte> out) { std::memcpy(out.data(), blocks.data(), out.size()); });
}

void RequireExportable(const SplitBlockBloomFilter& filter, const HashSpec& hash,
                       const char* name) {
  if (!(filter.hash() == hash)) {
    throw Error(ErrorCode::kIncompatible, std::string("filters of ") + name + " have the hash " +
                                              HashKindName(hash.kind) +
                                              " with seed 0; this filter has another hash");
  }
  FilterAccess::RequireIntact(filter);
}

void RequireArrowExportable(const SplitBlockBloomFilter& filter, const char* name) {
  RequireExportable(filter, kParquetHash, name);
  if (IsArrowSize(filter.bytes())) return;
  throw Error(ErrorCode::kInvalidArgument,
              StrCat("a filter of ", filter.bytes(), " bytes; the sizes of ", name,
                     " are powers of two from ", kArrowMinBytes, " to ", kArrowMaxBytes));
}

}  // namespace tamis::detail
