// Parts as bytes: every form is read again, and damage is detected.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tamis/join/join_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::part_bytes_test {

using Part = JoinFilter::Part;
using Bytes = std::vector<std::byte>;

JoinFilterOptions Kept() { return {.expected_keys = 1000, .kept_keys = 300}; }
JoinFilterOptions Ranged() { return {.expected_keys = 1000, .range = JoinKeyRange(-9, 4000)}; }

Part Filled(const JoinFilterOptions& options, const std::vector<uint64_t>& keys) {
  Part part = JoinFilter(options).MakePart(3);
  part.Insert(keys);
  return part;
}

// One part of each contents.
std::vector<Part> Parts() {
  std::vector<Part> parts;
  parts.push_back(Filled(Kept(), {}));
  parts.push_back(Filled(Kept(), RandomKeys(200, 1)));
  parts.push_back(Filled(Kept(), RandomKeys(1000, 1)));
  parts.push_back(Filled(Ranged(), {}));
  parts.push_back(Filled(Ranged(), {0, 5, 4000}));
  parts.push_back(Filled(Ranged(), {5000}));
  JoinFilterOptions hashes = Kept();
  hashes.key_type = JoinKeyType::kHashes;
  hashes.hash = {HashKind::kXxh64, 9};
  parts.push_back(Filled(hashes, RandomKeys(20, 1)));
  return parts;
}

TEST(JoinPartBytesTest, EveryPart_IsReadAgain) {
  for (const Part& part : Parts()) {
    const Bytes bytes = part.Serialize();
    const Part again = Part::FromBytes(bytes);
    EXPECT_EQ(again.Serialize(), bytes);
    EXPECT_EQ(again.index(), 3u);
    EXPECT_EQ(again.contents(), part.contents());
    EXPECT_EQ(again.inserted_count(), part.inserted_count());
    EXPECT_EQ(again.bytes(), part.bytes());
  }
}

TEST(JoinPartBytesTest, EveryDamagedBit_IsDetected) {
  for (const Part& part : Parts()) {
    const Bytes bytes = part.Serialize();
    for (size_t bit = 0; bit < 8 * bytes.size(); bit += bit < 8 * 200 ? 1 : 97) {
      Bytes damaged = bytes;
      damaged[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_THROW(Part::FromBytes(damaged), FormatError) << bit;
    }
    for (size_t length = 0; length < bytes.size(); length += length < 200 ? 1 : 77) {
      EXPECT_THROW(Part::FromBytes(std::span(bytes).first(length)), FormatError) << length;
    }
    Bytes longer = bytes;
    longer.push_back({});
    EXPECT_THROW(Part::FromBytes(longer), FormatError);
  }
}

TEST(JoinPartBytesTest, Errors_NameTheCheckAndTheOffset) {
  Bytes bytes = Filled(Kept(), {1}).Serialize();
  const auto expect = [&](size_t at, const char* check, ErrorCode code) {
    Bytes damaged = bytes;
    damaged[at] ^= std::byte{0x40};
    try {
      Part::FromBytes(damaged);
      ADD_FAILURE() << check;
    } catch (const FormatError& error) {
      EXPECT_EQ(error.check(), check);
      EXPECT_EQ(error.code(), code);
    }
  };
  expect(0, "magic", ErrorCode::kCorrupt);
  expect(8, "version", ErrorCode::kUnsupported);
  expect(12, "header length", ErrorCode::kCorrupt);
  expect(136, "payload length", ErrorCode::kCorrupt);
  expect(152, "checksum", ErrorCode::kCorrupt);
}

// Sets a field, and the checksum as join/FORMAT.md defines it.
template <typename T>
void Set(Bytes& bytes, size_t at, T value) {
  constexpr size_t kChecksum = 144, kPayload = 152;
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  const uint64_t header = XXH3_64bits(bytes.data(), kChecksum);
  const uint64_t sum =
      XXH3_64bits_withSeed(bytes.data() + kPayload, bytes.size() - kPayload, header);
  std::memcpy(bytes.data() + kChecksum, &sum, sizeof(sum));
}

constexpr size_t kIndex = 80, kInserted = 88;

TEST(JoinPartBytesTest, NumbersOfParts_AreLimited) {
  Bytes bytes = Filled(Kept(), {1}).Serialize();
  Set<uint32_t>(bytes, kIndex, 1'048'575);
  EXPECT_EQ(Part::FromBytes(bytes).index(), 1'048'575u);
  for (const uint32_t index : {1'048'576u, 0xFFFFFFFFu}) {
    Set(bytes, kIndex, index);
    EXPECT_THROW(Part::FromBytes(bytes), FormatError) << index;
  }
}

TEST(JoinPartBytesTest, BlocksWithoutKeys_AreRefused) {
  Bytes bytes = Filled(Kept(), RandomKeys(1000, 1)).Serialize();
  Set<uint64_t>(bytes, kInserted, 0);
  EXPECT_THROW(Part::FromBytes(bytes), FormatError);
}

// The sum of the counts of parts is at most 2^64 - 1. It does not wrap around to 0, which would
// mean that there are no keys.
TEST(JoinPartBytesTest, CountsThatExceed64Bits_LoseNoKey) {
  const std::vector<uint64_t> keys = RandomKeys(1000, 1);
  JoinFilter filter(Kept());
  Part honest = filter.MakePart(0);
  honest.Insert(keys);
  filter.Add(std::move(honest));
  Part other = filter.MakePart(1);
  other.Insert(RandomKeys(5, 2));
  Bytes bytes = other.Serialize();
  Set(bytes, kInserted, ~uint64_t{0} - 999);
  filter.Add(Part::FromBytes(bytes));
  filter.Complete(2);
  EXPECT_EQ(filter.form(), JoinForm::kBlocks);
  EXPECT_EQ(filter.Count(keys), keys.size());
}

// Files that join/FORMAT.md and tests/golden/make_golden.py define.
TEST(JoinPartBytesTest, GoldenFiles_AreWrittenTheSame) {
  JoinFilterOptions hashes = {
      .expected_keys = 100, .key_type = JoinKeyType::kHashes, .max_bytes = 4096, .kept_keys = 2};
  const std::vector<std::pair<std::string, Bytes>> parts = {
      {"join_v1_keys.part",
       Filled({.expected_keys = 100, .max_bytes = 4096, .kept_keys = 9}, {7, ~uint64_t{0}, 7})
           .Serialize()},
      {"join_v1_bitmap.part",
       Filled({.expected_keys = 100, .range = JoinKeyRange(-2, 100), .max_bytes = 4096},
              {~uint64_t{0}, 100, 0})
           .Serialize()},
      {"join_v1_blocks.part", Filled(hashes, {1, 2, 3}).Serialize()}};
  for (const auto& [name, bytes] : parts) {
    std::ifstream in(std::filesystem::path(TAMIS_GOLDEN_DIR) / name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    ASSERT_EQ(text.size(), bytes.size()) << name;
    EXPECT_EQ(std::memcmp(text.data(), bytes.data(), bytes.size()), 0) << name;
  }
}

}  // namespace tamis::part_bytes_test
