// The header of a file: every field is at its place in core/FORMAT.md, and every check is made.
#include "core/src/file/file_format.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tamis/file/filter_kind_name.h"
#include "tamis/layout/split_block.h"
#include "tests/core/file_parts.h"
#include "tests/core/file_test_util.h"

namespace tamis::file_format_test {

namespace offset = detail::offset;

// The payload has 96 bytes. In version 2, 32 zeros and the checksum of a page follow.
FileHeader SampleHeader(uint32_t version) {
  FileHeader header;
  header.version = version;
  header.hash = {HashKind::kXxh64, 0x1122334455667788};
  header.geometry = {3, 0, 0};
  header.capacity = 70;
  header.inserted = 80;
  header.payload_bytes = 96;
  header.payload_checksum = {0xAAAAAAAAAAAAAAAA, 0xBBBBBBBBBBBBBBBB};
  if (version != 1) header.key_types = KeyTypes::FromBits(6);
  return header;
}

constexpr HashSpec kKeyed{HashKind::kSipHash24, 0, {0x0706050403020100, 0x0F0E0D0C0B0A0908}};

FileHeader KeyedHeader(bool has_secret) {
  FileHeader header = SampleHeader(2);
  header.hash = kKeyed;
  header.has_secret = has_secret;
  header.key_tag = {HashBytes("tamis key tag 1", kKeyed), HashBytes("tamis key tag 2", kKeyed)};
  return header;
}

uint64_t FileBytes(uint32_t version) { return version == 1 ? 128 + 96 : 192 + 128 + 8; }

Bytes Encode(const FileHeader& header) {
  const std::vector<std::byte> encoded = detail::EncodeHeader(header);
  const auto* begin = reinterpret_cast<const char*>(encoded.data());
  return Bytes(begin, begin + encoded.size());
}

// The bytes after a header of version 1 also belong to the first bytes of a file.
FileHeader Decode(Bytes start, uint64_t file_bytes) {
  start.resize(std::min<uint64_t>(file_bytes, 192));
  return detail::DecodeHeader(std::as_bytes(std::span(start)), file_bytes, "sample");
}
FileHeader Decode(const Bytes& start) { return Decode(start, FileBytes(VersionOf(start))); }

// Returns the fields that all versions share.
Bytes StartOfTheSpecification(uint32_t version, uint32_t header_bytes) {
  Bytes want(header_bytes);
  std::memcpy(want.data(), "tamis\r\n\x1a", 8);
  SetField<uint32_t>(want, 8, version);
  SetField<uint32_t>(want, 12, header_bytes);
  SetField<uint32_t>(want, 16, 1);
  SetField<uint32_t>(want, 20, 2);
  SetField<uint64_t>(want, 24, 0x1122334455667788);
  SetField<uint64_t>(want, 32, 3);
  SetField<uint64_t>(want, 56, 70);
  SetField<uint64_t>(want, 64, 80);
  SetField<uint64_t>(want, 72, header_bytes);
  SetField<uint64_t>(want, 80, 96);
  SetField<uint64_t>(want, 88, 0xAAAAAAAAAAAAAAAA);
  SetField<uint64_t>(want, 96, 0xBBBBBBBBBBBBBBBB);
  return want;
}

TEST(FileFormatTest, HeaderHasTheBytesOfTheSpecification) {
  Bytes want = StartOfTheSpecification(1, 128);
  SetField<uint64_t>(want, 120, XXH3_64bits(want.data(), 120));
  EXPECT_EQ(Encode(SampleHeader(1)), want);

  want = StartOfTheSpecification(2, 192);
  SetField<uint32_t>(want, 104, 6);
  SetField<uint32_t>(want, 144, 16);
  SetField<uint64_t>(want, 184, XXH3_64bits(want.data(), 184));
  EXPECT_EQ(Encode(SampleHeader(2)), want);

  SetField<uint32_t>(want, 20, 4);
  SetField<uint64_t>(want, 24, 0);
  SetField<uint64_t>(want, 112, HashBytes("tamis key tag 1", kKeyed));
  SetField<uint64_t>(want, 120, HashBytes("tamis key tag 2", kKeyed));
  SetField<uint64_t>(want, 184, XXH3_64bits(want.data(), 184));
  EXPECT_EQ(Encode(KeyedHeader(false)), want);

  SetField<uint32_t>(want, 108, 1);
  for (char i = 0; i < 16; ++i) want[128 + i] = i;
  SetField<uint64_t>(want, 184, XXH3_64bits(want.data(), 184));
  EXPECT_EQ(Encode(KeyedHeader(true)), want);
}

TEST(FileFormatTest, DecodeInvertsEncode) {
  for (const FileHeader& want :
       {SampleHeader(1), SampleHeader(2), KeyedHeader(false), KeyedHeader(true)}) {
    const FileHeader got = Decode(Encode(want));
    EXPECT_EQ(got.version, want.version);
    EXPECT_EQ(got.kind, want.kind);
    EXPECT_EQ(got.hash.kind, want.hash.kind);
    EXPECT_EQ(got.hash.seed, want.hash.seed);
    EXPECT_EQ(got.hash.secret, want.has_secret ? kKeyed.secret : HashSecret{});
    EXPECT_EQ(got.geometry, want.geometry);
    EXPECT_EQ(got.capacity, want.capacity);
    EXPECT_EQ(got.inserted, want.inserted);
    EXPECT_EQ(got.payload_bytes, want.payload_bytes);
    EXPECT_EQ(got.payload_checksum, want.payload_checksum);
    EXPECT_EQ(got.key_types, want.key_types);
    EXPECT_EQ(got.has_secret, want.has_secret);
    EXPECT_EQ(got.key_tag, want.key_tag);
  }
}

TEST(FileFormatTest, AcceptsTheLimitsOfEveryField) {
  FileHeader header = SampleHeader(1);
  header.hash = {HashKind::kXxh3, ~uint64_t{0}};
  header.geometry = {split_block::kMaxBlocks32, 0, 0};
  header.capacity = ~uint64_t{0};
  header.inserted = ~uint64_t{0};
  header.payload_bytes = 32 * split_block::kMaxBlocks32;
  EXPECT_EQ(Decode(Encode(header), 128 + header.payload_bytes).geometry, header.geometry);
  header.geometry = {1, 0, 0};
  header.capacity = 1;
  header.inserted = 0;
  header.payload_bytes = 32;
  EXPECT_EQ(Decode(Encode(header), 160).geometry, header.geometry);
  header = SampleHeader(2);
  header.key_types = KeyTypes::FromBits(127);
  EXPECT_EQ(Decode(Encode(header)).key_types, header.key_types);
}

// A header with one field set to a wrong value, and a right checksum.
struct WrongField {
  const char* check;
  size_t offset;
  uint64_t value;
  size_t bytes = 8;
  ErrorCode code = ErrorCode::kCorrupt;
};

void ExpectRefused(const FileHeader& good, const WrongField& field, size_t at) {
  SCOPED_TRACE(std::string(field.check) + " = " + std::to_string(field.value));
  Bytes header = Encode(good);
  std::memcpy(header.data() + field.offset, &field.value, field.bytes);
  if (field.offset != offset::kVersion) SealHeader(header);
  ExpectFormatError([&] { Decode(header, FileBytes(good.version)); }, field.check, at, field.code);
}
void ExpectRefused(const FileHeader& good, const WrongField& field) {
  ExpectRefused(good, field, field.offset);
}

TEST(FileFormatTest, RefusesFieldsThatDisagreeInASealedHeader) {
  constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported;
  constexpr uint64_t kMax = ~uint64_t{0};
  const WrongField fields[] = {
      {"version", offset::kVersion, 0, 4, kUnsupported},
      {"version", offset::kVersion, 0, 4, kUnsupported},
      {"version", offset::kVersion, 4, 4, kUnsupported},
      {"version", offset::kVersion, 0xFFFFFFFF, 4, kUnsupported},
      {"header length", offset::kHeaderLength, 0, 4},
      {"header length", offset::kHeaderLength, 64, 4},
      {"header length", offset::kHeaderLength, 256, 4},
      {"filter kind", offset::kFilterKind, 0, 4, kUnsupported},
      {"filter kind", offset::kFilterKind, 0xFFFFFFFF, 4, kUnsupported},
      {"hash kind", offset::kHashKind, 0, 4, kUnsupported},
      {"hash kind", offset::kHashKind, 5, 4, kUnsupported},
      {"hash kind", offset::kHashKind, 0xFFFFFFFF, 4, kUnsupported},
      {"blocks", offset::kGeometry, 0},
      {"blocks", offset::kGeometry, uint64_t{1} << 32},
      {"blocks", offset::kGeometry, kMax},
      // 32 times these values wraps around to 96, the true length of the payload.
      {"blocks", offset::kGeometry, (uint64_t{1} << 59) + 3},
      {"blocks", offset::kGeometry, (uint64_t{31} << 59) + 3},
      {"geometry[1]", offset::kGeometry + 8, 1},
      {"geometry[2]", offset::kGeometry + 16, kMax},
      {"capacity", offset::kCapacity, 0},
      {"payload offset", offset::kPayloadOffset, 0},
      {"payload offset", offset::kPayloadOffset, 64},
      {"payload offset", offset::kPayloadOffset, 256},
      {"payload offset", offset::kPayloadOffset, kMax},
      {"payload length", offset::kPayloadLength, 0},
      {"payload length", offset::kPayloadLength, 95},
      {"payload length", offset::kPayloadLength, 97},
      {"payload length", offset::kPayloadLength, 64},
      {"payload length", offset::kPayloadLength, kMax - 127},  // 128 more wraps around to 0
      {"payload length", offset::kPayloadLength, kMax},
      // Valid by themselves, but the file has another length.
      {"payload length", offset::kGeometry, 4},
      {"payload length", offset::kGeometry, split_block::kMaxBlocks32},
  };
  for (const uint32_t version : kVersions) {
    for (const WrongField& field : fields) {
      // The field whose check fails may differ from the field that was set.
      const size_t at =
          std::string(field.check) == "payload length" ? offset::kPayloadLength : field.offset;
      ExpectRefused(SampleHeader(version), field, at);
    }
  }
}

TEST(FileFormatTest, RefusesFieldsOfVersion1InASealedHeader) {
  const FileHeader header = SampleHeader(1);
  for (uint64_t kind : {3, 4}) {
    ExpectRefused(header, {"hash kind", offset::kHashKind, kind, 4, ErrorCode::kUnsupported});
  }
  for (size_t at = 104; at < 120; at += 4) ExpectRefused(header, {"reserved bytes", at, 1, 4});
}

TEST(FileFormatTest, RefusesFieldsOfVersion2InASealedHeader) {
  const FileHeader plain = SampleHeader(2);
  ExpectRefused(plain, {"key types", offset::kKeyTypes, 256, 4});
  ExpectRefused(plain, {"key types", offset::kKeyTypes, 0xFFFFFFFF, 4});
  ExpectRefused(plain, {"flags", offset::kFlags, 1, 4});
  ExpectRefused(plain, {"key tag", offset::kKeyTag, 1});
  ExpectRefused(plain, {"secret", offset::kSecret, 1});
  ExpectRefused(plain, {"secret", offset::kSecret + 8, 1}, offset::kSecret);
  for (const uint64_t log2 : {0, 12, 15, 17, 64}) {
    ExpectRefused(plain, {"page size", offset::kLog2PageBytes, log2, 4, ErrorCode::kUnsupported});
  }
  for (size_t at = 148; at < 184; at += 4) ExpectRefused(plain, {"reserved bytes", at, 1, 4});

  const FileHeader keyed = KeyedHeader(false), with_secret = KeyedHeader(true);
  ExpectRefused(keyed, {"seed", offset::kSeed, 1});
  ExpectRefused(keyed, {"flags", offset::kFlags, 2, 4});
  ExpectRefused(with_secret, {"flags", offset::kFlags, 3, 4});
  ExpectRefused(keyed, {"secret", offset::kSecret, 1});
  ExpectRefused(with_secret, {"secret", offset::kFlags, 0, 4}, offset::kSecret);
  ExpectRefused(with_secret, {"key tag", offset::kSecret, 1}, offset::kKeyTag);
  ExpectRefused(with_secret, {"key tag", offset::kKeyTag + 8, 1}, offset::kKeyTag);
  // SipHash with another number of rounds.
  ExpectRefused(with_secret, {"key tag", offset::kHashKind, 3, 4}, offset::kKeyTag);
}

TEST(FileFormatTest, RefusesAnyOtherLengthOfTheFile) {
  for (const uint32_t version : kVersions) {
    const Bytes header = Encode(SampleHeader(version));
    const uint64_t right = FileBytes(version);
    ExpectFormatError([&] { Decode(header, header.size()); }, "file length", header.size());
    ExpectFormatError([&] { Decode(header, header.size() - 1); }, "file length", header.size() - 1);
    ExpectFormatError([&] { Decode(header, right - 1); }, "file length", right - 1);
    ExpectFormatError([&] { Decode(header, right + 1); }, "file length", right);
    ExpectFormatError([&] { Decode(header, ~uint64_t{0}); }, "file length", right);

    // A valid header that claims the largest possible filter.
    FileHeader huge = SampleHeader(version);
    huge.geometry[0] = split_block::kMaxBlocks32;
    huge.payload_bytes = 32 * split_block::kMaxBlocks32;
    ExpectFormatError([&] { Decode(Encode(huge)); }, "file length", right);
  }
}

TEST(FileFormatTest, MessagesSayTheValueAndTheRange) {
  Bytes header = Encode(SampleHeader(1));
  SetField(header, offset::kGeometry, uint64_t{1} << 32);
  SealHeader(header);
  ExpectError([&] { Decode(header); }, ErrorCode::kCorrupt,
              "sample: blocks at offset 32: is 4294967296, out of range [1, 4294967295]");
  ExpectError(
      [&] { Decode(Encode(SampleHeader(1)), 200); }, ErrorCode::kCorrupt,
      "sample: file length at offset 200: the file has 200 bytes, must have 224 by its header");
}

TEST(FileFormatTest, RequireKindTellsKindsApart) {
  FileHeader header = SampleHeader(2);
  detail::RequireKind(header, FilterKind::kSplitBlock, "sample");
  header.kind = static_cast<FilterKind>(99);
  ExpectFormatError([&] { detail::RequireKind(header, FilterKind::kSplitBlock, "sample"); },
                    "filter kind", offset::kFilterKind, ErrorCode::kUnsupported);
}

TEST(FileFormatTest, KindsHaveNames) {
  EXPECT_STREQ(FilterKindName(FilterKind::kSplitBlock), "split-block");
  EXPECT_STREQ(FilterKindName(static_cast<FilterKind>(0)), "unknown");
}

}  // namespace tamis::file_format_test
