// Parts of join filters as bytes: join/FORMAT.md.
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/src/file/field_check.h"
#include "core/src/file/header_fields.h"
#include "join/src/join_part.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/hash_kinds.h"
#include "tamis/layout/split_block.h"

namespace tamis::detail {
namespace {

constexpr std::string_view kMagic("tamisJP\x1a", 8);
constexpr uint32_t kVersion = 1;

// The offsets of the fields.
namespace at {
constexpr size_t kVersion = 8;
constexpr size_t kHeaderBytes = 12;
constexpr size_t kKeyType = 16;
constexpr size_t kHashKind = 20;
constexpr size_t kSeed = 24;
constexpr size_t kHasBitmap = 32;
constexpr size_t kContents = 36;
constexpr size_t kLow = 40;
constexpr size_t kHigh = 48;
constexpr size_t kNumBlocks = 56;
constexpr size_t kKeptKeys = 64;
constexpr size_t kMaxBytes = 72;
constexpr size_t kIndex = 80;
constexpr size_t kLimit = 84;
constexpr size_t kInserted = 88;
constexpr size_t kExtent = 96;  // low, high, signed low, signed high
constexpr size_t kKeyTypes = 128;
constexpr size_t kReserved = 132;
constexpr size_t kPayloadBytes = 136;
constexpr size_t kChecksum = 144;  // XXH3-64 of all other bytes
constexpr size_t kPayload = 152;
}  // namespace at

// Returns the checksum of the fields before it and of the payload.
uint64_t ChecksumOf(std::span<const std::byte> bytes) {
  const uint64_t header = XXH3_64bits(bytes.data(), at::kChecksum);
  return XXH3_64bits_withSeed(bytes.data() + at::kPayload, bytes.size() - at::kPayload, header);
}

std::span<const std::byte> PayloadOf(const JoinPartState& part) {
  switch (part.contents) {
    case JoinForm::kList:
      return std::as_bytes(std::span(part.keys));
    case JoinForm::kBitmap:
      return std::as_bytes(std::span(part.bitmap));
    case JoinForm::kBlocks:
      return part.blocks->payload();
    case JoinForm::kNothing:
      break;
  }
  return {};
}

// Reads the fields and checks each.
class PartReader {
 public:
  explicit PartReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::unique_ptr<JoinPartState> Read() {
    CheckFrame();
    const JoinGeometry geometry = ReadGeometry();
    const auto index = Get<uint32_t>(at::kIndex);
    InRange("number of the part", at::kIndex, index, 0, kMaxJoinParts - 1);
    auto part = std::make_unique<JoinPartState>(geometry, index, &DefaultBackend());
    ReadState(*part);
    ReadPayload(*part);
    return part;
  }

 private:
  template <typename T>
  T Get(size_t at) const {
    return GetField<T>(bytes_, at);
  }
  void InRange(const char* field, size_t at, uint64_t value, uint64_t min, uint64_t max) const {
    check_.InRange(field, at, value, min, max);
  }
  size_t payload_bytes() const { return bytes_.size() - at::kPayload; }

  void CheckFrame() const {
    if (bytes_.size() < at::kPayload) {
      check_.Fail(ErrorCode::kCorrupt, "length", bytes_.size(),
                  StrCat("a part has at least ", at::kPayload, " bytes"));
    }
    if (std::memcmp(bytes_.data(), kMagic.data(), kMagic.size()) != 0) {
      check_.Fail(ErrorCode::kCorrupt, "magic", 0, "these bytes are not a part of a join filter");
    }
    check_.Equal("version", at::kVersion, Get<uint32_t>(at::kVersion), kVersion,
                 ErrorCode::kUnsupported);
    check_.Equal("header length", at::kHeaderBytes, Get<uint32_t>(at::kHeaderBytes), at::kPayload);
    check_.Equal("payload length", at::kPayloadBytes, Get<uint64_t>(at::kPayloadBytes),
                 payload_bytes());
    if (Get<uint64_t>(at::kChecksum) != ChecksumOf(bytes_)) {
      check_.Fail(ErrorCode::kCorrupt, "checksum", at::kChecksum, "does not match the contents");
    }
    check_.Equal("reserved bytes", at::kReserved, Get<uint32_t>(at::kReserved), 0);
  }

