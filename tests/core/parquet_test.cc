// Split-block filters by XXH64 equal the filters in Parquet files bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/backends.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::parquet_test {

namespace fs = std::filesystem;

constexpr uint64_t kBytes = 1024;

// The keys in bloom_filter.xxhash.bin of the Parquet project, and the XXH3 of its bits.
const std::vector<std::string> kWords = {"hello", "parquet", "bloom", "filter"};
constexpr uint64_t kDigestOfWords = 0xB92A1C7DF53D7354;

// The column in data_index_bloom_encoding_stats.parquet of that project, the XXH3 of its bits, and
// the keys that its own tests expect to be absent.
const std::vector<std::string> kColumn = {
    "Hello", "This is",   "a",         "test",  "How",  "are you",  "doing ",
    "today", "the quick", "brown fox", "jumps", "over", "the lazy", "dog"};
constexpr uint64_t kDigestOfColumn = 0xD87F7718D6169373;
const std::vector<std::string> kAbsent = {"NOT_EXISTS", "b", "c", "d"};

// The bits of a filter in a file, and the distinct values of its column.
struct StoredFilter {
  fs::path file;
  size_t offset = 0;
  size_t bytes = 0;
  std::vector<uint64_t> integers = {};
  std::vector<std::string> strings = {};
};

// Returns the filters of NAME.parquet in tests/parquet, whose README.md describes NAME.txt.
std::vector<StoredFilter> FiltersOf(const std::string& name) {
  const fs::path folder = TAMIS_PARQUET_DIR;
  StoredFilter id = {.file = folder / (name + ".parquet")};
  StoredFilter word = id;
  std::ifstream text(folder / (name + ".txt"));
  std::string column;
  text >> column >> id.offset >> id.bytes >> column >> word.offset >> word.bytes;
  int64_t value = 0;
  while (text >> value) {
    id.integers.push_back(static_cast<uint64_t>(value));
    text.ignore(1);
    std::getline(text, word.strings.emplace_back());
  }
  EXPECT_EQ(word.strings.size(), 100u) << name;
  return {id, word};
}

std::vector<StoredFilter> StoredFilters() {
  std::vector<StoredFilter> all;
  for (const char* name : {"duckdb", "pyarrow"}) {
    for (StoredFilter& filter : FiltersOf(name)) all.push_back(std::move(filter));
  }
  return all;
}

class ParquetTest : public BackendTest {
 protected:
  SplitBlockBloomFilter MakeFilter(uint64_t bytes) const {
    return SplitBlockBloomFilter(
        {.bytes = bytes, .hash = {HashKind::kXxh64, 0}, .backend = &backend()});
  }
  SplitBlockBloomFilter Build(const std::vector<std::string>& keys) const {
    SplitBlockBloomFilter filter = MakeFilter(kBytes);
    filter.Insert(Views(keys));
    return filter;
  }

  static std::vector<std::string_view> Views(const std::vector<std::string>& strings) {
    return {strings.begin(), strings.end()};
  }
};

int BitsSet(const Filter& filter) {
  int bits = 0;
  for (const std::byte byte : filter.payload()) bits += std::popcount(static_cast<uint8_t>(byte));
  return bits;
}

uint64_t DigestOf(const Filter& filter) {
  const std::span<const std::byte> bits = filter.payload();
  return HashBytes({reinterpret_cast<const char*>(bits.data()), bits.size()});
}

TEST_P(ParquetTest, ColumnsGiveTheFiltersOfTheirFiles) {
  for (const StoredFilter& stored : StoredFilters()) {
    SplitBlockBloomFilter filter = MakeFilter(stored.bytes);
    filter.Insert(stored.integers);
    filter.Insert(Views(stored.strings));
    EXPECT_GT(BitsSet(filter), 0) << stored.file;
    const Bytes file = ReadBytes(stored.file);
    ASSERT_LE(stored.offset + stored.bytes, file.size()) << stored.file;
    ASSERT_EQ(filter.bytes(), stored.bytes) << stored.file;
    EXPECT_EQ(std::memcmp(filter.payload().data(), file.data() + stored.offset, stored.bytes), 0)
        << stored.file << " at " << stored.offset;
  }
}

TEST_P(ParquetTest, WordsSetTheKnownBlocks) {
  const SplitBlockBloomFilter filter = Build(kWords);
  EXPECT_EQ(BitsSet(filter), 32);
  EXPECT_EQ(DigestOf(filter), kDigestOfWords);
  const std::span<const std::byte> payload = filter.payload();
  for (size_t block = 0; block < kBytes / 32; ++block) {
    const auto bytes = payload.subspan(32 * block, 32);
    const bool empty =
        std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; });
    EXPECT_EQ(!empty, block == 4 || block == 5 || block == 7 || block == 10) << "block " << block;
  }
  // The blocks are in the order of the words.
  size_t i = 0;
  for (const uint64_t block : {4, 7, 10, 5}) {
    const uint64_t hash = HashBytes(kWords[i++], {HashKind::kXxh64, 0});
    EXPECT_EQ(split_block::BlockIndex(hash, kBytes / 32), block);
  }
}

TEST_P(ParquetTest, AColumnIsPresentAndOthersAreAbsent) {
  const SplitBlockBloomFilter filter = Build(kColumn);
  EXPECT_EQ(BitsSet(filter), 112);
  EXPECT_EQ(DigestOf(filter), kDigestOfColumn);
  EXPECT_EQ(filter.Count(Views(kColumn)), kColumn.size());
  for (const std::string& value : kColumn) EXPECT_TRUE(filter.Contains(value)) << value;
  EXPECT_EQ(filter.Count(Views(kAbsent)), 0u);
  for (const std::string& value : kAbsent) EXPECT_FALSE(filter.Contains(value)) << value;
}

INSTANTIATE_TEST_SUITE_P(Backends, ParquetTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::parquet_test
