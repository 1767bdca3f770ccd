// Guava's bytes: golden files that Guava wrote, and damaged files.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/guava.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/guava_test_keys.h"
#include "tests/test_util.h"

namespace tamis::guava_file_test {

Bytes GuavaGolden(const std::string& name) {
  return ReadBytes(std::filesystem::path(TAMIS_GOLDEN_DIR) / "guava" / (name + ".guava"));
}

std::span<const std::byte> AsBytes(const Bytes& bytes) { return std::as_bytes(std::span(bytes)); }

Bytes Written(const GuavaBloomFilter& filter) {
  const std::vector<std::byte> bytes = filter.ToBytes();
  EXPECT_EQ(bytes.size(), filter.serialized_bytes());
  Bytes chars(bytes.size());
  std::memcpy(chars.data(), bytes.data(), bytes.size());
  return chars;
}

// The recipe of a golden file: keys [0, inserted), in a filter for this many.
struct Recipe {
  std::string name;
  GuavaFunnel funnel;
  size_t inserted;
  GuavaOptions options;
};

std::vector<Recipe> Recipes() {
  std::vector<Recipe> recipes;
  for (const GuavaFunnel funnel : kGuavaFunnels) {
    for (const GuavaStrategy strategy : kGuavaStrategies) {
      recipes.push_back(
          {GuavaTestName(funnel, strategy), funnel, 40, {.capacity = 40, .strategy = strategy}});
    }
  }
  recipes.push_back({"long_empty", GuavaFunnel::kLong, 0, {.capacity = 1}});
  recipes.push_back({"long_100_hashes", GuavaFunnel::kLong, 10, {.capacity = 10, .fpr = 1e-30}});
  recipes.push_back({"long_full", GuavaFunnel::kLong, 200, {.capacity = 10}});
  return recipes;
}

TEST(GuavaGoldenTest, EachIsReproduced) {
  for (const Recipe& recipe : Recipes()) {
    SCOPED_TRACE(recipe.name);
    const GuavaTestKeys keys(recipe.funnel, recipe.inserted);
    GuavaBloomFilter bulk(recipe.funnel, recipe.options);
    bulk.Insert(keys.keys());
    EXPECT_EQ(Written(bulk), GuavaGolden(recipe.name));
    GuavaBloomFilter single(recipe.funnel, recipe.options);
    for (size_t i = 0; i < recipe.inserted; ++i) {
      keys.Visit1(i, [&](auto key) { return single.Insert(key); });
    }
    EXPECT_EQ(Written(single), GuavaGolden(recipe.name));
  }
}

TEST(GuavaGoldenTest, EachIsRead) {
  const TemporaryFolder folder;
  for (const Recipe& recipe : Recipes()) {
    SCOPED_TRACE(recipe.name);
    const Bytes golden = GuavaGolden(recipe.name);
    const auto filter = GuavaBloomFilter::FromBytes(AsBytes(golden), recipe.funnel);
    EXPECT_EQ(filter.strategy(), recipe.options.strategy);
    EXPECT_EQ(filter.funnel(), recipe.funnel);
    EXPECT_EQ(filter.Count(GuavaTestKeys(recipe.funnel, recipe.inserted).keys()), recipe.inserted);
    const std::filesystem::path path = folder.path() / recipe.name;
    filter.Save(path);
    EXPECT_EQ(ReadBytes(path), golden);
    EXPECT_EQ(Written(GuavaBloomFilter::Load(path, recipe.funnel)), golden);
  }
}

// A filter that is read in several pieces, the last of which is short.
TEST(GuavaFileTest, LargeOnesAreReadAgain) {
  const TemporaryFolder folder;
  GuavaBloomFilter filter(GuavaFunnel::kLong, {.capacity = 500000});
  ASSERT_GT(filter.words().size(), 3u << 14);
  filter.Insert(RandomKeys(500000, 1));
  const std::filesystem::path path = folder.path() / "large";
  filter.Save(path);
  const Bytes bytes = Written(filter);
  EXPECT_EQ(ReadBytes(path), bytes);
  EXPECT_EQ(Written(GuavaBloomFilter::Load(path, GuavaFunnel::kLong)), bytes);
  const auto again = GuavaBloomFilter::FromBytes(AsBytes(bytes), GuavaFunnel::kLong);
  EXPECT_TRUE(std::ranges::equal(again.words(), filter.words()));
}

void ExpectRefused(const Bytes& bytes, const std::string& check, uint64_t at,
                   ErrorCode code = ErrorCode::kCorrupt) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "damaged";
  WriteBytes(path, bytes);
  for (const bool in_file : {false, true}) {
    try {
      if (in_file) {
        GuavaBloomFilter::Load(path, GuavaFunnel::kLong);
      } else {
        GuavaBloomFilter::FromBytes(AsBytes(bytes), GuavaFunnel::kLong);
      }
      ADD_FAILURE() << "accepted: " << check;
    } catch (const FormatError& error) {
      EXPECT_EQ(error.check(), check) << error.what();
      EXPECT_EQ(error.offset(), at) << error.what();
      EXPECT_EQ(error.code(), code) << error.what();
      const std::string name = in_file ? path.string() : "memory";
      EXPECT_EQ(std::string(error.what()).rfind(name, 0), 0u) << error.what();
    }
  }
}