  JoinGeometry ReadGeometry() const {
    JoinGeometry geometry;
    const auto key_type = Get<uint32_t>(at::kKeyType);
    InRange("key type", at::kKeyType, key_type, 0, 1);
    geometry.key_type = static_cast<JoinKeyType>(key_type);
    geometry.hash.kind = Get<HashKind>(at::kHashKind);
    if (geometry.hash.kind != HashKind::kXxh3 && geometry.hash.kind != HashKind::kXxh64) {
      check_.Fail(ErrorCode::kCorrupt, "hash kind", at::kHashKind, "must be XXH3 or XXH64");
    }
    geometry.hash.seed = Get<uint64_t>(at::kSeed);
    const auto has_bitmap = Get<uint32_t>(at::kHasBitmap);
    InRange("bitmap", at::kHasBitmap, has_bitmap, 0, key_type == 0 ? 1 : 0);
    geometry.has_bitmap = has_bitmap != 0;
    geometry.range = JoinKeyRange(Get<uint64_t>(at::kLow), Get<uint64_t>(at::kHigh));
    geometry.max_bytes = Get<uint64_t>(at::kMaxBytes);
    geometry.num_blocks = Get<uint64_t>(at::kNumBlocks);
    geometry.kept_keys = Get<uint64_t>(at::kKeptKeys);
    const uint64_t most_blocks =
        std::min(split_block::kMaxBlocks32, geometry.max_bytes / split_block::kBlockBytes);
    const bool keys = !geometry.has_bitmap;
    InRange("blocks", at::kNumBlocks, geometry.num_blocks, 0, keys ? most_blocks : 0);
    InRange("kept keys", at::kKeptKeys, geometry.kept_keys, keys ? 1 : 0,
            keys ? geometry.max_bytes / sizeof(uint64_t) : 0);
    const uint64_t most_span = std::min(geometry.max_bytes, uint64_t{1} << 58) * 8;
    InRange("span of the range", at::kHigh, geometry.range.span(), 0, keys ? 0 : most_span);
    if (keys) check_.Equal("range", at::kLow, geometry.range.low, 0);
    return geometry;
  }

  void ReadState(JoinPartState& part) const {
    const auto contents = Get<uint32_t>(at::kContents);
    InRange("contents", at::kContents, contents, 0, static_cast<uint32_t>(JoinForm::kBlocks));
    part.contents = static_cast<JoinForm>(contents);
    part.inserted = Get<uint64_t>(at::kInserted);
    const bool fits = part.contents == JoinForm::kNothing ||
                      (part.contents == JoinForm::kBitmap) == part.geometry.has_bitmap;
    const bool empty = part.geometry.num_blocks == 0 || part.inserted == 0;
    if (!fits || (part.contents == JoinForm::kBlocks && empty)) {
      check_.Fail(ErrorCode::kCorrupt, "contents", at::kContents, "do not fit the layout");
    }
    const auto limit = Get<uint32_t>(at::kLimit);
    const bool nothing = part.contents == JoinForm::kNothing;
    InRange("limit", at::kLimit, limit, nothing ? 1 : 0,
            nothing ? static_cast<uint32_t>(JoinLimit::kMemory) : 0);
    part.limit = static_cast<JoinLimit>(limit);
    const auto types = Get<uint32_t>(at::kKeyTypes);
    InRange("key types", at::kKeyTypes, types, 0, (1 << KeyTypes::kCount) - 1);
    part.key_types = KeyTypes::FromBits(static_cast<uint16_t>(types));
    std::memcpy(&part.extent, bytes_.data() + at::kExtent, sizeof(part.extent));
    const bool has_extent = part.geometry.key_type == JoinKeyType::kIntegers && part.inserted != 0;
    const bool valid = has_extent ? part.extent.low <= part.extent.high &&
                                        part.extent.signed_low <= part.extent.signed_high
                                  : std::memcmp(&part.extent, &kNoKeys, sizeof(kNoKeys)) == 0;
    if (!valid && !nothing) {
      check_.Fail(ErrorCode::kCorrupt, "extent", at::kExtent, "does not fit the keys");
    }
  }

  void ReadPayload(JoinPartState& part) const {
    switch (part.contents) {
      case JoinForm::kNothing:
        return ExpectPayload(0);
      case JoinForm::kList:
        return ReadKeys(part);
      case JoinForm::kBitmap:
        return ReadBitmap(part);
      case JoinForm::kBlocks:
        return ReadBlocks(part);
    }
  }

  void ExpectPayload(uint64_t bytes) const {
    check_.Equal("payload length", at::kPayloadBytes, payload_bytes(), bytes);
  }

