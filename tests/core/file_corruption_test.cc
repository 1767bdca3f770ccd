// Damaged files: whatever is wrong with one, every way to open it gives an error that names the
// check and the offset.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tamis/any_filter.h"
#include "tamis/split_block_filter.h"
#include "tests/core/file_test_util.h"

namespace tamis {
namespace {

namespace offset = detail::offset;

constexpr size_t kHeaderBytes = detail::kHeaderBytes;

class FileCorruptionTest : public FileTest {
 protected:
  const std::filesystem::path path_ = folder_ / "damaged.tamis";

  void ExpectRefused(const Bytes& file, const std::string& check, uint64_t at,
                     ErrorCode code = ErrorCode::kCorrupt) {
    WriteBytes(path_, file);
    ExpectFormatError([&] { ReadHeader(path_); }, check, at, code);
    ExpectFormatError([&] { VerifyFile(path_); }, check, at, code);
    ExpectFormatError([&] { SplitBlockBloomFilter::Load(path_); }, check, at, code);
    ExpectFormatError([&] { SplitBlockBloomFilter::Map(path_); }, check, at, code);
    ExpectFormatError([&] { Open(path_); }, check, at, code);
    ExpectFormatError([&] { OpenMapped(path_); }, check, at, code);
  }

  // What only a reader of the payload can notice.
  void ExpectPayloadRefused(const Bytes& file) {
    constexpr uint64_t at = offset::kPayloadChecksum;
    WriteBytes(path_, file);
    ExpectFormatError([&] { VerifyFile(path_); }, "payload checksum", at);
    ExpectFormatError([&] { SplitBlockBloomFilter::Load(path_); }, "payload checksum", at);
    ExpectFormatError([&] { Open(path_); }, "payload checksum", at);
    const MapOptions full{.verify = Verify::kFull};
    ExpectFormatError([&] { SplitBlockBloomFilter::Map(path_, full); }, "payload checksum", at);
    ExpectFormatError([&] { OpenMapped(path_, full); }, "payload checksum", at);
    // Any payload is safe to probe.
    EXPECT_EQ(ReadHeader(path_).payload_bytes, file.size() - kHeaderBytes);
    SplitBlockBloomFilter::Map(path_).Contains(uint64_t{1});
  }
};

TEST_F(FileCorruptionTest, EveryBitOfTheHeader) {
  const Bytes golden = ReadBytes(GoldenPath("split_block_v1_one_block"));
  for (size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
    SCOPED_TRACE("bit " + std::to_string(bit));
    Bytes file = golden;
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << (bit % 8)));
    if (bit / 8 < offset::kVersion) {
      ExpectRefused(file, "magic", offset::kMagic);
    } else if (bit / 8 < offset::kHeaderLength) {
      ExpectRefused(file, "version", offset::kVersion, ErrorCode::kUnsupported);
    } else if (bit / 8 < offset::kFilterKind) {
      ExpectRefused(file, "header length", offset::kHeaderLength);
    } else {
      ExpectRefused(file, "header checksum", offset::kHeaderChecksum);
    }
  }
}

TEST_F(FileCorruptionTest, EveryBitOfAPayload) {
  const Bytes golden = ReadBytes(GoldenPath("split_block_v1_one_block"));
  for (size_t bit = 8 * kHeaderBytes; bit < 8 * golden.size(); ++bit) {
    SCOPED_TRACE("bit " + std::to_string(bit));
    Bytes file = golden;
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << (bit % 8)));
    ExpectPayloadRefused(file);
  }
}

TEST_F(FileCorruptionTest, EveryLengthThatATruncatedFileCanHave) {
  const Bytes golden = ReadBytes(GoldenPath("split_block_v1_empty"));
  for (size_t length = 0; length < golden.size(); ++length) {
    SCOPED_TRACE("length " + std::to_string(length));
    ExpectRefused(Bytes(golden.begin(), golden.begin() + static_cast<std::ptrdiff_t>(length)),
                  "file length", length);
  }
}

TEST_F(FileCorruptionTest, AppendedBytes) {
  const Bytes golden = ReadBytes(GoldenPath("split_block_v1_empty"));
  for (const size_t extra : {1, 7, 32, 64, 100000}) {
    SCOPED_TRACE("extra " + std::to_string(extra));
    Bytes file = golden;
    file.insert(file.end(), extra, '\0');
    ExpectRefused(file, "file length", golden.size());
  }
}

TEST_F(FileCorruptionTest, OtherFiles) {
  const auto text = [](const std::string& s) { return Bytes(s.begin(), s.end()); };
  ExpectRefused(text("?"), "magic", offset::kMagic);
  ExpectRefused(text("tamis\n\x1a"), "magic", offset::kMagic);  // sent as text
  ExpectRefused(Bytes(kHeaderBytes), "magic", offset::kMagic);
  ExpectRefused(Bytes(100000, 'x'), "magic", offset::kMagic);
  ExpectRefused(text("tamis"), "file length", 5);
}

TEST_F(FileCorruptionTest, WrongKindAndVersion) {
  Bytes file = ReadBytes(GoldenPath("split_block_v1_one_block"));
  SetField<uint32_t>(file, offset::kFilterKind, 77);
  SealHeader(file);
  ExpectRefused(file, "filter kind", offset::kFilterKind, ErrorCode::kUnsupported);
  SetField<uint32_t>(file, offset::kVersion, 2);
  ExpectRefused(file, "version", offset::kVersion, ErrorCode::kUnsupported);
}

// Sealed headers that ask for more than the file has: refused before anything is allocated, hence
// also where the machine has less memory than they claim.
TEST_F(FileCorruptionTest, ClaimsOfAHugePayload) {
  Bytes file = ReadBytes(GoldenPath("split_block_v1_one_block"));
  for (const uint64_t blocks : {uint64_t{2}, uint64_t{1} << 31, split_block::kMaxBlocks}) {
    SetField(file, offset::kGeometry, blocks);
    SetField(file, offset::kPayloadLength, 32 * blocks);
    SealHeader(file);
    ExpectRefused(file, "file length", file.size());
  }
  SetField(file, offset::kGeometry, uint64_t{1} << 59);  // times 32 is 2^64
  SetField(file, offset::kPayloadLength, uint64_t{0});
  SealHeader(file);
  ExpectRefused(file, "blocks", offset::kGeometry);
}

TEST_F(FileCorruptionTest, SwappedChecksumHalves) {
  Bytes file = ReadBytes(GoldenPath("split_block_v1_one_block"));
  const auto halves = GetField<std::array<uint64_t, 2>>(file, offset::kPayloadChecksum);
  SetField(file, offset::kPayloadChecksum, std::array<uint64_t, 2>{halves[1], halves[0]});
  SealHeader(file);
  ExpectPayloadRefused(file);
}

// In a payload of several pieces, the first, middle and last byte.
TEST_F(FileCorruptionTest, OneByteOfALargePayload) {
  SplitBlockBloomFilter filter({.capacity = 100000, .bytes = 1000032});
  for (uint64_t key = 0; key < 100000; ++key) filter.Insert(key);
  filter.Save(path_);
  const Bytes good = ReadBytes(path_);
  for (const size_t at : {kHeaderBytes, good.size() / 2, good.size() - 1}) {
    SCOPED_TRACE("byte " + std::to_string(at));
    Bytes file = good;
    file[at] = static_cast<char>(~file[at]);
    ExpectPayloadRefused(file);
  }
}

}  // namespace
}  // namespace tamis
