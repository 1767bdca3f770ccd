// Follows client/bloom_filter.py of pymilvus 3.0.2.
#include "tamis/formats/milvus.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "core/src/file/file_format.h"
#include "core/src/file/regular_file.h"
#include "formats/src/block_import.h"
#include "formats/src/milvus_set.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/key_types_text.h"

namespace tamis::milvus {

namespace {

namespace fs = std::filesystem;

constexpr char kMagic[4] = {'M', 'B', 'F', '1'};
constexpr uint16_t kVersion = 1;
constexpr uint16_t kAlgorithm = 1;
constexpr uint64_t kVersionAt = 4;
constexpr uint64_t kAlgorithmAt = 6;
constexpr uint64_t kCapacityAt = 8;
constexpr uint64_t kFprAt = 16;
constexpr uint64_t kBlocksAt = 24;
constexpr uint64_t kDomainsAt = 28;
constexpr uint64_t kReservedAt = 29;
constexpr uint8_t kIntegers = 1;
constexpr uint8_t kText = 2;

static_assert(std::endian::native == std::endian::little);

template <typename T>
T FieldAt(const std::byte* header, uint64_t at) noexcept {
  T value;
  std::memcpy(&value, header + at, sizeof(value));
  return value;
}

template <typename T>
void SetFieldAt(std::byte* header, uint64_t at, T value) noexcept {
  std::memcpy(header + at, &value, sizeof(value));
}

bool IsAllowed(uint64_t num_blocks) noexcept {
  return detail::IsArrowSize(split_block::kBlockBytes * num_blocks);
}

std::string AllowedBlocks() { return detail::StrCat("allowed: powers of two up to ", kMaxBlocks); }

// Checks the header of a filter of `size` bytes. `start` has its first kHeaderBytes bytes, or all.
Header CheckedHeader(std::span<const std::byte> start, uint64_t size, const fs::path& name) {
  const auto fail = [&](ErrorCode code, const char* check, uint64_t at,
                        const std::string& problem) {
    detail::ThrowFormatError(name, code, check, at, problem);
  };
  if (size < kHeaderBytes) {
    fail(ErrorCode::kCorrupt, "file length", size,
         detail::StrCat("a filter begins with ", kHeaderBytes, " bytes, but there are ", size));
  }
  const std::byte* const header = start.data();
  if (std::memcmp(header, kMagic, sizeof(kMagic)) != 0) {
    fail(ErrorCode::kCorrupt, "magic", 0, "it does not begin with MBF1");
  }
  const auto one = [&](const char* check, uint64_t at, uint16_t known) {
    const auto value = FieldAt<uint16_t>(header, at);
    if (value == known) return;
    fail(ErrorCode::kUnsupported, check, at, detail::StrCat("is ", value, ", must be ", known));
  };
  one("version", kVersionAt, kVersion);
  one("algorithm", kAlgorithmAt, kAlgorithm);
  const auto domains = FieldAt<uint8_t>(header, kDomainsAt);
  if ((domains & ~(kIntegers | kText)) != 0) {
    fail(ErrorCode::kUnsupported, "domains", kDomainsAt,
         detail::StrCat("is ", domains, ", allowed: 1 (integers), 2 (text), 3 (both) or 0"));
  }
  for (uint64_t at = kReservedAt; at < kHeaderBytes; ++at) {
    if (header[at] != std::byte{0}) fail(ErrorCode::kCorrupt, "reserved", at, "is not 0");
  }
  const uint64_t blocks = FieldAt<uint32_t>(header, kBlocksAt);
  if (!IsAllowed(blocks)) {
    fail(ErrorCode::kCorrupt, "blocks", kBlocksAt,
         detail::StrCat("is ", blocks, ", ", AllowedBlocks()));
  }
  const uint64_t end = kHeaderBytes + split_block::kBlockBytes * blocks;
  if (size != end) {
    fail(ErrorCode::kCorrupt, "file length", std::min(size, end),
         detail::StrCat(blocks, " blocks make ", end, " bytes, but there are ", size));
  }
  Header checked{.capacity = FieldAt<uint64_t>(header, kCapacityAt),
                 .fpr = FieldAt<double>(header, kFprAt),
                 .num_blocks = blocks,
                 .key_types = {}};
  if ((domains & kIntegers) != 0) checked.key_types.Add(KeyType::kInteger);
  if ((domains & kText) != 0) checked.key_types.Add(KeyType::kBytes);
  return checked;
}

bool HasOnlyDomains(KeyTypes forms) noexcept {
  KeyTypes all = KeyType::kInteger;
  all.Add(KeyType::kBytes);
  all.Add(forms);
  return std::popcount(all.bits()) == 2;
}

}  // namespace

uint64_t BytesFor(uint64_t capacity, double fpr) {
  constexpr double kMinRate = 0.0001, kMaxRate = 0.05;
  return detail::ArrowBytes(capacity, fpr, kMinRate, kMaxRate);
}

Header ReadHeader(std::span<const std::byte> bytes) {
  return CheckedHeader(bytes, bytes.size(), "memory");
}

ConstSplitBlockView View(std::span<const std::byte> bytes, const Backend* backend) {
  ReadHeader(bytes);
  return ConstSplitBlockView(bytes.subspan(kHeaderBytes), detail::kParquetHash, backend);
}

SplitBlockBloomFilter FromBytes(std::span<const std::byte> bytes, const MemoryOptions& memory,
                                const Backend* backend) {
  const Header header = ReadHeader(bytes);
  return detail::CopyOfBlocks(bytes.subspan(kHeaderBytes), detail::kParquetHash, header.capacity,
                              header.key_types, memory, backend);
}

SplitBlockBloomFilter LoadWithHeader(const fs::path& path, const MemoryOptions& memory,
                                     const Backend* backend, Header& header) {
  const detail::RegularFile file(path);
  std::byte start[kHeaderBytes] = {};
  file.Read(std::span(start).first(std::min(file.bytes(), kHeaderBytes)), 0);
  header = CheckedHeader(start, file.bytes(), path);
  return detail::BlocksRead(header.num_blocks, detail::kParquetHash, header.capacity,
                            header.key_types, memory, backend,
                            [&](std::span<std::byte> out) { file.Read(out, kHeaderBytes); });
}

SplitBlockBloomFilter Load(const fs::path& path, const MemoryOptions& memory,
                           const Backend* backend) {
  Header header;
  return LoadWithHeader(path, memory, backend, header);
}

Header HeaderOf(const SplitBlockBloomFilter& filter) {
  const KeyTypes forms = filter.key_types();
  if (!HasOnlyDomains(forms)) {
    throw Error(ErrorCode::kIncompatible, "the keys of this filter are " + KeyTypesText(forms) +
                                              "; keys of Milvus are 64-bit integers and text");
  }
  const double rate = SplitBlockFpr(static_cast<double>(filter.capacity()), filter.num_blocks());
  return {filter.capacity(), rate, filter.num_blocks(), forms};
}

std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter, const Header& header) {
  if (header.num_blocks != filter.num_blocks() || !HasOnlyDomains(header.key_types)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        detail::StrCat("a header for ", header.num_blocks, " blocks and keys that are ",
                       KeyTypesText(header.key_types), "; the filter has ", filter.num_blocks(),
                       " blocks, and keys of Milvus are 64-bit integers and text"));
  }
  detail::RequireArrowExportable(filter, "Milvus");
  std::vector<std::byte> bytes(kHeaderBytes + filter.bytes());
  std::byte* const start = bytes.data();
  std::memcpy(start, kMagic, sizeof(kMagic));
  SetFieldAt(start, kVersionAt, kVersion);
  SetFieldAt(start, kAlgorithmAt, kAlgorithm);
  SetFieldAt(start, kCapacityAt, header.capacity);
  SetFieldAt(start, kFprAt, header.fpr);
  SetFieldAt(start, kBlocksAt, static_cast<uint32_t>(header.num_blocks));
  const int integers = header.key_types.Has(KeyType::kInteger) ? kIntegers : 0;
  const int text = header.key_types.Has(KeyType::kBytes) ? kText : 0;
  SetFieldAt(start, kDomainsAt, static_cast<uint8_t>(integers | text));
  std::ranges::copy(filter.payload(), bytes.begin() + kHeaderBytes);
  return bytes;
}

std::vector<std::byte> ToBytes(const SplitBlockBloomFilter& filter) {
  return ToBytes(filter, HeaderOf(filter));
}

}  // namespace tamis::milvus
