// The files in tests/golden. The library writes each file from its recipe (tests/golden/README.md),
// byte by byte, with every backend and every way to insert. Each file can be opened in every way,
// and then behaves like a new filter.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/src/file/file_format.h"
#include "core/src/file/key_tag.h"
#include "tamis/backends.h"
#include "tamis/file/file_checks.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/core/contract.h"
#include "tests/core/file_parts.h"
#include "tests/core/file_test_util.h"

namespace tamis::golden_test {

std::vector<uint64_t> Integers(uint64_t n) {
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = i * 0x9E3779B97F4A7C15;
  return keys;
}

// Returns keys with forty copies of one key.
std::vector<uint64_t> WithCopies(size_t n) {
  std::vector<uint64_t> keys = Integers(n);
  for (size_t i = 0; i < 40; ++i) keys[2 * i] = 1;
  return keys;
}

std::vector<std::string> Strings(size_t n) {
  std::vector<std::string> keys(n);
  for (size_t m = 0; m < n; ++m) {
    for (size_t i = 0; i < m; ++i) keys[m].push_back(static_cast<char>((m + i) % 256));
  }
  return keys;
}

template <typename T>
std::vector<T> operator+(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

using Geometry = std::array<uint64_t, 3>;

struct Recipe {
  std::string name;
  FilterKind kind;
  Geometry geometry;
  HashSpec hash;
  uint64_t capacity;  // 0: the result for the layers of a scalable filter
  std::vector<uint64_t> integers;
  std::vector<std::string> strings;
  ScalableOptions scalable = {};
  bool other_growth = false;  // the library now makes other layers
  bool with_secret = false;   // the secret is in the file

  uint32_t version() const { return name.find("_v1_") != std::string::npos ? 1 : 2; }
  KeyTypes forms() const {
    if (version() == 1) return KeyType::kUnknown;
    KeyTypes forms;
    if (!integers.empty()) forms.Add(KeyType::kInteger);
    if (!strings.empty()) forms.Add(KeyType::kBytes);
    return forms;
  }
  std::optional<HashSecret> secret() const {
    return IsKeyed(hash.kind) && !with_secret ? std::optional(hash.secret) : std::nullopt;
  }
  std::vector<std::string_view> views() const { return {strings.begin(), strings.end()}; }
  uint64_t num_keys() const { return integers.size() + strings.size(); }
};

void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }

constexpr HashSpec kPlain = {};
constexpr HashSpec kSeeded{HashKind::kXxh3, 0x0123456789ABCDEF};
constexpr HashSpec kXxh64Of42{HashKind::kXxh64, 42};
constexpr HashSpec kXxh64Max{HashKind::kXxh64, ~uint64_t{0}};
constexpr HashSpec kXxh3Of7{HashKind::kXxh3, 7};
// Bytes 0 to 15.
constexpr HashSecret kSecret{0x0706050403020100, 0x0F0E0D0C0B0A0908};
constexpr HashSpec kSip13{HashKind::kSipHash13, 0, kSecret};
constexpr HashSpec kSip24{HashKind::kSipHash24, 0, kSecret};

std::vector<Recipe> Recipes() {
  using enum FilterKind;
  const auto layers = [](uint64_t n, FilterKind kind) {
    return Geometry{n, static_cast<uint64_t>(kind), 0};
  };
  // clang-format off
  return {
      {"split_block_v1_empty", kSplitBlock, {2}, kPlain, 1, {}, {}},
      {"split_block_v1_one_block", kSplitBlock, {1}, kPlain, 10, Integers(10), {}},
      {"split_block_v1_odd_blocks", kSplitBlock, {333}, kPlain, 5000, Integers(5000), {}},
      {"split_block_v1_seeded", kSplitBlock, {100}, kSeeded, 2000, Integers(1000), {}},
      {"split_block_v1_strings", kSplitBlock, {64}, kXxh3Of7, 300, {}, Strings(300)},
      {"split_block_v1_xxh64_seeded", kSplitBlock, {50}, kXxh64Max, 500, Integers(500), {}},
      {"split_block_v1_xxh64_strings", kSplitBlock, {41}, kXxh64Of42, 300, {}, Strings(300)},
      {"split_block_v1_parquet", kSplitBlock, {32}, {HashKind::kXxh64, 0}, 4, {},
       {"hello", "parquet", "bloom", "filter"}},

      {"cuckoo8_v1_empty", kCuckoo8, {1, 2}, kPlain, 1, {}, {}},
      {"cuckoo8_v1_full", kCuckoo8, {1, 32}, kSeeded, 122, Integers(122), {}},
      {"cuckoo12_v1_chunks", kCuckoo12, {5, 8}, kXxh3Of7, 120, {}, Strings(100) + Strings(20)},
      {"cuckoo12_v1_full", kCuckoo12, {1, 20}, {HashKind::kXxh3, 3}, 94, Integers(94), {}},
      {"cuckoo16_v1_chunks", kCuckoo16, {3, 8}, kXxh64Max, 60, Integers(50) + Integers(5), {}},
      {"cuckoo16_v1_full", kCuckoo16, {1, 20}, {HashKind::kXxh3, 1}, 74, Integers(74), {}},

      {"bloom_v1_empty", kBloom, {64, 44}, kPlain, 1, {}, {}},
      {"bloom_v1_seven_hashes", kBloom, {9664, 7}, kPlain, 1000, Integers(1000), {}},
      {"bloom_v1_one_hash", kBloom, {704, 1}, kSeeded, 500, Integers(500), {}},
      {"bloom_v1_strings", kBloom, {8000, 18}, kXxh64Of42, 300, {}, Strings(300)},

      {"counting_v1_empty", kCounting, {3}, kPlain, 1, {}, {}},
      {"counting_v1_saturated", kCounting, {2}, kPlain, 300, Integers(300), {}},
      {"counting_v1_strings", kCounting, {33}, kXxh64Of42, 300, {}, Strings(300)},

      {"scalable_v1_empty", kScalable, layers(1, kSplitBlock), kPlain, 0, {}, {},
       {.initial_capacity = 20}},
      {"scalable_v1_split_block", kScalable, layers(3, kSplitBlock), kPlain, 0, Integers(100), {},
       {.initial_capacity = 20, .fpr = 0.05}},
      {"scalable_v1_bloom", kScalable, layers(4, kBloom), kXxh64Of42, 0, {}, Strings(110),
       {.initial_capacity = 16, .growth = 1.5, .tightening = 0.5, .max_bytes = 200}, true},
      {"scalable_v1_cuckoo8", kScalable, layers(5, kCuckoo8), kXxh3Of7, 0, WithCopies(100), {},
       {.initial_capacity = 25, .fpr = 0.5, .growth = 1}, true},
      {"scalable_v1_cuckoo12", kScalable, layers(2, kCuckoo12), kPlain, 0, Integers(30), {},
       {.initial_capacity = 10, .fpr = 0.1, .growth = 4}},
      {"scalable_v1_cuckoo16", kScalable, layers(3, kCuckoo16), kSeeded, 0, Integers(50),
       Strings(20), {.initial_capacity = 10, .growth = 3}},

      {"split_block_v2_empty", kSplitBlock, {2}, kPlain, 1, {}, {}},
      {"split_block_v2_two_pages", kSplitBlock, {2100}, kPlain, 5000, Integers(5000), {}},
      {"split_block_v2_both_forms", kSplitBlock, {33}, kXxh64Of42, 200, Integers(100),
       Strings(100)},
      {"split_block_v2_siphash13", kSplitBlock, {33}, kSip13, 300, Integers(300), {}, {}, false,
       true},
      {"split_block_v2_siphash24", kSplitBlock, {33}, kSip24, 300, {}, Strings(300)},
      {"cuckoo8_v2_padding", kCuckoo8, {1, 2}, kPlain, 5, Integers(5), {}},
      {"cuckoo16_v2_siphash24", kCuckoo16, {3, 8}, kSip24, 60, Integers(50), {}, {}, false, true},
      {"bloom_v2_siphash13", kBloom, {8000, 18}, kSip13, 300, {}, Strings(300)},
      {"counting_v2_strings", kCounting, {33}, kXxh64Of42, 300, {}, Strings(300)},
      {"scalable_v2_bloom", kScalable, layers(4, kBloom), kXxh64Of42, 0, {}, Strings(110),
       {.initial_capacity = 16, .growth = 1.5, .tightening = 0.5, .max_bytes = 200}, true},
      {"scalable_v2_bloom_old_rates", kScalable, layers(1, kBloom), kPlain, 0, Integers(16), {},
       {.initial_capacity = 16, .fpr = 1e-6}, true},
      {"scalable_v2_bloom_true_rates", kScalable, layers(4, kBloom), kXxh64Of42, 0, {},
       Strings(110), {.initial_capacity = 16, .growth = 1.5, .tightening = 0.5, .max_bytes = 200}},
      {"scalable_v2_cuckoo16", kScalable, layers(3, kCuckoo16), kSip13, 0,
       Integers(50), {}, {.initial_capacity = 10, .growth = 3}, false, true},
  };
  // clang-format on
}

class GoldenTest : public testing::TestWithParam<Recipe> {
 protected:
  const Recipe& recipe() const { return GetParam(); }
  std::filesystem::path path() const { return GoldenPath(recipe().name); }
  Bytes Golden() const { return ReadBytes(path()); }