TEST(GuavaFileTest, DamagedOnes) {
  const Bytes golden = GuavaGolden("long_mitz64");
  const auto with = [&](size_t at, std::vector<int> values) {
    Bytes bytes = golden;
    for (const int value : values) bytes[at++] = static_cast<char>(value);
    return bytes;
  };
  for (size_t n = 0; n < golden.size(); ++n) {
    ExpectRefused(Bytes(golden.begin(), golden.begin() + static_cast<std::ptrdiff_t>(n)),
                  "file length", n);
  }
  Bytes longer = golden;
  longer.push_back(0);
  ExpectRefused(longer, "file length", golden.size());
  for (const int strategy : {2, 127, 128, 255}) {
    ExpectRefused(with(0, {strategy}), "strategy", 0, ErrorCode::kUnsupported);
  }
  ExpectRefused(with(1, {0}), "hashes", 1);
  ExpectRefused(with(2, {0, 0, 0, 0}), "words", 2);
  ExpectRefused(with(2, {0x80, 0, 0, 0}), "words", 2);
  ExpectRefused(with(2, {0xFF, 0xFF, 0xFF, 0xFF}), "words", 2);
  // Refused before 16 GiB are allocated.
  ExpectRefused(with(2, {0x7F, 0xFF, 0xFF, 0xFF}), "file length", golden.size());
  ExpectRefused(with(2, {0, 0, 0, 4}), "file length", golden.size() - 8);
}

TEST(GuavaFileTest, FilesThatCannotBeRead) {
  const TemporaryFolder folder;
  for (const auto& path : {folder.path() / "none", folder.path()}) {
    try {
      GuavaBloomFilter::Load(path, GuavaFunnel::kLong);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo) << error.what();
    }
  }
}

Bytes Mutated(Bytes bytes, Random& random) {
  for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
    const size_t at = random.Below(bytes.size() + 1);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random.Below(5)) {
      case 0:  // mostly in the header
        if (!bytes.empty())
          bytes[random.Below(std::min<size_t>(6, bytes.size()))] = static_cast<char>(random());
        break;
      case 1:
        if (at < bytes.size()) *place = static_cast<char>(*place ^ (1 << random.Below(8)));
        break;
      case 2:
        bytes.erase(place, bytes.end());
        break;
      case 3:
        bytes.insert(place, random.Below(17), static_cast<char>(random()));
        break;
      default:  // more or fewer whole words, with a matching count
        if (bytes.size() < 14) break;
        bytes.resize(6 + 8 * (1 + random.Below(12)), static_cast<char>(random()));
        bytes[2] = bytes[3] = bytes[4] = 0;
        bytes[5] = static_cast<char>((bytes.size() - 6) / 8);
    }
  }
  return bytes;
}

class GuavaMutationTest : public testing::TestWithParam<Recipe> {};

// Tests kMutations of each golden file.
TEST_P(GuavaMutationTest, IsAnErrorOrAFilter) {
  const Bytes golden = GuavaGolden(GetParam().name);
  const GuavaFunnel funnel = GetParam().funnel;
  const GuavaTestKeys asked(funnel, 70);
  size_t accepted = 0, refused = 0;
  Random random(11);
  for (size_t i = 0; i < kMutations; ++i) {
    const Bytes bytes = Mutated(golden, random);
    try {
      auto filter = GuavaBloomFilter::FromBytes(AsBytes(bytes), funnel);
      ++accepted;
      ASSERT_EQ(Written(filter), bytes);
      ASSERT_LE(filter.Count(asked.keys()), 70u);
      filter.Insert(asked.keys());
      ASSERT_EQ(filter.Count(asked.keys()), 70u);
    } catch (const FormatError& error) {
      ++refused;
      ASSERT_LE(error.offset(), bytes.size()) << error.what();
    }
  }
  EXPECT_GT(accepted, kMutations / 5);
  EXPECT_GT(refused, kMutations / 5);
}

INSTANTIATE_TEST_SUITE_P(Golden, GuavaMutationTest, testing::ValuesIn(Recipes()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace tamis::guava_file_test
