// The split-block files in tests/golden: each is what the library writes for its recipe
// (tests/golden/README.md), byte by byte and with every backend, and can be opened in every way.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/any_filter.h"
#include "tamis/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/golden_keys.h"

namespace tamis {
namespace {

struct Recipe {
  const char* name;
  uint64_t blocks;
  HashSpec hash;
  std::vector<uint64_t> integers;
  std::vector<std::string> strings;
  uint64_t capacity;

  uint64_t num_keys() const { return integers.size() + strings.size(); }
};

void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }

constexpr HashKind kXxh3 = HashKind::kXxh3;
constexpr HashKind kXxh64 = HashKind::kXxh64;

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> recipes = {
      {"split_block_v1_empty", 2, {kXxh3, 0}, {}, {}, 1},
      {"split_block_v1_one_block", 1, {kXxh3, 0}, Integers(10), {}, 10},
      {"split_block_v1_odd_blocks", 333, {kXxh3, 0}, Integers(5000), {}, 5000},
      {"split_block_v1_seeded", 100, {kXxh3, 0x0123456789ABCDEF}, Integers(1000), {}, 2000},
      {"split_block_v1_strings", 64, {kXxh3, 7}, {}, Strings(300), 300},
      {"split_block_v1_xxh64_seeded", 50, {kXxh64, ~uint64_t{0}}, Integers(500), {}, 500},
      {"split_block_v1_xxh64_strings", 41, {kXxh64, 42}, {}, Strings(300), 300},
      {"split_block_v1_parquet", 32, {kXxh64, 0}, {}, {"hello", "parquet", "bloom", "filter"}, 4},
  };
  return recipes;
}

class GoldenTest : public testing::TestWithParam<Recipe> {
 protected:
  const Recipe& recipe() const { return GetParam(); }
  std::filesystem::path path() const { return GoldenPath(recipe().name); }

  SplitBlockBloomFilter Build(const Backend& backend) const {
    SplitBlockBloomFilter filter({.capacity = recipe().capacity,
                                  .bytes = recipe().blocks * split_block::kBlockBytes,
                                  .hash = recipe().hash,
                                  .backend = &backend});
    filter.Insert(recipe().integers);
    filter.Insert(std::vector<std::string_view>(recipe().strings.begin(), recipe().strings.end()));
    return filter;
  }

  void ExpectHeader(const FileHeader& header) const {
    EXPECT_EQ(header.version, 1u);
    EXPECT_EQ(header.kind, FilterKind::kSplitBlock);
    EXPECT_EQ(header.hash, recipe().hash);
    EXPECT_EQ(header.geometry, (std::array<uint64_t, 3>{recipe().blocks, 0, 0}));
    EXPECT_EQ(header.capacity, recipe().capacity);
    EXPECT_EQ(header.inserted, recipe().num_keys());
    EXPECT_EQ(header.payload_bytes, 32 * recipe().blocks);
  }

  void ExpectFilter(const Filter& filter, bool read_only) const {
    ExpectHeader(filter.Header());
    EXPECT_EQ(filter.read_only(), read_only);
    const Bytes file = ReadBytes(path());
    ASSERT_EQ(filter.bytes() + detail::kHeaderBytes, file.size());
    EXPECT_EQ(
        std::memcmp(filter.payload().data(), file.data() + detail::kHeaderBytes, filter.bytes()),
        0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(filter.payload().data()) % 64, 0u);
    EXPECT_EQ(filter.Count(recipe().integers), recipe().integers.size());
    const std::vector<std::string_view> strings(recipe().strings.begin(), recipe().strings.end());
    EXPECT_EQ(filter.Count(strings), strings.size());
  }
};

TEST_P(GoldenTest, IsWhatEveryBackendWrites) {
  const TemporaryFolder folder;
  const Bytes golden = ReadBytes(path());
  for (const Backend& backend : Backends()) {
    const auto file = folder / std::string(backend.name);
    Build(backend).Save(file);
    EXPECT_EQ(ReadBytes(file), golden) << backend.name;
  }
}

TEST_P(GoldenTest, OpensInEveryWay) {
  ExpectHeader(ReadHeader(path()));
  ExpectHeader(VerifyFile(path()));
  ExpectFilter(SplitBlockBloomFilter::Load(path()), false);
  ExpectFilter(SplitBlockBloomFilter::Map(path()), true);
  ExpectFilter(SplitBlockBloomFilter::Map(path(), {.verify = Verify::kFull}), true);
  ExpectFilter(*Open(path()), false);
  ExpectFilter(*OpenMapped(path()), true);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, testing::ValuesIn(Recipes()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(GoldenFilesTest, HaveARecipeEach) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TAMIS_GOLDEN_DIR)) {
    if (entry.path().extension() != ".tamis") continue;
    if (ReadHeader(entry.path()).kind != FilterKind::kSplitBlock) continue;
    ++files;
    EXPECT_TRUE(std::any_of(Recipes().begin(), Recipes().end(), [&](const Recipe& recipe) {
      return entry.path().stem() == recipe.name;
    })) << entry.path();
  }
  EXPECT_EQ(files, Recipes().size());
}

}  // namespace
}  // namespace tamis
