// The dumps of Bloom filters. SBChain_GetEncodedHeader of sb.c writes the header, and
// SB_NewChainFromHeader reads it. The header is little-endian, without gaps:
//   size (u64), links (u32), flags (u32), expansion (u32), and for each link bytes (u64),
//   bits (u64), size (u64), error rate (f64), bits per key (f64), hashes (u32), capacity (u64),
//   log2 of the bits (u8).
#include <cmath>
#include <limits>
#include <string>

#include "formats/src/redis/redis_chunks.h"
#include "formats/src/value_text.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/formats/redis_bloom.h"

namespace tamis {

using detail::LoadAs;
using detail::RedisDump;
using detail::StoreAs;

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBloomSizeAt = 0;
constexpr uint64_t kLinksAt = 8;
constexpr uint64_t kFlagsAt = 12;
constexpr uint64_t kGrowthAt = 16;
constexpr uint64_t kBloomHeaderBytes = 20;
// Offsets within a link.
constexpr uint64_t kBytesAt = 0;
constexpr uint64_t kBitsAt = 8;
constexpr uint64_t kLinkSizeAt = 16;
constexpr uint64_t kErrorRateAt = 24;
constexpr uint64_t kBitsPerKeyAt = 32;
constexpr uint64_t kBloomHashesAt = 40;
constexpr uint64_t kCapacityAt = 44;
constexpr uint64_t kLog2BitsAt = 52;
constexpr uint64_t kLinkBytes = 53;

constexpr double kLn2OfRedisBloom = 0.693147180559945;  // with the digits of bloom.c

// Reads the link at byte `at` of the header. Checks what bloom_validate_integrity checks, and also
// that RedisBloom could have written each number.
RedisBloomLink ReadLink(const RedisDump& dump, const std::byte* header, uint64_t at) {
  const std::byte* const from = header + at;
  const auto fail = [&](const char* check, uint64_t field, const std::string& problem) {
    dump.FailHeader(ErrorCode::kCorrupt, check, at + field, problem);
  };
  RedisBloomLink link;
  link.bytes = LoadAs<uint64_t>(from + kBytesAt);
  link.size = LoadAs<uint64_t>(from + kLinkSizeAt);
  link.capacity = LoadAs<uint64_t>(from + kCapacityAt);
  link.error_rate = LoadAs<double>(from + kErrorRateAt);
  link.bits_per_key = LoadAs<double>(from + kBitsPerKeyAt);
  link.num_hashes = LoadAs<uint32_t>(from + kBloomHashesAt);
  link.log2_bits = LoadAs<uint8_t>(from + kLog2BitsAt);
  const auto bits = LoadAs<uint64_t>(from + kBitsAt);
  if (link.bytes == 0 || link.bytes > RedisBloomFilter::kMaxBytes) {
    fail("bytes", kBytesAt, detail::StrCat("is ", link.bytes, ", allowed: [1, 2^60]"));
  }
  if (bits != 8 * link.bytes) {
    fail("bits", kBitsAt, detail::StrCat("is ", bits, ", must be ", 8 * link.bytes));
  }
  if (!(link.error_rate > 0 && link.error_rate < 1)) {
    fail("error rate", kErrorRateAt,
         detail::StrCat("is ", detail::ValueText(link.error_rate),
                        ", which is not between 0 and 1"));
  }
  // The check comes before the conversion, which is undefined for NaN and for values out of range.
  const double hashes = std::ceil(kLn2OfRedisBloom * link.bits_per_key);
  if (!(hashes >= 1 && hashes <= RedisBloomFilter::kMaxHashes)) {
    fail("bits per key", kBitsPerKeyAt,
         detail::StrCat("is ", detail::ValueText(link.bits_per_key), ", which makes ",
                        detail::ValueText(hashes), " hashes; allowed: [1, ",
                        RedisBloomFilter::kMaxHashes, "]"));
  }
  if (link.num_hashes != static_cast<uint32_t>(hashes)) {
    fail("hashes", kBloomHashesAt,
         detail::StrCat("is ", link.num_hashes, ", must be ", static_cast<uint32_t>(hashes)));
  }
  if (link.log2_bits > 63 || (link.log2_bits > 0 && bits >> link.log2_bits == 0)) {
    fail("log2 of the bits", kLog2BitsAt,
         detail::StrCat("is ", link.log2_bits, ", of ", bits, " bits"));
  }
  return link;
}

// The decoded header.
struct BloomHead {
  uint64_t size = 0;
  uint32_t flags = 0;
  uint32_t growth = 0;
  std::vector<RedisBloomLink> links;
  std::vector<uint64_t> parts;  // the bytes of each link
};

BloomHead ReadBloomHead(const RedisDump& dump, uint32_t all_flags) {
  if (dump.header_bytes() < kBloomHeaderBytes) {
    dump.FailHeader(
        ErrorCode::kCorrupt, "header length", dump.header_bytes(),
        detail::StrCat("is ", dump.header_bytes(), ", must be at least ", kBloomHeaderBytes));
  }
  const std::vector<std::byte> header = dump.Header();
  const auto num_links = LoadAs<uint32_t>(header.data() + kLinksAt);
  if (num_links == 0) dump.FailHeader(ErrorCode::kCorrupt, "links", kLinksAt, "is 0");
  const size_t wanted = kBloomHeaderBytes + kLinkBytes * num_links;
  if (header.size() != wanted) {
    dump.FailHeader(
        ErrorCode::kCorrupt, "header length", std::min(wanted, header.size()),
        detail::StrCat("is ", header.size(), ", but ", num_links, " links require ", wanted));
  }
  if (num_links > RedisBloomFilter::kMaxLinks) {
    dump.FailHeader(
        ErrorCode::kCorrupt, "links", kLinksAt,
        detail::StrCat("is ", num_links, ", allowed: up to ", RedisBloomFilter::kMaxLinks));
  }
  BloomHead head;
  head.flags = LoadAs<uint32_t>(header.data() + kFlagsAt);
  if ((head.flags & ~all_flags) != 0) {
    dump.FailHeader(ErrorCode::kUnsupported, "flags", kFlagsAt,
                    detail::StrCat("is ", head.flags, ", allowed: up to ", all_flags));
  }
  uint64_t keys = 0;
  for (uint32_t i = 0; i < num_links; ++i) {
    const uint64_t at = kBloomHeaderBytes + kLinkBytes * i;
    head.links.push_back(ReadLink(dump, header.data(), at));
    head.parts.push_back(head.links.back().bytes);
    if (head.links.back().size > std::numeric_limits<uint64_t>::max() - keys) {
      dump.FailHeader(ErrorCode::kCorrupt, "size", at + kLinkSizeAt,
                      "the links have more than 2^64 - 1 keys");
    }
    keys += head.links.back().size;
  }
  head.size = LoadAs<uint64_t>(header.data() + kBloomSizeAt);
  if (head.size != keys) {
    dump.FailHeader(ErrorCode::kCorrupt, "size", kBloomSizeAt,
                    detail::StrCat("is ", head.size, ", but the links have ", keys));
  }
  head.growth = LoadAs<uint32_t>(header.data() + kGrowthAt);
  return head;
}

// Reads a header without the rest of the dump.
BloomHead ReadBloomHead(std::span<const std::byte> header, uint32_t all_flags) {
  const RedisChunk chunk = {1, {header.begin(), header.end()}};
  return ReadBloomHead(RedisDump(std::span(&chunk, 1)), all_flags);
}

}  // namespace

