// Files of cuckoo filters that were made with bad intent. Tests for files of every kind are in
// contract_file_test.cc.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/file/file_checks.h"
#include "tamis/filters/any_filter.h"
#include "tests/core/contract.h"
#include "tests/core/cuckoo_test_util.h"
#include "tests/core/file_parts.h"
#include "tests/test_util.h"

namespace tamis::cuckoo_file_test {

namespace offset = detail::offset;
const size_t kHeaderBytes = HeaderBytesOf(FileHeader::kNewestVersion);

template <typename Filter>
class CuckooFileTest : public testing::Test {
 protected:
  static constexpr int kWidth = Filter::kFingerprintBits;
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "f.tamis";

  // Returns a file of three chunks of 2 buckets with 10 keys.
  Bytes SmallFile() {
    Filter filter = EmptyCuckooFilter<Filter>({3, 2}, {HashKind::kXxh64, 99});
    EXPECT_EQ(filter.Insert(RandomKeys(10, /*seed=*/1)), 10u);
    filter.Save(path_);
    return ReadBytes(path_);
  }

  void ExpectRefused(const Bytes& file, const std::string& check, uint64_t at) {
    tamis::ExpectRefused(SubjectOf<Filter>(), path_, file, check, at);
  }

  // Expects an error from every function that reads the payload.
  void ExpectPayloadRefused(const Bytes& file, const std::string& check, uint64_t at) {
    tamis::ExpectRefused(SubjectOf<Filter>(), path_, file, check, at, false);
  }
};
TYPED_TEST_SUITE(CuckooFileTest, CuckooFilters, CuckooFilterName);

// Headers with right checksums whose fields are impossible or do not match each other.
TYPED_TEST(CuckooFileTest, InvalidGeometries) {
  const Bytes good = this->SmallFile();
  const uint64_t bucket = ReferenceBucketBytes(this->kWidth);
  const uint64_t max_buckets = 262'144 / bucket;
  const auto expect = [&](uint64_t chunks, uint64_t chunk_buckets, const std::string& check,
                          uint64_t at) {
    SCOPED_TRACE(std::to_string(chunks) + " chunks of " + std::to_string(chunk_buckets));
    Bytes file = good;
    SetField(file, offset::kGeometry, chunks);
    SetField(file, offset::kGeometry + 8, chunk_buckets);
    SealHeader(file);
    this->ExpectRefused(file, check, at);
    // The same if the length of the payload matches these fields.
    SetField(file, offset::kPayloadLength, chunks * chunk_buckets * bucket);
    SealHeader(file);
    const FilterInFile claimed{FileHeader::kNewestVersion, 0, chunks * chunk_buckets * bucket};
    if (check != "payload length") return this->ExpectRefused(file, check, at);
    if (claimed.end() != good.size()) {  // the zeros after the payload can compensate
      this->ExpectRefused(file, "file length", std::min(good.size(), claimed.end()));
    }
  };
  for (const uint64_t chunks : {uint64_t{0}, (uint64_t{1} << 24) + 1, ~uint64_t{0}}) {
    expect(chunks, 2, "chunks", offset::kGeometry);
  }
  for (const uint64_t buckets :
       {uint64_t{0}, uint64_t{1}, uint64_t{7}, max_buckets + 2, ~uint64_t{0}}) {
    expect(3, buckets, "chunk buckets", offset::kGeometry + 8);
  }
  expect(2, 2, "payload length", offset::kPayloadLength);
  expect(3, 4, "payload length", offset::kPayloadLength);
  expect(uint64_t{1} << 24, max_buckets, "payload length", offset::kPayloadLength);

  Bytes file = good;
  SetField(file, offset::kGeometry + 16, uint64_t{1});
  SealHeader(file);
  this->ExpectRefused(file, "geometry[2]", offset::kGeometry + 16);
  file = good;
  SetField(file, offset::kInserted, uint64_t{6 * ReferenceSlots(this->kWidth) + 1});
  SealHeader(file);
  this->ExpectRefused(file, "inserted", offset::kInserted);
}

// All checksums are right, but the table does not have the number of keys in the header.
TYPED_TEST(CuckooFileTest, CountsThatDisagree) {
  const Bytes good = this->SmallFile();
  ASSERT_EQ(GetField<uint64_t>(good, offset::kInserted), 10u);
  for (const uint64_t inserted : {0, 1, 9, 11, 24}) {
    Bytes file = good;
    SetField(file, offset::kInserted, inserted);
    SealHeader(file);
    this->ExpectPayloadRefused(file, "inserted", offset::kInserted);
  }
  // Too few fingerprints, in an empty table, and too many, in a full table.
  Bytes less = good;
  const FilterInFile table = FiltersIn(good)[0];
  const auto fill = [&](Bytes& file, char byte) {
    std::fill(file.begin() + table.payload_at(), file.begin() + table.payload_end(), byte);
  };
  fill(less, '\0');
  SealAll(less);
  this->ExpectPayloadRefused(less, "inserted", offset::kInserted);
  Bytes more = good;
  fill(more, '\x11');
  if (this->kWidth == 12) {
    for (size_t at = kHeaderBytes + 7; at < table.payload_end(); at += 8) more[at] = '\x01';
  }
  SealAll(more);
  this->ExpectPayloadRefused(more, "inserted", offset::kInserted);
  SetField(more, offset::kInserted, uint64_t{6 * ReferenceSlots(this->kWidth)});
  SealHeader(more);
  WriteBytes(this->path_, more);
  EXPECT_EQ(TypeParam::Load(this->path_).load_factor(), 1);
}

// Buckets of 12-bit fingerprints have four bits that do not belong to a slot.
TEST(CuckooFileBitsTest, BitsAboveTheLastSlotAreRefused) {
  const TemporaryFolder folder;
  const auto path = folder / "f";
  CuckooFilter<12> filter({.bytes = 600'000});
  filter.Insert(RandomKeys(1000, /*seed=*/1));
  filter.Save(path);
  const Bytes good = ReadBytes(path);
  // In the first bucket, in the middle, at the end of a piece, and in the last bucket.
  for (const size_t bucket : {size_t{0}, size_t{1000}, size_t{32767}, size_t{32768},
                              FiltersIn(good)[0].payload_bytes / 8 - 1}) {
    for (int bit = 60; bit < 64; ++bit) {
      Bytes file = good;
      const size_t at = kHeaderBytes + 8 * bucket;
      SetField(file, at, GetField<uint64_t>(file, at) | uint64_t{1} << bit);
      SealAll(file);
      WriteBytes(path, file);
      ExpectFormatError([&] { VerifyFile(path); }, "bucket", at);
      ExpectFormatError([&] { CuckooFilter<12>::Load(path); }, "bucket", at);
      ExpectFormatError([&] { CuckooFilter<12>::Map(path, {.verify = Verify::kFull}); }, "bucket",
                        at);
    }
  }
}

}  // namespace tamis::cuckoo_file_test