  AnyFilter Empty(const Backend& backend) const {
    const uint64_t payload_bytes = GetField<uint64_t>(Golden(), 80);
    const FilterKindInfo& info = KindInfo(recipe().kind);
    if (info.has_layers) {
      ScalableOptions options = recipe().scalable;
      options.hash = recipe().hash;
      options.backend = &backend;
      return MakeScalableFilter(static_cast<FilterKind>(recipe().geometry[1]), options);
    }
    // The constructors of these choose a part of their geometry. A file contains all of it.
    const bool chooses =
        recipe().kind == FilterKind::kBloom || std::string_view(info.name).starts_with("cuckoo");
    if (!chooses) {
      return MakeFilter(recipe().kind, {.capacity = recipe().capacity,
                                        .bytes = payload_bytes,
                                        .hash = recipe().hash,
                                        .backend = &backend});
    }
    FileHeader header;
    header.kind = recipe().kind;
    header.hash = recipe().hash;
    header.geometry = recipe().geometry;
    header.capacity = recipe().capacity;
    header.payload_bytes = payload_bytes;
    header.key_types = {};
    header.has_secret = IsKeyed(recipe().hash.kind);
    header.key_tag = detail::KeyTag(recipe().hash);
    Bytes file(detail::Extent{header}.end());
    const std::vector<std::byte> start = detail::EncodeHeader(header);
    std::memcpy(file.data(), start.data(), start.size());
    SealAll(file);
    WriteBytes(folder_ / "empty", file);
    return Load(folder_ / "empty", {.backend = &backend});
  }

