// The bits are those of Apache Parquet's Bloom filters, if the hash is XXH64 with seed 0: against
// files that other writers made (apache/parquet-testing), and against what is known of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "tamis/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

constexpr uint64_t kBytes = 1024;

// What bloom_filter.xxhash.bin holds.
const std::vector<std::string_view> kWords = {"hello", "parquet", "bloom", "filter"};

// The column of data_index_bloom_encoding_stats.parquet, and what its own tests find absent in it.
const std::vector<std::string_view> kColumn = {
    "Hello", "This is",   "a",         "test",  "How",  "are you",  "doing ",
    "today", "the quick", "brown fox", "jumps", "over", "the lazy", "dog"};
const std::vector<std::string_view> kAbsent = {"NOT_EXISTS", "b", "c", "d"};

class ParquetTest : public BackendTest {
 protected:
  SplitBlockBloomFilter Build(const std::vector<std::string_view>& keys) const {
    SplitBlockBloomFilter filter(
        {.bytes = kBytes, .hash = {HashKind::kXxh64, 0}, .backend = &backend()});
    filter.Insert(keys);
    return filter;
  }
};

int BitsSet(const Filter& filter) {
  int bits = 0;
  for (const std::byte byte : filter.payload()) bits += std::popcount(static_cast<uint8_t>(byte));
  return bits;
}

// The bytes of a filter in a file, after its header in Thrift's compact encoding: 0x15 for the
// size, a zigzag varint, then the structs that say split block, xxHash, uncompressed.
std::optional<Bytes> ReadFilter(const std::filesystem::path& path, size_t offset) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const Bytes file = ReadBytes(path);
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(file.at(i)); };
  EXPECT_EQ(byte(offset++), 0x15);
  size_t zigzag = 0;
  for (int shift = 0;; shift += 7) {
    zigzag |= size_t{byte(offset) & 0x7Fu} << shift;
    if (byte(offset++) < 0x80) break;
  }
  EXPECT_EQ(zigzag, 2 * kBytes);
  for (const int want : {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0}) {
    EXPECT_EQ(byte(offset++), want);
  }
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(offset);
  return Bytes(begin, begin + kBytes);
}

void ExpectPayload(const Filter& filter, const Bytes& want) {
  ASSERT_EQ(filter.bytes(), want.size());
  EXPECT_EQ(std::memcmp(filter.payload().data(), want.data(), want.size()), 0);
}

std::filesystem::path Vectors() { return std::filesystem::path(TAMIS_SHARED_DIR) / "vectors"; }

TEST_P(ParquetTest, WordsGiveTheBytesOfTheVector) {
  const auto path = Vectors() / "bloom_filter.xxhash.bin";
  const std::optional<Bytes> want = ReadFilter(path, 0);
  if (!want) GTEST_SKIP() << path << " is not there";
  EXPECT_EQ(std::filesystem::file_size(path), 16 + kBytes);
  ExpectPayload(Build(kWords), *want);
}

TEST_P(ParquetTest, AColumnGivesTheFilterOfItsFile) {
  const auto path = Vectors() / "data_index_bloom_encoding_stats.parquet";
  const std::optional<Bytes> want = ReadFilter(path, 192);
  if (!want) GTEST_SKIP() << path << " is not there";
  ExpectPayload(Build(kColumn), *want);
}

// Known of both vectors, and checked without them.
TEST_P(ParquetTest, WordsSetTheKnownBlocks) {
  const SplitBlockBloomFilter filter = Build(kWords);
  EXPECT_EQ(BitsSet(filter), 32);
  const std::span<const std::byte> payload = filter.payload();
  for (size_t block = 0; block < kBytes / 32; ++block) {
    const auto bytes = payload.subspan(32 * block, 32);
    const bool empty =
        std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; });
    EXPECT_EQ(!empty, block == 4 || block == 5 || block == 7 || block == 10) << "block " << block;
  }
  // In the order of the words.
  size_t i = 0;
  for (const uint64_t block : {4, 7, 10, 5}) {
    const uint64_t hash = HashBytes(kWords[i++], {HashKind::kXxh64, 0});
    EXPECT_EQ(split_block::BlockIndex(hash, kBytes / 32), block);
  }
}

TEST_P(ParquetTest, AColumnIsPresentAndOthersAreAbsent) {
  const SplitBlockBloomFilter filter = Build(kColumn);
  EXPECT_EQ(BitsSet(filter), 112);
  EXPECT_EQ(filter.Count(kColumn), kColumn.size());
  for (const std::string_view value : kColumn) EXPECT_TRUE(filter.Contains(value)) << value;
  EXPECT_EQ(filter.Count(kAbsent), 0u);
  for (const std::string_view value : kAbsent) EXPECT_FALSE(filter.Contains(value)) << value;
}

INSTANTIATE_TEST_SUITE_P(Backends, ParquetTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace
}  // namespace tamis
