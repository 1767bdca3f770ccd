// Kudu's bytes: golden files and damaged files.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/kudu.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/kudu_test_keys.h"
#include "tests/test_util.h"

namespace tamis::kudu_file_test {

Bytes KuduGolden(const std::string& name) {
  return ReadBytes(std::filesystem::path(TAMIS_GOLDEN_DIR) / "kudu" / (name + ".kudu"));
}

std::span<const std::byte> AsBytes(const Bytes& bytes) { return std::as_bytes(std::span(bytes)); }

Bytes Written(const KuduBlockBloomFilter& filter) {
  const std::vector<std::byte> bytes = filter.ToBytes();
  EXPECT_EQ(bytes.size(), filter.serialized_bytes());
  Bytes chars(bytes.size());
  std::memcpy(chars.data(), bytes.data(), bytes.size());
  return chars;
}

// The recipe of a golden file: keys [0, inserted).
struct Recipe {
  std::string name;
  KuduType type;
  uint32_t log_space_bytes;
  uint32_t seed;
  size_t inserted;
};

std::vector<Recipe> Recipes() {
  std::vector<Recipe> recipes;
  for (const KuduType type : kKuduTypes) recipes.push_back({KuduTypeName(type), type, 7, 0, 20});
  recipes.push_back({"int64_empty", KuduType::kInt64, 6, 0, 0});
  recipes.push_back({"int64_seeded", KuduType::kInt64, 6, 0xDEADBEEF, 10});
  recipes.push_back({"int64_full", KuduType::kInt64, 6, 1, 2000});
  recipes.push_back({"bytes_large", KuduType::kBytes, 13, 7, 500});
  return recipes;
}

TEST(KuduGoldenTest, EachIsReproduced) {
  for (const Recipe& recipe : Recipes()) {
    SCOPED_TRACE(recipe.name);
    const KuduTestKeys keys(recipe.type, recipe.inserted);
    const KuduOptions options = {.log_space_bytes = recipe.log_space_bytes,
                                 .hash_seed = recipe.seed};
    KuduBlockBloomFilter bulk(recipe.type, options);
    bulk.Insert(keys.keys());
    EXPECT_EQ(Written(bulk), KuduGolden(recipe.name));
    KuduBlockBloomFilter single(recipe.type, options);
    for (size_t i = 0; i < recipe.inserted; ++i) {
      keys.Visit1(i, [&](auto key) { return single.Insert(key); });
    }
    EXPECT_EQ(Written(single), KuduGolden(recipe.name));
  }
}

TEST(KuduGoldenTest, EachIsRead) {
  const TemporaryFolder folder;
  for (const Recipe& recipe : Recipes()) {
    SCOPED_TRACE(recipe.name);
    const Bytes golden = KuduGolden(recipe.name);
    const auto filter = KuduBlockBloomFilter::FromBytes(AsBytes(golden), recipe.type);
    EXPECT_EQ(filter.type(), recipe.type);
    EXPECT_EQ(filter.log_space_bytes(), recipe.log_space_bytes);
    EXPECT_EQ(filter.hash_seed(), recipe.seed);
    EXPECT_EQ(filter.always_false(), recipe.inserted == 0);
    EXPECT_EQ(filter.Count(KuduTestKeys(recipe.type, recipe.inserted).keys()), recipe.inserted);
    const std::filesystem::path path = folder.path() / recipe.name;
    filter.Save(path);
    EXPECT_EQ(ReadBytes(path), golden);
    EXPECT_EQ(Written(KuduBlockBloomFilter::Load(path, recipe.type)), golden);
  }
}

Bytes Joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// The fields of a golden file with 64 bytes of blocks.
struct Fields {
  Bytes log_space, data, always_false, hash_algorithm, hash_seed;

  Fields() {
    const Bytes all = KuduGolden("int64_seeded");
    const auto part = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      return Bytes(all.begin() + begin, all.begin() + end);
    };
    log_space = part(0, 2);
    data = part(2, 68);
    always_false = part(68, 70);
    hash_algorithm = part(70, 72);
    hash_seed = part(72, 78);
  }
  Bytes All() const { return Joined({log_space, data, always_false, hash_algorithm, hash_seed}); }
};