RedisBloomFilter RedisBloomFilter::Parse(const RedisDump& dump,
                                         const RedisBloomLoadOptions& options) {
  const BloomHead head = ReadBloomHead(dump, kAllFlags);
  dump.RequireParts(head.parts);

  RedisBloomFilter filter(options.integers, options.memory, options.backend);
  filter.flags_ = head.flags;
  filter.growth_ = head.growth;
  filter.size_ = head.size;
  std::vector<std::span<std::byte>> rooms;
  for (const RedisBloomLink& link : head.links) {
    filter.links_.push_back(filter.MakeLink(link));
    rooms.push_back({filter.links_.back().storage.data(), link.bytes});
  }
  dump.ReadParts(rooms);
  return filter;
}

std::vector<uint64_t> RedisBloomFilter::PartsOfHeader(std::span<const std::byte> header) {
  return ReadBloomHead(header, kAllFlags).parts;
}

bool RedisBloomFilter::HasGrown(std::span<const std::byte> before,
                                std::span<const std::byte> after) {
  const BloomHead old = ReadBloomHead(before, kAllFlags);
  BloomHead now = ReadBloomHead(after, kAllFlags);
  if (now.flags != old.flags || now.growth != old.growth || now.links.size() < old.links.size()) {
    return false;
  }
  for (size_t i = 0; i < old.links.size(); ++i) {
    if (now.links[i].size < old.links[i].size) return false;
    now.links[i].size = old.links[i].size;
    if (now.links[i] != old.links[i]) return false;
  }
  return true;
}

