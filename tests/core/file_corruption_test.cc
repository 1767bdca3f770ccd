// Damaged files: every way to open one reports an error with the check and the offset. Damage that
// any file can have is in contract_file_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tamis/filters/any_filter.h"
#include "tamis/filters/counting_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/contract.h"
#include "tests/core/file_parts.h"
#include "tests/core/file_test_util.h"

namespace tamis::file_corruption_test {

namespace offset = detail::offset;

class FileCorruptionTest : public FileTest {
 protected:
  const std::filesystem::path path_ = folder_ / "damaged.tamis";

  void ExpectRefused(const Bytes& file, const std::string& check, uint64_t at,
                     ErrorCode code = ErrorCode::kCorrupt) {
    tamis::ExpectRefused(subject_, path_, file, check, at, true, code);
  }

  const Subject subject_ = SubjectOf<SplitBlockBloomFilter>();
};

TEST_F(FileCorruptionTest, OtherFiles) {
  const auto text = [](const std::string& s) { return Bytes(s.begin(), s.end()); };
  ExpectRefused(text("?"), "magic", offset::kMagic);
  ExpectRefused(text("tamis\n\x1a"), "magic", offset::kMagic);  // sent as text
  ExpectRefused(Bytes(192), "magic", offset::kMagic);
  ExpectRefused(Bytes(100000, 'x'), "magic", offset::kMagic);
  ExpectRefused(text("tamis"), "file length", 5);
}

TEST_F(FileCorruptionTest, WrongKindAndVersion) {
  Bytes file = ReadBytes(GoldenPath("split_block_v1_one_block"));
  SetField<uint32_t>(file, offset::kFilterKind, 77);
  SealHeader(file);
  ExpectRefused(file, "filter kind", offset::kFilterKind, ErrorCode::kUnsupported);
  for (const uint32_t version : {0, 4, 256}) {
    SetField<uint32_t>(file, offset::kVersion, version);
    ExpectRefused(file, "version", offset::kVersion, ErrorCode::kUnsupported);
  }
}

// Headers with right checksums that claim more than the file has. The library refuses them before
// it allocates memory, so the test also passes on machines with less memory than the headers claim.
TEST_F(FileCorruptionTest, ClaimsOfAHugePayload) {
  Bytes file = ReadBytes(GoldenPath("split_block_v1_one_block"));
  for (const uint64_t blocks : {uint64_t{2}, uint64_t{1} << 31, split_block::kMaxBlocks32}) {
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
  for (const uint32_t version : kVersions) {
    SplitBlockBloomFilter({.bytes = 640}).Save(path_, {.version = version});
    Bytes file = ReadBytes(path_);
    const auto halves = GetField<std::array<uint64_t, 2>>(file, offset::kPayloadChecksum);
    SetField(file, offset::kPayloadChecksum, std::array<uint64_t, 2>{halves[1], halves[0]});
    SealHeader(file);
    tamis::ExpectRefused(subject_, path_, file, "payload checksum", offset::kPayloadChecksum,
                         false);
  }
}

// Changes one byte at a time. In a payload of several pieces, tests the first, middle and last
// byte. In a payload of several pages, tests the ends of each page.
TEST_F(FileCorruptionTest, OneByteOfALargePayload) {
  SplitBlockBloomFilter filter({.capacity = 100000, .bytes = 1000032});
  for (uint64_t key = 0; key < 100000; ++key) filter.Insert(key);
  for (const uint32_t version : kVersions) {
    filter.Save(path_, {.version = version});
    const Bytes good = ReadBytes(path_);
    const FilterInFile at = FiltersIn(good)[0];
    std::vector<size_t> bytes = {at.payload_at(), good.size() / 2, at.payload_end() - 1};
    for (size_t page = 0; page < at.num_pages(); ++page) {
      bytes.push_back(at.payload_at() + 65536 * page);
      bytes.push_back(std::min(bytes.back() + 65536, at.payload_end()) - 1);
    }
    for (const size_t byte : bytes) {
      SCOPED_TRACE("byte " + std::to_string(byte));
      Bytes file = good;
      file[byte] = static_cast<char>(~file[byte]);
      const Damage damage = DamageOf(good, byte);
      tamis::ExpectRefused(subject_, path_, file, damage.check, damage.at, false);
    }
  }
}

// Clone and Merge of every kind refuse damaged files (contract_file_test.cc); these functions do
// the same for their kinds.
TEST_F(FileCorruptionTest, NothingIsDerivedFromADamagedMappedFile) {
  const auto expect_refused = [&](const Filter& filter, const auto& derive) {
    for (const uint32_t version : kVersions) {
      filter.Save(path_, {.version = version});
      Bytes file = ReadBytes(path_);
      const Damage damage = DamageOf(file, FiltersIn(file)[0].payload_end() - 1);
      file[FiltersIn(file)[0].payload_end() - 1] ^= 1;
      WriteBytes(path_, file);
      ExpectFormatError(derive, damage.check, damage.at);
    }
  };
  expect_refused(SplitBlockBloomFilter({.bytes = 640}),
                 [&] { SplitBlockBloomFilter::Map(path_).Folded(); });
  expect_refused(CountingBloomFilter({.bytes = 640}),
                 [&] { CountingBloomFilter::Map(path_).Freeze(); });
}

// Every field of the geometry is checked.
void ExpectGeometryError(const std::string& golden, size_t field, uint64_t value,
                         const std::string& check) {
  const TemporaryFolder folder;
  Bytes file = ReadBytes(GoldenPath(golden));
  const size_t at = detail::offset::kGeometry + 8 * field;
  SetField(file, at, value);
  SealHeader(file);
  WriteBytes(folder / "a", file);
  ExpectFormatError([&] { Load(folder / "a"); }, check, at);
  ExpectFormatError([&] { Map(folder / "a"); }, check, at);
}

TEST(GeometryCheckTest, Bloom) {
  for (const uint64_t bits :
       {uint64_t{0}, uint64_t{32}, uint64_t{9665}, ~uint64_t{63}, (uint64_t{1} << 53) + 64}) {
    ExpectGeometryError("bloom_v1_seven_hashes", 0, bits, "bits");
  }
  for (const uint64_t hashes : {uint64_t{0}, uint64_t{65}, ~uint64_t{0}}) {
    ExpectGeometryError("bloom_v1_seven_hashes", 1, hashes, "hashes");
  }
  ExpectGeometryError("bloom_v1_seven_hashes", 2, 1, "geometry[2]");
}

TEST(GeometryCheckTest, Counting) {
  for (const uint64_t blocks : {uint64_t{0}, uint64_t{1} << 32, ~uint64_t{0}}) {
    ExpectGeometryError("counting_v1_strings", 0, blocks, "blocks");
  }
  ExpectGeometryError("counting_v1_strings", 1, 1, "geometry[1]");
  ExpectGeometryError("counting_v1_strings", 2, 1, "geometry[2]");
}

}  // namespace tamis::file_corruption_test
