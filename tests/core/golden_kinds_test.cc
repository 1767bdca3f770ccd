// The golden files of the kinds beside split-block (tests/golden/README.md): each is what the
// library writes with every backend, byte by byte, and can be opened in every way.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/any_filter.h"
#include "tamis/bloom_filter.h"
#include "tamis/counting_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/golden_keys.h"
#include "tests/core/reference_filter.h"

namespace tamis {
namespace {

struct Recipe {
  std::string name;
  FilterKind kind;
  std::array<uint64_t, 3> geometry;
  HashSpec hash;
  std::vector<uint64_t> integers;
  std::vector<std::string> strings;
  uint64_t capacity;
  std::function<AnyFilter(const FilterOptions&)> make;

  std::vector<std::string_view> views() const { return {strings.begin(), strings.end()}; }
};

void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }

Recipe Bloom(const std::string& name, uint64_t bits, uint32_t hashes, const HashSpec& hash,
             const std::vector<uint64_t>& integers, const std::vector<std::string>& strings,
             uint64_t capacity) {
  return {"bloom_v1_" + name, FilterKind::kBloom,
          {bits, hashes, 0},  hash,
          integers,           strings,
          capacity,           [](const FilterOptions& options) { return BloomFilter(options); }};
}

Recipe Counting(const std::string& name, uint64_t blocks, const HashSpec& hash,
                const std::vector<uint64_t>& integers, const std::vector<std::string>& strings,
                uint64_t capacity) {
  return {"counting_v1_" + name,
          FilterKind::kCounting,
          {blocks, 0, 0},
          hash,
          integers,
          strings,
          capacity,
          [](const FilterOptions& options) { return CountingBloomFilter(options); }};
}

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> recipes = {
      Bloom("empty", 64, 44, {}, {}, {}, 1),
      Bloom("seven_hashes", 9664, 7, {}, Integers(1000), {}, 1000),
      Bloom("one_hash", 704, 1, {HashKind::kXxh3, 0x0123456789ABCDEF}, Integers(500), {}, 500),
      Bloom("strings", 8000, 18, {HashKind::kXxh64, 42}, {}, Strings(300), 300),
      Counting("empty", 3, {}, {}, {}, 1),
      Counting("saturated", 2, {}, Integers(300), {}, 300),
      Counting("strings", 33, {HashKind::kXxh64, 42}, {}, Strings(300), 300),
  };
  return recipes;
}

class GoldenKindsTest : public testing::TestWithParam<Recipe> {
 protected:
  const Recipe& recipe() const { return GetParam(); }
  std::filesystem::path path() const { return GoldenPath(recipe().name); }
  uint64_t payload_bytes() const {
    return std::filesystem::file_size(path()) - detail::kHeaderBytes;
  }

  void ExpectHeader(const FileHeader& header) const {
    EXPECT_EQ(header.kind, recipe().kind);
    EXPECT_EQ(header.hash, recipe().hash);
    EXPECT_EQ(header.geometry, recipe().geometry);
    EXPECT_EQ(header.capacity, recipe().capacity);
    EXPECT_EQ(header.inserted, recipe().integers.size() + recipe().strings.size());
    EXPECT_EQ(header.payload_bytes, payload_bytes());
  }

  void ExpectFilter(const Filter& filter, bool read_only) const {
    ExpectHeader(filter.Header());
    EXPECT_EQ(filter.read_only(), read_only);
    const Bytes file = ReadBytes(path());
    ASSERT_EQ(filter.bytes() + detail::kHeaderBytes, file.size());
    EXPECT_EQ(
        std::memcmp(filter.payload().data(), file.data() + detail::kHeaderBytes, filter.bytes()),
        0);
    EXPECT_EQ(filter.Count(recipe().integers), recipe().integers.size());
    EXPECT_EQ(filter.Count(recipe().views()), recipe().strings.size());
  }
};

TEST_P(GoldenKindsTest, IsWhatEveryBackendWrites) {
  const TemporaryFolder folder;
  const Bytes golden = ReadBytes(path());
  for (const Backend& backend : Backends()) {
    AnyFilter filter = recipe().make({.capacity = recipe().capacity,
                                      .bytes = payload_bytes(),
                                      .hash = recipe().hash,
                                      .backend = &backend});
    filter->Insert(recipe().integers);
    filter->Insert(recipe().views());
    const auto file = folder / std::string(backend.name);
    filter->Save(file);
    EXPECT_EQ(ReadBytes(file), golden) << backend.name;
  }
}

TEST_P(GoldenKindsTest, OpensInEveryWay) {
  ExpectHeader(ReadHeader(path()));
  ExpectHeader(VerifyFile(path()));
  ExpectFilter(*Open(path()), false);
  ExpectFilter(*OpenMapped(path()), true);
  ExpectFilter(*OpenMapped(path(), {.verify = Verify::kFull}), true);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenKindsTest, testing::ValuesIn(Recipes()),
                         [](const auto& test) { return test.param.name; });

// Every field of the geometry is checked.
void ExpectGeometryError(const std::string& golden, size_t field, uint64_t value,
                         const std::string& check) {
  const TemporaryFolder folder;
  Bytes file = ReadBytes(GoldenPath(golden));
  const size_t at = detail::offset::kGeometry + 8 * field;
  SetField(file, at, value);
  SealHeader(file);
  WriteBytes(folder / "a", file);
  ExpectFormatError([&] { Open(folder / "a"); }, check, at);
  ExpectFormatError([&] { OpenMapped(folder / "a"); }, check, at);
}

TEST(GeometryCheckTest, Bloom) {
  for (const uint64_t bits :
       {uint64_t{0}, uint64_t{32}, uint64_t{9665}, ~uint64_t{63}, (uint64_t{1} << 53) + 64}) {
    ExpectGeometryError("bloom_v1_seven_hashes", 0, bits, "bits");
  }
  for (const uint64_t hashes : {uint64_t{0}, uint64_t{65}, ~uint64_t{0}}) {
    ExpectGeometryError("bloom_v1_seven_hashes", 1, hashes, "hashes");
  }
  ExpectGeometryError("bloom_v1_seven_hashes", 2, 1, "geometry[2]");
}

TEST(GeometryCheckTest, Counting) {
  for (const uint64_t blocks : {uint64_t{0}, uint64_t{1} << 32, ~uint64_t{0}}) {
    ExpectGeometryError("counting_v1_strings", 0, blocks, "blocks");
  }
  ExpectGeometryError("counting_v1_strings", 1, 1, "geometry[1]");
  ExpectGeometryError("counting_v1_strings", 2, 1, "geometry[2]");
}

}  // namespace
}  // namespace tamis