  void ReadWords(std::vector<uint64_t>& words) const {
    words.resize(payload_bytes() / sizeof(uint64_t));
    if (words.empty()) return;
    std::memcpy(words.data(), bytes_.data() + at::kPayload, payload_bytes());
  }

  void ReadKeys(JoinPartState& part) const {
    const uint64_t most = std::min(part.geometry.kept_keys, part.inserted);
    InRange("payload length", at::kPayloadBytes, payload_bytes(),
            part.inserted != 0 ? sizeof(uint64_t) : 0, most * sizeof(uint64_t));
    check_.Equal("payload length modulo 8", at::kPayloadBytes, payload_bytes() % sizeof(uint64_t),
                 0);
    ReadWords(part.keys);
    if (part.geometry.key_type != JoinKeyType::kIntegers) return;
    KeyExtent extent;
    extent.Add(part.keys.data(), part.keys.size());
    if (std::memcmp(&extent, &part.extent, sizeof(extent)) != 0) {
      check_.Fail(ErrorCode::kCorrupt, "extent", at::kExtent, "does not fit the keys");
    }
  }

  void ReadBitmap(JoinPartState& part) const {
    const uint64_t span = part.geometry.range.span();
    if (part.inserted == 0) return ExpectPayload(0);
    ExpectPayload(JoinBitmapWords(span) * sizeof(uint64_t));
    ReadWords(part.bitmap);
    // Queries depend on the bit after the range.
    const uint64_t past = span + 1;
    if (part.bitmap[past / 64] >> (past % 64) != 0) {
      check_.Fail(ErrorCode::kCorrupt, "bitmap", at::kPayload + past / 64 * sizeof(uint64_t),
                  "has bits past the range");
    }
  }

  void ReadBlocks(JoinPartState& part) const {
    ExpectPayload(part.geometry.num_blocks * split_block::kBlockBytes);
    part.blocks = std::make_unique<SplitBlockBloomFilter>(FilterOptions{
        .bytes = payload_bytes(), .hash = part.geometry.hash, .backend = part.backend});
    const std::span<std::byte> to = part.blocks->mutable_view().mutable_blocks();
    std::memcpy(to.data(), bytes_.data() + at::kPayload, to.size());
  }

  static constexpr KeyExtent kNoKeys = {};

  std::span<const std::byte> bytes_;
  std::filesystem::path path_ = "part of a join filter";
  FieldCheck check_{path_};
};

}  // namespace

std::vector<std::byte> SerializeJoinPart(const JoinPartState& part) {
  const std::span<const std::byte> payload = PayloadOf(part);
  std::vector<std::byte> bytes(at::kPayload + payload.size());
  const JoinGeometry& geometry = part.geometry;
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  PutField<uint32_t>(bytes, at::kVersion, kVersion);
  PutField<uint32_t>(bytes, at::kHeaderBytes, at::kPayload);
  PutField<uint32_t>(bytes, at::kKeyType, static_cast<uint32_t>(geometry.key_type));
  PutField(bytes, at::kHashKind, geometry.hash.kind);
  PutField(bytes, at::kSeed, geometry.hash.seed);
  PutField<uint32_t>(bytes, at::kHasBitmap, geometry.has_bitmap);
  PutField<uint32_t>(bytes, at::kContents, static_cast<uint32_t>(part.contents));
  PutField(bytes, at::kLow, geometry.range.low);
  PutField(bytes, at::kHigh, geometry.range.high);
  PutField(bytes, at::kNumBlocks, geometry.num_blocks);
  PutField(bytes, at::kKeptKeys, geometry.kept_keys);
  PutField(bytes, at::kMaxBytes, geometry.max_bytes);
  PutField(bytes, at::kIndex, part.index);
  PutField<uint32_t>(bytes, at::kLimit, static_cast<uint32_t>(part.limit));
  PutField(bytes, at::kInserted, part.inserted);
  PutField(bytes, at::kExtent, part.extent);
  PutField<uint32_t>(bytes, at::kKeyTypes, part.key_types.bits());
  PutField<uint64_t>(bytes, at::kPayloadBytes, payload.size());
  if (!payload.empty()) std::memcpy(bytes.data() + at::kPayload, payload.data(), payload.size());
  PutField(bytes, at::kChecksum, ChecksumOf(bytes));
  return bytes;
}

std::unique_ptr<JoinPartState> JoinPartFromBytes(std::span<const std::byte> bytes) {
  return PartReader(bytes).Read();
}

}  // namespace tamis::detail