// Messages that protobuf allows.
TEST(KuduFileTest, FieldsAsProtobufHasThem) {
  const Fields fields;
  const Bytes golden = KuduGolden("int64_seeded");
  ASSERT_EQ(fields.All(), golden);
  const auto expect_same = [&](const Bytes& bytes) {
    const auto filter = KuduBlockBloomFilter::FromBytes(AsBytes(bytes), KuduType::kInt64);
    EXPECT_EQ(Written(filter), golden);
  };
  expect_same(Joined({fields.hash_seed, fields.hash_algorithm, fields.always_false, fields.data,
                      fields.log_space}));
  // The last of several occurrences counts.
  expect_same(Joined({{0x12, 2, 0, 0, 0x18, 1, 0x08, 3, 0x28, 1}, fields.All()}));
  // Unknown fields of every type, and known numbers with other types.
  const Bytes unknown = {0x30, 1, 0x39, 1, 2, 3,    4, 5, 6,    7, 8,    0x42, 3, 0, 0, 0,
                         0x4D, 1, 2,    3, 4, 0x0A, 1, 9, 0x10, 5, 0x1D, 0,    0, 0, 0};
  expect_same(Joined({unknown, fields.All(), unknown}));
  // Numbers in more bytes than necessary, and negative numbers in ten bytes.
  Fields other = fields;
  other.log_space = {0x08, static_cast<char>(0x86), static_cast<char>(0x80), 0};
  expect_same(other.All());
  other.log_space = Joined({{0x08}, Bytes(9, static_cast<char>(0xFF)), {1}});  // -1
  expect_same(other.All());
  other.log_space = {0x08, 0};
  expect_same(other.All());
  // An algorithm without a name is unknown.
  expect_same(Joined({fields.All(), {0x20, 4}}));
  // Without a seed field, the seed is 0.
  other = fields;
  other.hash_seed.clear();
  EXPECT_EQ(KuduBlockBloomFilter::FromBytes(AsBytes(other.All()), KuduType::kInt64).hash_seed(),
            0u);
}

TEST(KuduFileTest, AlwaysFalseIsHonoured) {
  Fields fields;
  fields.always_false = {0x18, 1};
  const KuduTestKeys keys(KuduType::kInt64, 10);
  auto filter = KuduBlockBloomFilter::FromBytes(AsBytes(fields.All()), KuduType::kInt64);
  EXPECT_TRUE(filter.always_false());
  EXPECT_EQ(filter.Count(keys.keys()), 0u);
  EXPECT_FALSE(filter.Contains(static_cast<uint64_t>(keys.integers[0])));
  EXPECT_EQ(filter.estimated_count(), 0);
  EXPECT_EQ(filter.expected_fpr(), 0);
  EXPECT_EQ(Written(filter), fields.All());
  // Merging it adds nothing.
  KuduBlockBloomFilter empty(KuduType::kInt64, {.log_space_bytes = 6, .hash_seed = 0xDEADBEEF});
  empty.Merge(filter);
  EXPECT_TRUE(empty.always_false());
  EXPECT_TRUE(std::ranges::all_of(empty.blocks(), [](std::byte b) { return b == std::byte{0}; }));
  // The first key clears always_false, and the blocks then count, as in Kudu.
  EXPECT_EQ(filter.Insert(std::vector<int64_t>{keys.integers[3]}), 1u);
  EXPECT_EQ(Written(filter), KuduGolden("int64_seeded"));
  EXPECT_EQ(filter.Count(keys.keys()), 10u);
  auto single = KuduBlockBloomFilter::FromBytes(AsBytes(fields.All()), KuduType::kInt64);
  EXPECT_TRUE(single.Insert(static_cast<uint64_t>(keys.integers[3])));
  EXPECT_EQ(Written(single), KuduGolden("int64_seeded"));
}