  void Insert(const Filter& into, const auto& insert) const {
    EXPECT_EQ(insert(Keys(recipe().integers)), recipe().integers.size());
    const std::vector<std::string_view> views = recipe().views();
    EXPECT_EQ(insert(Keys(views)), views.size());
    EXPECT_EQ(into.inserted_count(), recipe().num_keys());
  }

  Bytes Saved(const Filter& filter) const {
    filter.Save(folder_ / "saved",
                {.with_secret = recipe().with_secret, .version = recipe().version()});
    return ReadBytes(folder_ / "saved");
  }

  void ExpectHeader(const FileHeader& header) const {
    EXPECT_EQ(header.kind, recipe().kind);
    EXPECT_EQ(header.hash.kind, recipe().hash.kind);
    EXPECT_EQ(header.hash.seed, recipe().hash.seed);
    EXPECT_EQ(header.key_types, recipe().forms());
    EXPECT_EQ(header.geometry, recipe().geometry);
    if (recipe().capacity != 0) {
      EXPECT_EQ(header.capacity, recipe().capacity);
    }
    EXPECT_EQ(header.inserted, recipe().num_keys());
  }

  void ExpectHeaderOfFile(const FileHeader& header) const {
    ExpectHeader(header);
    EXPECT_EQ(header.version, recipe().version());
    EXPECT_EQ(header.payload_bytes, GetField<uint64_t>(Golden(), 80));
    EXPECT_EQ(header.has_secret, recipe().with_secret);
    EXPECT_EQ(header.hash.secret, HashSecret{});  // it is not exposed
  }

  void ExpectFilter(const Filter& filter, bool read_only) const {
    ExpectHeader(filter.Header());
    EXPECT_EQ(filter.hash(), recipe().hash);
    EXPECT_EQ(filter.read_only(), read_only);
    EXPECT_EQ(filter.Count(recipe().integers), recipe().integers.size());
    EXPECT_EQ(filter.Count(recipe().views()), recipe().strings.size());
    EXPECT_EQ(Saved(filter), Golden());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(filter.payload().data()) % 64, 0u);
    if (KindInfo(recipe().kind).has_layers) return;
    const Bytes golden = Golden();
    const FilterInFile in_file = FiltersIn(golden)[0];
    ASSERT_EQ(filter.bytes(), in_file.payload_bytes);
    EXPECT_EQ(
        std::memcmp(filter.payload().data(), golden.data() + in_file.payload_at(), filter.bytes()),
        0);
  }

  const TemporaryFolder folder_;
};

