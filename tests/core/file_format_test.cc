// The header of a file: every field where core/FORMAT.md says, every check of it in its place.
#include "core/src/file/file_format.h"

#include <gtest/gtest.h>

#include <string>

#include "tamis/split_block.h"
#include "tests/core/file_test_util.h"

namespace tamis {
namespace {

namespace offset = detail::offset;

FileHeader SampleHeader() {
  FileHeader header;
  header.hash = {HashKind::kXxh64, 0x1122334455667788};
  header.geometry = {3, 0, 0};
  header.capacity = 70;
  header.inserted = 80;
  header.payload_bytes = 96;
  header.payload_checksum = {0xAAAAAAAAAAAAAAAA, 0xBBBBBBBBBBBBBBBB};
  return header;
}

constexpr uint64_t kSampleFileBytes = 128 + 96;

Bytes Encode(const FileHeader& header) {
  const detail::HeaderBytes encoded = detail::EncodeHeader(header);
  const auto* begin = reinterpret_cast<const char*>(encoded.data());
  return Bytes(begin, begin + encoded.size());
}

FileHeader Decode(const Bytes& start, uint64_t file_bytes = kSampleFileBytes) {
  return detail::DecodeHeader(std::as_bytes(std::span(start)), file_bytes, "sample");
}

TEST(FileFormatTest, HeaderHasTheBytesOfTheSpecification) {
  Bytes want(128);
  std::memcpy(want.data(), "tamis\r\n\x1a", 8);
  SetField<uint32_t>(want, 8, 1);
  SetField<uint32_t>(want, 12, 128);
  SetField<uint32_t>(want, 16, 1);
  SetField<uint32_t>(want, 20, 2);
  SetField<uint64_t>(want, 24, 0x1122334455667788);
  SetField<uint64_t>(want, 32, 3);
  SetField<uint64_t>(want, 56, 70);
  SetField<uint64_t>(want, 64, 80);
  SetField<uint64_t>(want, 72, 128);
  SetField<uint64_t>(want, 80, 96);
  SetField<uint64_t>(want, 88, 0xAAAAAAAAAAAAAAAA);
  SetField<uint64_t>(want, 96, 0xBBBBBBBBBBBBBBBB);
  SetField<uint64_t>(want, 120, XXH3_64bits(want.data(), 120));
  EXPECT_EQ(Encode(SampleHeader()), want);
}

TEST(FileFormatTest, DecodeGivesBackWhatWasEncoded) {
  const FileHeader want = SampleHeader();
  const FileHeader got = Decode(Encode(want));
  EXPECT_EQ(got.version, want.version);
  EXPECT_EQ(got.kind, want.kind);
  EXPECT_EQ(got.hash, want.hash);
  EXPECT_EQ(got.geometry, want.geometry);
  EXPECT_EQ(got.capacity, want.capacity);
  EXPECT_EQ(got.inserted, want.inserted);
  EXPECT_EQ(got.payload_bytes, want.payload_bytes);
  EXPECT_EQ(got.payload_checksum, want.payload_checksum);
}

TEST(FileFormatTest, AcceptsTheLimitsOfEveryField) {
  FileHeader header = SampleHeader();
  header.hash = {HashKind::kXxh3, ~uint64_t{0}};
  header.geometry = {split_block::kMaxBlocks, 0, 0};
  header.capacity = ~uint64_t{0};
  header.inserted = ~uint64_t{0};
  header.payload_bytes = 32 * split_block::kMaxBlocks;
  EXPECT_EQ(Decode(Encode(header), 128 + header.payload_bytes).geometry, header.geometry);
  header.geometry = {1, 0, 0};
  header.capacity = 1;
  header.inserted = 0;
  header.payload_bytes = 32;
  EXPECT_EQ(Decode(Encode(header), 160).geometry, header.geometry);
}

// One field of a header set to a wrong value, the checksum of the header made right again.
struct WrongField {
  const char* check;
  size_t offset;
  uint64_t value;
  size_t bytes = 8;
  ErrorCode code = ErrorCode::kCorrupt;
};

TEST(FileFormatTest, RefusesFieldsThatDisagreeInASealedHeader) {
  constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported;
  constexpr uint64_t kMax = ~uint64_t{0};
  const WrongField fields[] = {
      {"version", offset::kVersion, 0, 4, kUnsupported},
      {"version", offset::kVersion, 2, 4, kUnsupported},
      {"version", offset::kVersion, 0xFFFFFFFF, 4, kUnsupported},
      {"header length", offset::kHeaderLength, 0, 4},
      {"header length", offset::kHeaderLength, 64, 4},
      {"header length", offset::kHeaderLength, 256, 4},
      {"filter kind", offset::kFilterKind, 0, 4, kUnsupported},
      {"filter kind", offset::kFilterKind, 0xFFFFFFFF, 4, kUnsupported},
      {"hash kind", offset::kHashKind, 0, 4, kUnsupported},
      {"hash kind", offset::kHashKind, 3, 4, kUnsupported},
      {"hash kind", offset::kHashKind, 0xFFFFFFFF, 4, kUnsupported},
      {"blocks", offset::kGeometry, 0},
      {"blocks", offset::kGeometry, uint64_t{1} << 32},
      {"blocks", offset::kGeometry, kMax},
      // 32 times these wrap around to 96, the true length of the payload.
      {"blocks", offset::kGeometry, (uint64_t{1} << 59) + 3},
      {"blocks", offset::kGeometry, (uint64_t{31} << 59) + 3},
      {"geometry[1]", offset::kGeometry + 8, 1},
      {"geometry[2]", offset::kGeometry + 16, kMax},
      {"capacity", offset::kCapacity, 0},
      {"payload offset", offset::kPayloadOffset, 0},
      {"payload offset", offset::kPayloadOffset, 64},
      {"payload offset", offset::kPayloadOffset, 192},
      {"payload offset", offset::kPayloadOffset, kMax},
      {"payload length", offset::kPayloadLength, 0},
      {"payload length", offset::kPayloadLength, 95},
      {"payload length", offset::kPayloadLength, 97},
      {"payload length", offset::kPayloadLength, 64},
      {"payload length", offset::kPayloadLength, kMax - 127},  // 128 more wrap around to 0
      {"payload length", offset::kPayloadLength, kMax},
      {"reserved bytes", offset::kReserved, 1},
      {"reserved bytes", offset::kReserved + 8, uint64_t{1} << 63},
      // Sound by themselves, but the file has another length.
      {"payload length", offset::kGeometry, 4},
      {"payload length", offset::kGeometry, split_block::kMaxBlocks},
  };
  for (const WrongField& field : fields) {
    SCOPED_TRACE(std::string(field.check) + " = " + std::to_string(field.value));
    Bytes header = Encode(SampleHeader());
    std::memcpy(header.data() + field.offset, &field.value, field.bytes);
    SealHeader(header);
    // The check that fails may be on another field than the one that was set.
    const size_t at =
        std::string(field.check) == "payload length" ? offset::kPayloadLength : field.offset;
    ExpectFormatError([&] { Decode(header); }, field.check, at, field.code);
  }
}

TEST(FileFormatTest, RefusesAnyOtherLengthOfTheFile) {
  const Bytes header = Encode(SampleHeader());
  ExpectFormatError([&] { Decode(header, 128); }, "file length", 128);
  ExpectFormatError([&] { Decode(header, kSampleFileBytes - 1); }, "file length", 223);
  ExpectFormatError([&] { Decode(header, kSampleFileBytes + 1); }, "file length", 224);
  ExpectFormatError([&] { Decode(header, ~uint64_t{0}); }, "file length", 224);

  // A sound header that claims the largest filter there is.
  FileHeader huge = SampleHeader();
  huge.geometry[0] = split_block::kMaxBlocks;
  huge.payload_bytes = 32 * split_block::kMaxBlocks;
  ExpectFormatError([&] { Decode(Encode(huge)); }, "file length", kSampleFileBytes);
}

TEST(FileFormatTest, MessagesSayTheValueAndTheRange) {
  Bytes header = Encode(SampleHeader());
  SetField(header, offset::kGeometry, uint64_t{1} << 32);
  SealHeader(header);
  ExpectError([&] { Decode(header); }, ErrorCode::kCorrupt,
              "sample: blocks at offset 32: is 4294967296, out of range [1, 4294967295]");
  ExpectError(
      [&] { Decode(Encode(SampleHeader()), 200); }, ErrorCode::kCorrupt,
      "sample: file length at offset 200: the file has 200 bytes, must have 224 by its header");
}

TEST(FileFormatTest, RequireKindTellsKindsApart) {
  FileHeader header = SampleHeader();
  detail::RequireKind(header, FilterKind::kSplitBlock, "sample");
  header.kind = static_cast<FilterKind>(99);
  ExpectFormatError([&] { detail::RequireKind(header, FilterKind::kSplitBlock, "sample"); },
                    "filter kind", offset::kFilterKind, ErrorCode::kUnsupported);
}

TEST(FileFormatTest, KindsHaveNames) {
  EXPECT_STREQ(FilterKindName(FilterKind::kSplitBlock), "split-block");
  EXPECT_STREQ(FilterKindName(static_cast<FilterKind>(0)), "unknown");
}

}  // namespace
}  // namespace tamis