void ExpectRefused(const Bytes& bytes, const std::string& check, uint64_t at,
                   ErrorCode code = ErrorCode::kCorrupt) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "damaged";
  WriteBytes(path, bytes);
  for (const bool in_file : {false, true}) {
    try {
      if (in_file) {
        KuduBlockBloomFilter::Load(path, KuduType::kInt64);
      } else {
        KuduBlockBloomFilter::FromBytes(AsBytes(bytes), KuduType::kInt64);
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

TEST(KuduFileTest, DamagedOnes) {
  const Fields fields;
  const Bytes golden = fields.All();
  const auto first = [&](size_t n) {
    return Bytes(golden.begin(), golden.begin() + static_cast<std::ptrdiff_t>(n));
  };
  ExpectRefused({}, "log space", 0);
  ExpectRefused(first(1), "file length", 1);
  ExpectRefused(first(2), "bloom data", 2);
  for (size_t n = 3; n < 68; ++n) ExpectRefused(first(n), "file length", n);
  ExpectRefused(first(68), "always false", 68);
  ExpectRefused(first(70), "hash algorithm", 70);
  for (size_t n = 73; n < 78; ++n) ExpectRefused(first(n), "file length", n);
  const auto behind = [&](const Bytes& more, const std::string& check, uint64_t at) {
    ExpectRefused(Joined({golden, more}), check, at);
  };
  behind({0}, "field", 78);     // number 0
  behind({0x0B}, "field", 78);  // a group
  behind({0x0C}, "field", 78);  // its end
  behind({0x0F}, "field", 78);  // an undefined type
  behind(Bytes(11, static_cast<char>(0x80)), "field", 78);
  behind(Joined({{0x08}, Bytes(10, static_cast<char>(0x80)), {0}}), "field", 79);
  behind({static_cast<char>(0x80), static_cast<char>(0x80), static_cast<char>(0x80),
          static_cast<char>(0x80), 0x10},
         "field", 78);  // number 2^29
  behind({0x31, 0, 0, 0, 0, 0, 0, 0}, "file length", 86);
  behind({0x35, 0, 0, 0}, "file length", 82);
  behind(Joined({{0x32}, Bytes(9, static_cast<char>(0xFF)), {1}}), "file length", 89);
  Fields other = fields;
  other.log_space = {0x08, 31};
  ExpectRefused(other.All(), "log space", 0);
  other.log_space = {0x08, 30};  // refused before 1 GiB is allocated
  ExpectRefused(other.All(), "bloom data", 4);
  other = fields;
  other.log_space = {0x08, 7};
  ExpectRefused(other.All(), "bloom data", 4);
  other = fields;
  other.data = {0x12, 0};
  ExpectRefused(other.All(), "bloom data", 4);
  for (const int algorithm : {0, 1, 2}) {
    other = fields;
    other.hash_algorithm = {0x20, static_cast<char>(algorithm)};
    ExpectRefused(other.All(), "hash algorithm", 70, ErrorCode::kUnsupported);
  }
  other.hash_algorithm = {0x20, 4};
  ExpectRefused(other.All(), "hash algorithm", 78);
}

TEST(KuduFileTest, FilesThatCannotBeRead) {
  const TemporaryFolder folder;
  for (const auto& path : {folder.path() / "none", folder.path()}) {
    try {
      KuduBlockBloomFilter::Load(path, KuduType::kInt64);
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
      case 0:  // mostly before or after the blocks
        if (!bytes.empty()) {
          const size_t near = random.Below(std::min<size_t>(10, bytes.size()));
          bytes[random.Below(2) == 0 ? near : bytes.size() - 1 - near] =
              static_cast<char>(random());
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
      default: {  // one more field
        const Bytes field = {static_cast<char>(8 * random.Below(8)),
                             static_cast<char>(random.Below(128))};
        bytes.insert(random.Below(2) == 0 ? bytes.begin() : bytes.end(), field.begin(),
                     field.end());
      }
    }
  }
  return bytes;
}

class KuduMutationTest : public testing::TestWithParam<Recipe> {};

// Tests kMutations of each golden file.
TEST_P(KuduMutationTest, IsAnErrorOrAFilter) {
  const Bytes golden = KuduGolden(GetParam().name);
  const KuduType type = GetParam().type;
  const KuduTestKeys asked(type, 70);
  size_t accepted = 0, refused = 0;
  Random random(11);
  for (size_t i = 0; i < kMutations; ++i) {
    const Bytes bytes = Mutated(golden, random);
    try {
      auto filter = KuduBlockBloomFilter::FromBytes(AsBytes(bytes), type);
      ++accepted;
      // Unknown fields are dropped, and the order of fields is Kudu's.
      const Bytes written = Written(filter);
      ASSERT_EQ(Written(KuduBlockBloomFilter::FromBytes(AsBytes(written), type)), written);
      ASSERT_LE(filter.Count(asked.keys()), 70u);
      filter.Insert(asked.keys());
      ASSERT_EQ(filter.Count(asked.keys()), 70u);
    } catch (const FormatError& error) {
      ++refused;
      ASSERT_LE(error.offset(), bytes.size()) << error.what();
    }
  }
  EXPECT_GT(accepted, kMutations * 15 / 100);
  EXPECT_GT(refused, kMutations / 5);
}

INSTANTIATE_TEST_SUITE_P(Golden, KuduMutationTest, testing::ValuesIn(Recipes()),
                         [](const auto& test) { return test.param.name; });

}  // namespace tamis::kudu_file_test