RedisBloomFilter RedisBloomFilter::FromChunks(std::span<const RedisChunk> chunks,
                                              const RedisBloomLoadOptions& options) {
  return Parse(RedisDump(chunks), options);
}

RedisBloomFilter RedisBloomFilter::FromBytes(std::span<const std::byte> bytes,
                                             const RedisBloomLoadOptions& options) {
  return Parse(RedisDump(bytes), options);
}

RedisBloomFilter RedisBloomFilter::Load(const fs::path& path,
                                        const RedisBloomLoadOptions& options) {
  return Parse(RedisDump(path), options);
}

std::vector<std::byte> RedisBloomFilter::Header() const {
  RequireWritable();
  std::vector<std::byte> header(kBloomHeaderBytes + kLinkBytes * links_.size());
  StoreAs(size_, header.data() + kBloomSizeAt);
  StoreAs(static_cast<uint32_t>(links_.size()), header.data() + kLinksAt);
  StoreAs(flags_, header.data() + kFlagsAt);
  StoreAs(growth_, header.data() + kGrowthAt);
  std::byte* to = header.data() + kBloomHeaderBytes;
  for (const Link& link : links_) {
    StoreAs(link.info.bytes, to + kBytesAt);
    StoreAs(8 * link.info.bytes, to + kBitsAt);
    StoreAs(link.info.size, to + kLinkSizeAt);
    StoreAs(link.info.error_rate, to + kErrorRateAt);
    StoreAs(link.info.bits_per_key, to + kBitsPerKeyAt);
    StoreAs(link.info.num_hashes, to + kBloomHashesAt);
    StoreAs(link.info.capacity, to + kCapacityAt);
    StoreAs(link.info.log2_bits, to + kLog2BitsAt);
    to += kLinkBytes;
  }
  return header;
}

std::vector<std::span<const std::byte>> RedisBloomFilter::Parts() const {
  std::vector<std::span<const std::byte>> parts;
  for (const Link& link : links_) parts.push_back({link.storage.data(), link.info.bytes});
  return parts;
}

uint64_t RedisBloomFilter::serialized_bytes() const noexcept {
  uint64_t sum = detail::RedisHeaderBytes(kBloomHeaderBytes + kLinkBytes * links_.size());
  for (const Link& link : links_) sum += detail::RedisPartBytes(link.info.bytes);
  return links_.empty() ? 0 : sum;
}

std::vector<RedisChunk> RedisBloomFilter::ToChunks() const {
  return detail::MakeRedisChunks(Header(), Parts());
}

void RedisBloomFilter::Write(const ByteSink& write) const {
  detail::WriteRedisFile(Header(), Parts(), write);
}

}  // namespace tamis