TEST_P(GoldenTest, IsWrittenByEveryBackendAndFunction) {
  if (recipe().other_growth) GTEST_SKIP() << "today's layers would be others";
  for (const Backend& backend : Backends()) {
    SCOPED_TRACE(backend.name);
    const AnyFilter filter = Empty(backend);
    Insert(*filter, [&](Keys keys) { return RequireChangeable(*filter).Insert(keys); });
    EXPECT_EQ(Saved(*filter), Golden());
    for (const unsigned threads : {1, 3}) {
      const Engine engine = PinnedEngine(backend, threads, true);
      const AnyFilter shared = Empty(backend);
      Insert(*shared, [&](Keys keys) { return engine.Insert(RequireChangeable(*shared), keys); });
      EXPECT_EQ(Saved(*shared), Golden());
    }
  }
}

TEST_P(GoldenTest, OpensInEveryWay) {
  ExpectHeaderOfFile(ReadHeader(path()));
  ExpectHeaderOfFile(VerifyFile(path()));
  const LoadOptions load{.secret = recipe().secret()};
  const MapOptions map{.secret = recipe().secret()};
  const MapOptions verified{.verify = Verify::kFull, .secret = recipe().secret()};
  ExpectFilter(*Load(path(), load), false);
  ExpectFilter(*Map(path(), map), true);
  ExpectFilter(*Map(path(), verified), true);
  for (const Subject& subject : Subjects()) {
    if (!subject.is(Load(path(), load))) continue;
    ExpectFilter(*subject.load(path(), load), false);
    ExpectFilter(*subject.map(path(), map), true);
    ExpectFilter(*subject.map(path(), verified), true);
    return;
  }
  FAIL() << "a filter of no class";
}

TEST_P(GoldenTest, GoesOnWhenLoaded) {
  const AnyFilter loaded = Load(path(), {.secret = recipe().secret()});
  if (recipe().other_growth) {
    const std::vector<uint64_t> more = Integers(500);
    const uint64_t inserted = RequireChangeable(*loaded).Insert(more);
    EXPECT_GT(inserted, 0u);
    EXPECT_GE(loaded->Count(more), inserted);
    EXPECT_EQ(loaded->Count(recipe().views()), recipe().strings.size());
    EXPECT_EQ(loaded->Count(recipe().integers), recipe().integers.size());
    return;
  }
  const AnyFilter fresh = Empty(DefaultBackend());
  Insert(*fresh, [&](Keys keys) { return RequireChangeable(*fresh).Insert(keys); });
  const std::vector<uint64_t> more = Integers(500);
  EXPECT_EQ(RequireChangeable(*loaded).Insert(more), RequireChangeable(*fresh).Insert(more));
  // The key types of files of version 1 are unknown.
  EXPECT_EQ(Saved(*loaded), Saved(*fresh));
}

class GoldenErasableTest : public GoldenTest {};

TEST_P(GoldenErasableTest, EmptiesWhenItsKeysAreErased) {
  const AnyFilter filter = Load(path(), {.secret = recipe().secret()});
  auto* const erasable = dynamic_cast<ErasableFilter*>(&*filter);
  ASSERT_NE(erasable, nullptr);
  EXPECT_EQ(erasable->Erase(recipe().integers), recipe().integers.size());
  EXPECT_EQ(erasable->Erase(recipe().views()), recipe().strings.size());
  EXPECT_EQ(Payload(*erasable), std::vector<std::byte>(erasable->bytes()));
}

// Without saturated counters, which stay, and layers that share a key, which refuse to erase it.
std::vector<Recipe> ErasableRecipes() {
  std::vector<Recipe> recipes = Recipes();
  std::erase_if(recipes, [](const Recipe& recipe) {
    return !KindInfo(recipe.kind).can.erase || recipe.name == "counting_v1_saturated";
  });
  return recipes;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenErasableTest, testing::ValuesIn(ErasableRecipes()),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, testing::ValuesIn(Recipes()),
                         [](const auto& test) { return test.param.name; });

TEST(GoldenFilesTest, HaveARecipeEach) {
  size_t files = 0;
  const std::vector<Recipe> recipes = Recipes();
  for (const auto& entry : std::filesystem::directory_iterator(TAMIS_GOLDEN_DIR)) {
    if (entry.path().extension() != ".tamis") continue;
    if (entry.path().stem().string().starts_with("fuse")) continue;  // FuseFilterGoldenTest
    ++files;
    EXPECT_TRUE(std::any_of(recipes.begin(), recipes.end(), [&](const Recipe& recipe) {
      return entry.path().stem() == recipe.name;
    })) << entry.path();
  }
  EXPECT_EQ(files, recipes.size());
}

}  // namespace tamis::golden_test
