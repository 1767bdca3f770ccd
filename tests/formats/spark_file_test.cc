// Spark's bytes: golden files that Spark wrote, and damaged files.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/foreign_filter.h"
#include "tamis/formats/spark.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/spark_test_keys.h"
#include "tests/test_util.h"

namespace tamis::spark_file_test {

Bytes SparkGolden(const std::string& name) {
  return ReadBytes(std::filesystem::path(TAMIS_GOLDEN_DIR) / "spark" / (name + ".spark"));
}

std::span<const std::byte> AsBytes(const Bytes& bytes) { return std::as_bytes(std::span(bytes)); }

Bytes Written(const SparkBloomFilter& filter) {
  const std::vector<std::byte> bytes = filter.ToBytes();
  EXPECT_EQ(bytes.size(), filter.serialized_bytes());
  Bytes chars(bytes.size());
  std::memcpy(chars.data(), bytes.data(), bytes.size());
  return chars;
}

// The recipe of a golden file: keys [0, inserted) of each sort, in a filter for this many.
struct Recipe {
  std::string name;
  std::vector<SparkSort> sorts;
  size_t inserted;
  SparkOptions options;
};

std::vector<Recipe> Recipes() {
  std::vector<Recipe> recipes;
  for (const SparkVariant& variant : kSparkVariants) {
    SparkOptions options = {.capacity = 40, .version = variant.version, .seed = variant.seed};
    const auto add = [&](const std::string& name, std::vector<SparkSort> sorts, size_t inserted) {
      recipes.push_back({name, std::move(sorts), inserted, options});
    };
    for (const SparkSort& sort : kSparkSorts) add(SparkTestName(sort.name, variant), {sort}, 40);
    options.capacity = 160;
    add(SparkTestName("mixed", variant), {std::begin(kSparkSorts), std::end(kSparkSorts)}, 40);
    if (variant.seed != 0) continue;
    const std::string name = SparkTestName("long", variant);
    options.capacity = 10;
    add(name + "_full", {kSparkSorts[0]}, 200);
    options.fpr = 1e-30;
    add(name + "_100_hashes", {kSparkSorts[0]}, 10);
    options.fpr = 0.03;
    options.capacity = 1;
    add(name + "_empty", {kSparkSorts[0]}, 0);
  }
  return recipes;
}

TEST(SparkGoldenTest, EachIsReproduced) {
  for (const Recipe& recipe : Recipes()) {
    SCOPED_TRACE(recipe.name);
    SparkBloomFilter bulk(recipe.options);
    SparkBloomFilter single(recipe.options);
    for (const SparkSort& sort : recipe.sorts) {
      const GuavaTestKeys keys = sort.MakeKeys(recipe.inserted);
      bulk.Insert(keys.keys());
      for (size_t i = 0; i < recipe.inserted; ++i) {
        keys.Visit1(i, [&](auto key) { return single.Insert(key); });
      }
    }
    EXPECT_EQ(Written(bulk), SparkGolden(recipe.name));
    EXPECT_EQ(Written(single), SparkGolden(recipe.name));
  }
}

TEST(SparkGoldenTest, EachIsRead) {
  const TemporaryFolder folder;
  for (const Recipe& recipe : Recipes()) {
    SCOPED_TRACE(recipe.name);
    const Bytes golden = SparkGolden(recipe.name);
    const auto filter = SparkBloomFilter::FromBytes(AsBytes(golden));
    EXPECT_EQ(filter.version(), recipe.options.version);
    EXPECT_EQ(filter.seed(), recipe.options.seed);
    for (const SparkSort& sort : recipe.sorts) {
      EXPECT_EQ(filter.Count(sort.MakeKeys(recipe.inserted).keys()), recipe.inserted);
    }
    const std::filesystem::path path = folder.path() / recipe.name;
    filter.Save(path);
    EXPECT_EQ(ReadBytes(path), golden);
    EXPECT_EQ(Written(SparkBloomFilter::Load(path)), golden);
  }
}

// A file that is opened by the name of a format has keys of one sort.
TEST(SparkGoldenTest, EachIsAForeignFilter) {
  for (const SparkVariant& variant : kSparkVariants) {
    const Bytes golden = SparkGolden(SparkTestName("mixed", variant));
    const std::vector<uint64_t> longs = kSparkSorts[0].MakeKeys(40).longs;
    const std::vector<std::string> strings = kSparkSorts[2].MakeKeys(40).strings;
    for (const bool integers : {false, true}) {
      const Keys known = integers ? Keys(longs) : Keys(strings);
      const Keys wrong = integers ? Keys(strings) : Keys(longs);
      auto filter =
          ForeignFilter::FromBytes(AsBytes(golden), integers ? "spark:long" : "spark:string");
      EXPECT_EQ(filter.Count(known), 40u);
      std::vector<uint64_t> out(40);
      EXPECT_EQ(filter.Select(known, out), 40u);
      const auto refused = [](const auto& call) {
        try {
          call();
          ADD_FAILURE() << "accepted";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
        }
      };
      refused([&] { filter.Count(wrong); });
      refused([&] { filter.Contains(wrong, Bitmap(out)); });
      refused([&] { filter.Select(wrong, out); });
      refused([&] { filter.Insert(wrong); });
      refused([&] { filter.Insert(Hashes{longs}); });
      EXPECT_EQ(filter.Count(std::vector<uint64_t>()), 0u);
      filter.Insert(known);
      const std::vector<std::byte> bytes = filter.ToBytes();
      EXPECT_TRUE(std::ranges::equal(bytes, AsBytes(golden)));
    }
  }
}

// A filter that is read in several pieces, the last of which is short.
TEST(SparkFileTest, LargeOnesAreReadAgain) {
  const TemporaryFolder folder;
  for (const SparkVariant& variant : kSparkVariants) {
    SparkBloomFilter filter({.capacity = 500000, .version = variant.version, .seed = variant.seed});
    ASSERT_GT(filter.words().size(), 3u << 14);
    filter.Insert(RandomKeys(500000, 1));
    const std::filesystem::path path = folder.path() / variant.name;
    filter.Save(path);
    const Bytes bytes = Written(filter);
    EXPECT_EQ(ReadBytes(path), bytes);
    EXPECT_EQ(Written(SparkBloomFilter::Load(path)), bytes);
    const auto again = SparkBloomFilter::FromBytes(AsBytes(bytes));
    EXPECT_TRUE(std::ranges::equal(again.words(), filter.words()));
  }
}

void ExpectRefused(const Bytes& bytes, const std::string& check, uint64_t at,
                   ErrorCode code = ErrorCode::kCorrupt) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "damaged";
  WriteBytes(path, bytes);
  for (const bool in_file : {false, true}) {
    try {
      if (in_file) {
        SparkBloomFilter::Load(path);
      } else {
        SparkBloomFilter::FromBytes(AsBytes(bytes));
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

Bytes With(Bytes bytes, size_t at, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes[at++] = static_cast<char>(value >> shift);
  return bytes;
}

TEST(SparkFileTest, DamagedOnes) {
  for (const char* const name : {"long_v1", "long_v2"}) {
    const Bytes golden = SparkGolden(name);
    const size_t words_at = name == std::string("long_v1") ? 8 : 12;
    ASSERT_EQ(golden.size(), words_at + 4 + 8 * 5);
    for (size_t n = 0; n < golden.size(); ++n) {
      ExpectRefused(Bytes(golden.begin(), golden.begin() + static_cast<std::ptrdiff_t>(n)),
                    "file length", n);
    }
    Bytes longer = golden;
    longer.push_back(0);
    ExpectRefused(longer, "file length", golden.size());
    for (const uint32_t version : {0u, 3u, 0x0100'0000u, 0xFFFF'FFFFu, 0x8000'0001u}) {
      ExpectRefused(With(golden, 0, version), "version", 0, ErrorCode::kUnsupported);
    }
    // 320 ln 2 = 221.8
    for (const uint32_t hashes : {0u, 223u, 0x7FFF'FFFFu, 0x8000'0000u, 0xFFFF'FFFFu}) {
      ExpectRefused(With(golden, 4, hashes), "hashes", 4);
    }
    const Bytes most = With(golden, 4, 222);
    EXPECT_EQ(SparkBloomFilter::FromBytes(AsBytes(most)).num_hashes(), 222u);
    for (const uint32_t words : {0u, 0x8000'0000u, 0xFFFF'FFFFu}) {
      ExpectRefused(With(golden, words_at, words), "words", words_at);
    }
    // Refused before 16 GiB are allocated.
    ExpectRefused(With(golden, words_at, 0x7FFF'FFFF), "file length", golden.size());
    ExpectRefused(With(golden, words_at, 4), "file length", golden.size() - 8);
  }
}

TEST(SparkFileTest, FilesThatCannotBeRead) {
  const TemporaryFolder folder;
  for (const auto& path : {folder.path() / "none", folder.path()}) {
    try {
      SparkBloomFilter::Load(path);
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
    switch (random.Below(6)) {
      case 0:  // mostly in the header
        if (!bytes.empty()) {
          bytes[random.Below(std::min<size_t>(16, bytes.size()))] = static_cast<char>(random());
        }
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
      case 4:  // another number of hashes, and another seed
        if (bytes.size() < 16) break;
        bytes = With(bytes, 4, static_cast<uint32_t>(random.Below(60)));
        if (bytes[3] == 2) bytes = With(bytes, 8, static_cast<uint32_t>(random()));
        break;
      default: {  // more or fewer whole words, with a matching count
        if (bytes.size() < 16) break;
        const size_t header = bytes[3] == 1 ? 12 : 16;
        const auto words = static_cast<uint32_t>(1 + random.Below(12));
        bytes.resize(header + 8 * words, static_cast<char>(random()));
        bytes = With(bytes, header - 4, words);
      }
    }
  }
  return bytes;
}

class SparkMutationTest : public testing::TestWithParam<Recipe> {};

// Tests kMutations of each golden file.
TEST_P(SparkMutationTest, IsAnErrorOrAFilter) {
  const Bytes golden = SparkGolden(GetParam().name);
  const GuavaTestKeys longs = kSparkSorts[0].MakeKeys(20);
  const GuavaTestKeys strings = kSparkSorts[2].MakeKeys(20);
  size_t accepted = 0, refused = 0;
  Random random(11);
  for (size_t i = 0; i < kMutations; ++i) {
    const Bytes bytes = Mutated(golden, random);
    try {
      auto filter = SparkBloomFilter::FromBytes(AsBytes(bytes));
      ++accepted;
      ASSERT_EQ(Written(filter), bytes);
      const Keys asked = i % 2 == 0 ? longs.keys() : strings.keys();
      ASSERT_LE(filter.Count(asked), 20u);
      filter.Insert(asked);
      ASSERT_EQ(filter.Count(asked), 20u);
    } catch (const FormatError& error) {
      ++refused;
      ASSERT_LE(error.offset(), bytes.size()) << error.what();
    }
  }
  EXPECT_GT(accepted, kMutations / 5);
  EXPECT_GT(refused, kMutations / 5);
}

INSTANTIATE_TEST_SUITE_P(Golden, SparkMutationTest, testing::ValuesIn(Recipes()),
                         [](const auto& test) { return test.param.name; });

}  // namespace tamis::spark_file_test
