// The golden files of scalable filters (tests/golden/README.md): each is what the library writes
// with every backend, byte by byte, can be opened in every way, and goes on growing.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/any_filter.h"
#include "tamis/scalable_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/golden_keys.h"

namespace tamis {
namespace {

struct Recipe {
  std::string name;
  FilterKind layer_kind;
  size_t layers;
  ScalableOptions options;
  std::vector<uint64_t> integers;
  std::vector<std::string> strings;
  std::function<AnyFilter(const ScalableOptions&)> make;

  std::vector<std::string_view> views() const { return {strings.begin(), strings.end()}; }
  std::filesystem::path path() const { return GoldenPath("scalable_v1_" + name); }
};

void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }

template <typename F>
AnyFilter Make(const ScalableOptions& options) {
  return ScalableFilter<F>(options);
}

// Forty copies of one key among others.
std::vector<uint64_t> WithCopies(size_t n) {
  std::vector<uint64_t> keys = Integers(n);
  for (size_t i = 0; i < 40; ++i) keys[2 * i] = 1;
  return keys;
}

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> recipes = {
      {"empty",
       FilterKind::kSplitBlock,
       1,
       {.initial_capacity = 20},
       {},
       {},
       Make<SplitBlockBloomFilter>},
      {"split_block",
       FilterKind::kSplitBlock,
       3,
       {.initial_capacity = 20, .fpr = 0.05},
       Integers(100),
       {},
       Make<SplitBlockBloomFilter>},
      {"bloom",
       FilterKind::kBloom,
       4,
       {.initial_capacity = 16,
        .growth = 1.5,
        .tightening = 0.5,
        .max_bytes = 200,
        .hash = {HashKind::kXxh64, 42}},
       {},
       Strings(110),
       Make<BloomFilter>},
      {"cuckoo8",
       FilterKind::kCuckoo8,
       5,
       {.initial_capacity = 25, .fpr = 0.5, .growth = 1, .hash = {HashKind::kXxh3, 7}},
       WithCopies(100),
       {},
       Make<CuckooFilter<8>>},
      {"cuckoo12",
       FilterKind::kCuckoo12,
       2,
       {.initial_capacity = 10, .fpr = 0.1, .growth = 4},
       Integers(30),
       {},
       Make<CuckooFilter<12>>},
      {"cuckoo16",
       FilterKind::kCuckoo16,
       3,
       {.initial_capacity = 10, .growth = 3, .hash = {HashKind::kXxh3, 0x0123456789ABCDEF}},
       Integers(50),
       Strings(20),
       Make<CuckooFilter<16>>},
  };
  return recipes;
}

class ScalableGoldenTest : public testing::TestWithParam<Recipe> {
 protected:
  const Recipe& recipe() const { return GetParam(); }
  uint64_t num_keys() const { return recipe().integers.size() + recipe().strings.size(); }

  void ExpectHeader(const FileHeader& header) const {
    EXPECT_EQ(header.kind, FilterKind::kScalable);
    EXPECT_EQ(header.hash, recipe().options.hash);
    EXPECT_EQ(
        header.geometry,
        (std::array<uint64_t, 3>{recipe().layers, static_cast<uint64_t>(recipe().layer_kind), 0}));
    EXPECT_EQ(header.inserted, num_keys());
    EXPECT_EQ(header.payload_bytes,
              std::filesystem::file_size(recipe().path()) - detail::kHeaderBytes);
  }

  void ExpectFilter(const Filter& filter, bool read_only) const {
    ExpectHeader(filter.Header());
    EXPECT_EQ(filter.read_only(), read_only);
    EXPECT_EQ(filter.Count(recipe().integers), recipe().integers.size());
    EXPECT_EQ(filter.Count(recipe().views()), recipe().strings.size());
    const TemporaryFolder folder;
    filter.Save(folder / "again");
    EXPECT_EQ(ReadBytes(folder / "again"), ReadBytes(recipe().path()));
  }
};

TEST_P(ScalableGoldenTest, IsWhatEveryBackendWrites) {
  const TemporaryFolder folder;
  for (const Backend& backend : Backends()) {
    ScalableOptions options = recipe().options;
    options.backend = &backend;
    const AnyFilter filter = recipe().make(options);
    ASSERT_EQ(filter->Insert(recipe().integers), recipe().integers.size());
    ASSERT_EQ(filter->Insert(recipe().views()), recipe().strings.size());
    const auto file = folder / std::string(backend.name);
    filter->Save(file);
    EXPECT_EQ(ReadBytes(file), ReadBytes(recipe().path())) << backend.name;
  }
}

TEST_P(ScalableGoldenTest, OpensInEveryWayAndGoesOnGrowing) {
  ExpectHeader(ReadHeader(recipe().path()));
  ExpectHeader(VerifyFile(recipe().path()));
  ExpectFilter(*OpenMapped(recipe().path()), true);
  ExpectFilter(*OpenMapped(recipe().path(), {.verify = Verify::kFull}), true);
  const AnyFilter loaded = Open(recipe().path());
  ExpectFilter(*loaded, false);

  const AnyFilter fresh = recipe().make(recipe().options);
  fresh->Insert(recipe().integers);
  fresh->Insert(recipe().views());
  const std::vector<uint64_t> more = Integers(500);
  EXPECT_EQ(loaded->Insert(more), fresh->Insert(more));
  const TemporaryFolder folder;
  loaded->Save(folder / "loaded");
  fresh->Save(folder / "fresh");
  EXPECT_EQ(ReadBytes(folder / "loaded"), ReadBytes(folder / "fresh"));
}

INSTANTIATE_TEST_SUITE_P(Files, ScalableGoldenTest, testing::ValuesIn(Recipes()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tamis
