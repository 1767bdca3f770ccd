// Follows vortex-layout/src/layouts/zoned/aggregates/bloom_filter of Vortex.
#include "tamis/formats/vortex.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "core/src/file/file_format.h"
#include "formats/src/block_import.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::vortex {

namespace {

constexpr uint64_t kHashAt = 4;
constexpr HashSpec kHash{HashKind::kXxh3, 0};
constexpr uint32_t kHashNumber = 0;

static_assert(std::endian::native == std::endian::little);

[[noreturn]] void FailVortex(ErrorCode code, const char* check, uint64_t at,
                             const std::string& problem) {
  detail::ThrowFormatError("memory", code, check, at, problem);
}

void CheckBytes(std::span<const std::byte> bytes, uint64_t num_blocks) {
  if (num_blocks < 1 || num_blocks > split_block::kMaxBlocks32) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("a filter of ", num_blocks, " blocks; allowed: [1, ",
                               split_block::kMaxBlocks32, "]"));
  }
  const uint64_t want = split_block::kBlockBytes * num_blocks;
  if (bytes.size() == want) return;
  FailVortex(
      ErrorCode::kCorrupt, "file length", std::min<uint64_t>(bytes.size(), want),
      detail::StrCat(num_blocks, " blocks make ", want, " bytes, but there are ", bytes.size()));
}

}  // namespace

uint64_t ReadOptions(std::span<const std::byte> options) {
  if (options.size() != kOptionsBytes) {
    FailVortex(
        ErrorCode::kCorrupt, "file length", std::min<uint64_t>(options.size(), kOptionsBytes),
        detail::StrCat("options have ", kOptionsBytes, " bytes, but there are ", options.size()));
  }
  uint32_t blocks = 0, hash = 0;
  std::memcpy(&blocks, options.data(), sizeof(blocks));
  std::memcpy(&hash, options.data() + kHashAt, sizeof(hash));
  if (blocks == 0) FailVortex(ErrorCode::kCorrupt, "blocks", 0, "is 0, allowed: [1, 2^32 - 1]");
  if (hash != kHashNumber) {
    FailVortex(ErrorCode::kUnsupported, "hash", kHashAt,
               detail::StrCat("is ", hash, ", must be ", kHashNumber, " (XXH3-64)"));
  }
  return blocks;
}

std::vector<std::byte> OptionsOf(const SplitBlockBloomFilter& filter) {
  detail::RequireExportable(filter, kHash, "Vortex");
  const uint32_t numbers[] = {static_cast<uint32_t>(filter.num_blocks()), kHashNumber};
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

ConstSplitBlockView View(std::span<const std::byte> bytes, uint64_t num_blocks,
                         const Backend* backend) {
  CheckBytes(bytes, num_blocks);
  return ConstSplitBlockView(bytes, kHash, backend);
}

SplitBlockBloomFilter FromBytes(std::span<const std::byte> bytes, uint64_t num_blocks,
                                const MemoryOptions& memory, const Backend* backend) {
  CheckBytes(bytes, num_blocks);
  return detail::CopyOfBlocks(bytes, kHash, 0, KeyType::kUnknown, memory, backend);
}

std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter) {
  detail::RequireExportable(filter, kHash, "Vortex");
  const std::span<const std::byte> blocks = filter.payload();
  return {blocks.begin(), blocks.end()};
}

}  // namespace tamis::vortex
