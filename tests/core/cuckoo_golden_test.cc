// The cuckoo files in tests/golden: each is what the library writes for its recipe
// (tests/golden/README.md), byte by byte, with every backend and in every way to insert.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/any_filter.h"
#include "tamis/engine.h"
#include "tests/core/cuckoo_test_util.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

struct Recipe {
  const char* name;
  int bits;
  cuckoo::Geometry geometry;
  HashSpec hash;
  uint64_t capacity;
  std::vector<uint64_t> integers;
  std::vector<std::string> strings;

  uint64_t num_keys() const { return integers.size() + strings.size(); }
};

void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }

// integers(n) and then integers(m).
std::vector<uint64_t> Integers(uint64_t n, uint64_t m = 0) {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < n; ++i) keys.push_back(i * 0x9E3779B97F4A7C15);
  for (uint64_t i = 0; i < m; ++i) keys.push_back(i * 0x9E3779B97F4A7C15);
  return keys;
}

std::vector<std::string> Strings(size_t n, size_t m) {
  std::vector<std::string> keys(n + m);
  for (size_t k = 0; k < n + m; ++k) {
    const size_t length = k < n ? k : k - n;
    for (size_t i = 0; i < length; ++i) keys[k].push_back(static_cast<char>((length + i) % 256));
  }
  return keys;
}

const std::vector<Recipe>& Recipes() {
  constexpr HashKind kXxh3 = HashKind::kXxh3;
  static const std::vector<Recipe> recipes = {
      {"cuckoo8_v1_empty", 8, {1, 2}, {kXxh3, 0}, 1, {}, {}},
      {"cuckoo8_v1_full", 8, {1, 32}, {kXxh3, 0x0123456789ABCDEF}, 122, Integers(122), {}},
      {"cuckoo12_v1_chunks", 12, {5, 8}, {kXxh3, 7}, 120, {}, Strings(100, 20)},
      {"cuckoo12_v1_full", 12, {1, 20}, {kXxh3, 3}, 94, Integers(94), {}},
      {"cuckoo16_v1_chunks", 16, {3, 8}, {HashKind::kXxh64, ~uint64_t{0}}, 60, Integers(50, 5), {}},
      {"cuckoo16_v1_full", 16, {1, 20}, {kXxh3, 1}, 74, Integers(74), {}},
  };
  return recipes;
}

class CuckooGoldenTest : public testing::TestWithParam<Recipe> {
 protected:
  const Recipe& recipe() const { return GetParam(); }
  std::filesystem::path path() const { return GoldenPath(recipe().name); }
  std::vector<std::string_view> Views() const {
    return {recipe().strings.begin(), recipe().strings.end()};
  }

  AnyFilter Empty(const Backend& backend) const {
    const auto make = [&]<typename F>(const F*) {
      return AnyFilter(
          EmptyCuckooFilter<F>(recipe().geometry, recipe().hash, &backend, recipe().capacity));
    };
    if (recipe().bits == 8) return make(static_cast<CuckooFilter<8>*>(nullptr));
    if (recipe().bits == 12) return make(static_cast<CuckooFilter<12>*>(nullptr));
    return make(static_cast<CuckooFilter<16>*>(nullptr));
  }

  void ExpectFilter(const Filter& filter) const {
    const FileHeader header = filter.Header();
    EXPECT_EQ(FilterKindName(header.kind), "cuckoo" + std::to_string(recipe().bits));
    EXPECT_EQ(header.hash, recipe().hash);
    EXPECT_EQ(header.geometry, (std::array<uint64_t, 3>{recipe().geometry.chunks,
                                                        recipe().geometry.chunk_buckets, 0}));
    EXPECT_EQ(header.capacity, recipe().capacity);
    EXPECT_EQ(header.inserted, recipe().num_keys());
    const Bytes file = ReadBytes(path());
    ASSERT_EQ(filter.bytes() + detail::kHeaderBytes, file.size());
    EXPECT_EQ(
        std::memcmp(filter.payload().data(), file.data() + detail::kHeaderBytes, filter.bytes()),
        0);
    EXPECT_EQ(filter.Count(recipe().integers), recipe().integers.size());
    EXPECT_EQ(filter.Count(Views()), recipe().strings.size());
  }
};

TEST_P(CuckooGoldenTest, IsWhatEveryBackendAndWayWrites) {
  const TemporaryFolder folder;
  const Bytes golden = ReadBytes(path());
  for (const Backend& backend : Backends()) {
    const auto expect = [&](const auto& insert) {
      const AnyFilter filter = Empty(backend);
      EXPECT_EQ(insert(*filter, Keys(recipe().integers)), recipe().integers.size());
      EXPECT_EQ(insert(*filter, Keys(Views())), recipe().strings.size());
      filter->Save(folder / "f");
      EXPECT_EQ(ReadBytes(folder / "f"), golden) << backend.name;
    };
    expect([](Filter& filter, Keys keys) { return filter.Insert(keys); });
    for (const unsigned threads : {1, 3}) {
      const Engine engine({.pin = PlanStep{&backend, threads, true, 0, 0}});
      expect([&](Filter& filter, Keys keys) { return engine.Insert(filter, keys); });
    }
  }
}

TEST_P(CuckooGoldenTest, OpensInEveryWayAndEmpties) {
  EXPECT_EQ(VerifyFile(path()).inserted, recipe().num_keys());
  ExpectFilter(*OpenMapped(path()));
  ExpectFilter(*OpenMapped(path(), {.verify = Verify::kFull}));
  const AnyFilter filter = Open(path());
  ExpectFilter(*filter);
  auto& erasable = dynamic_cast<ErasableFilter&>(*filter);
  EXPECT_EQ(erasable.Erase(recipe().integers), recipe().integers.size());
  EXPECT_EQ(erasable.Erase(Views()), recipe().strings.size());
  EXPECT_EQ(Payload(erasable), std::vector<std::byte>(erasable.bytes()));
}

INSTANTIATE_TEST_SUITE_P(Files, CuckooGoldenTest, testing::ValuesIn(Recipes()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CuckooGoldenFilesTest, HaveARecipeEach) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TAMIS_GOLDEN_DIR)) {
    const std::string name = entry.path().stem().string();
    if (!name.starts_with("cuckoo")) continue;
    ++files;
    EXPECT_TRUE(std::any_of(Recipes().begin(), Recipes().end(), [&](const Recipe& recipe) {
      return name == recipe.name;
    })) << name;
  }
  EXPECT_EQ(files, Recipes().size());
}

}  // namespace
}  // namespace tamis
