// Builds filters from all their keys.
#include "tamis/engine/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/serialize.h"
#include "tests/c/c_test_util.h"
#include "tests/c/key_sets.h"
#include "tests/test_util.h"

namespace tamis {

void PrintTo(const FilterKindInfo& info, std::ostream* out) { *out << info.name; }

namespace build_test {

constexpr tamis_hash kHash = {TAMIS_HASH_SIPHASH13, 0, 0, 5, 6};
constexpr HashSpec kSpec = {HashKind::kSipHash13, 0, {5, 6}};

std::vector<FilterKindInfo> KindsThat(const std::function<bool(const FilterKindInfo&)>& fits) {
  std::vector<FilterKindInfo> kinds;
  std::ranges::copy_if(FilterKinds(), std::back_inserter(kinds), fits);
  return kinds;
}

std::string NameOf(const testing::TestParamInfo<FilterKindInfo>& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

CFilter BuildC(uint32_t kind, const std::vector<tamis_keys>& chunks,
               const tamis_engine* engine = nullptr,
               const tamis_filter_options* options = nullptr) {
  return Made<tamis_filter>(tamis_filter_build, kind, options, engine, chunks.data(),
                            uint64_t{chunks.size()});
}

class BuildTest : public testing::TestWithParam<FilterKindInfo> {
 protected:
  uint32_t kind() const { return static_cast<uint32_t>(GetParam().kind); }

  // Builds the same filter in both interfaces, or expects the same error.
  void ExpectSame(const std::vector<KeySets::Set>& sets, const tamis_engine* engine) const {
    tamis_filter_options options = OptionsFor(0);
    options.hash = kHash;
    std::vector<tamis_keys> chunks;
    for (const KeySets::Set& set : sets) chunks.push_back(set.c);
    tamis_filter* made = nullptr;
    const tamis_status status =
        tamis_filter_build(kind(), &options, engine, chunks.data(), chunks.size(), &made);
    const CFilter c(made);
    try {
      const AnyFilter cpp = BuildFilter(GetParam().kind,
                                        [&sets](const std::function<void(Keys)>& visit) {
                                          for (const KeySets::Set& set : sets) visit(set.cpp);
                                        },
                                        {.hash = kSpec});
      ASSERT_EQ(status, TAMIS_OK) << tamis_last_error();
      EXPECT_EQ(SerializedC(c.get()), Serialize(*cpp));
      for (const KeySets::Set& set : sets) ExpectSameAnswers(c.get(), engine, *cpp, set);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      ExpectStatus(status, TAMIS_INVALID_ARGUMENT, error.what());
      EXPECT_EQ(made, nullptr);
      EXPECT_TRUE(GetParam().can.erase) << "only a cuckoo filter has no room for copies";
    }
  }

  const CEngine engine_ = MakeEngine(2);
};

TEST_P(BuildTest, KeysOfEveryLayout) {
  struct Shape {
    size_t n;
    uint64_t offset;
    bool nulls;
  };
  // Keys in a layout that is converted form two runs if there are 70,001.
  for (const Shape shape :
       {Shape{0, 0, false}, {1, 3, true}, {65, 0, true}, {1000, 13, false}, {70'001, 5, true}}) {
    const KeySets sets(shape.n, shape.offset, shape.nulls, /*seed=*/1);
    for (const KeySets::Set& set : sets.sets()) {
      SCOPED_TRACE(set.name + ", " + std::to_string(shape.n));
      // For each surplus copy of a key, a cuckoo filter searches for a long time.
      const bool copies = set.c.layout == TAMIS_KEYS_U8 || set.c.layout == TAMIS_KEYS_I8;
      if (shape.n > 10'000 && copies && !GetParam().is_static) continue;
      ExpectSame({set}, nullptr);
      ExpectSame({set}, engine_.get());
    }
  }
}

TEST_P(BuildTest, ChunksOfAllLayoutsTogether) {
  const KeySets sets(100, 7, true, /*seed=*/2);
  ExpectSame(sets.sets(), nullptr);
  ExpectSame(sets.sets(), engine_.get());
}

TEST_P(BuildTest, ChunksMakeNoDifference) {
  const std::vector<uint64_t> numbers = RandomKeys(1000, /*seed=*/3);
  const auto chunk = [&](size_t begin, size_t end) {
    return tamis_keys_u64(numbers.data() + begin, end - begin);
  };
  const CFilter whole = BuildC(kind(), {chunk(0, 1000)});
  const CFilter parts = BuildC(kind(), {chunk(0, 1), chunk(1, 1), chunk(1, 700),
                                        tamis_keys_u64(nullptr, 0), chunk(700, 1000)});
  EXPECT_EQ(SerializedC(parts.get()), SerializedC(whole.get()));
}

TEST_P(BuildTest, NoKeys) {
  const CFilter none = BuildC(kind(), {});
  EXPECT_EQ(tamis_filter_contains_u64(none.get(), 1), 0);
  auto info = TAMIS_INIT(tamis_filter_info);
  ASSERT_EQ(tamis_filter_get_info(none.get(), &info), TAMIS_OK);
  EXPECT_EQ(info.kind, kind());
  EXPECT_EQ(info.inserted, 0u);
  EXPECT_EQ(info.read_only, GetParam().is_static);
}

TEST_P(BuildTest, OptionsEqualTheLibrarys) {
  const std::vector<uint64_t> numbers = RandomKeys(1000, /*seed=*/4);
  tamis_filter_options options = OptionsFor(0);
  options.fpr = 0.03;
  options.backend = "portable";
  options.hash.seed = 9;
  const CFilter c =
      BuildC(kind(), {tamis_keys_u64(numbers.data(), numbers.size())}, nullptr, &options);
  const AnyFilter cpp =
      BuildFilter(GetParam().kind, [&](const std::function<void(Keys)>& visit) { visit(numbers); },
                  {.fpr = 0.03, .hash = {HashKind::kXxh3, 9}});
  EXPECT_EQ(SerializedC(c.get()), Serialize(*cpp));
}

TEST_P(BuildTest, InvalidOptionsAndKeys_AreErrors) {
  uint64_t number = 1;
  tamis_keys keys[3] = {tamis_keys_u64(&number, 1), tamis_keys_u64(&number, 1),
                        tamis_keys_u64(nullptr, 1)};
  tamis_filter* made = nullptr;
  const auto expect = [&](const tamis_filter_options& options, uint64_t num_chunks,
                          tamis_status status, const char* text) {
    ExpectStatus(tamis_filter_build(kind(), &options, nullptr, keys, num_chunks, &made), status,
                 text);
    EXPECT_EQ(made, nullptr);
  };
  tamis_filter_options options = OptionsFor(0);
  expect(options, 3, TAMIS_INVALID_ARGUMENT, "chunk 2: keys.data is NULL");
  expect(options, ~uint64_t{0}, TAMIS_INVALID_ARGUMENT, "num_chunks");
  std::swap(keys[0], keys[2]);
  ExpectStatus(tamis_filter_build(kind(), &options, nullptr, keys, 1, &made),
               TAMIS_INVALID_ARGUMENT, "keys.data is NULL");
  EXPECT_EQ(std::string(tamis_last_error()).find("chunk"), std::string::npos);
  std::swap(keys[0], keys[2]);
  options.capacity = 10;
  expect(options, 1, TAMIS_INVALID_ARGUMENT, "capacity and bytes must be 0");
  options = OptionsFor(0);
  options.bytes = 4096;
  expect(options, 1, TAMIS_INVALID_ARGUMENT, "capacity and bytes must be 0");
  options = OptionsFor(0);
  options.fpr = 2;
  expect(options, 1, TAMIS_INVALID_ARGUMENT, "2");
  options = OptionsFor(0);
  options.reserved = 1;
  expect(options, 1, TAMIS_INVALID_ARGUMENT, "reserved");
  options = OptionsFor(0);
  options.hash.kind = TAMIS_HASH_SIPHASH13;
  expect(options, 1, TAMIS_SECRET, "tamis_hash_random");
  options = OptionsFor(0);
  options.backend = "abacus";
  expect(options, 1, TAMIS_UNKNOWN_BACKEND, "abacus");
}

INSTANTIATE_TEST_SUITE_P(Kinds, BuildTest,
                         testing::ValuesIn(KindsThat([](const FilterKindInfo& kind) {
                           return !kind.has_layers;
                         })),
                         NameOf);

TEST(BuildKindTest, KindsThatCannotBeBuilt_AreErrors) {
  tamis_filter* made = nullptr;
  for (const uint32_t kind : {0, 5, 13}) {
    ExpectStatus(tamis_filter_build(kind, nullptr, nullptr, nullptr, 0, &made), TAMIS_UNSUPPORTED,
                 "kind");
  }
  ExpectStatus(tamis_filter_build(TAMIS_SCALABLE, nullptr, nullptr, nullptr, 0, &made),
               TAMIS_INVALID_ARGUMENT, "tamis_filter_create_scalable");
  EXPECT_EQ(made, nullptr);
}

class StaticTest : public testing::TestWithParam<FilterKindInfo> {
 protected:
  uint32_t kind() const { return static_cast<uint32_t>(GetParam().kind); }

  const std::vector<uint64_t> numbers_ = RandomKeys(1000, /*seed=*/5);
  const tamis_keys keys_ = tamis_keys_u64(numbers_.data(), numbers_.size());
};

TEST_P(StaticTest, Create_NamesTheFunctionThatBuilds) {
  const tamis_filter_options options = OptionsFor(10);
  tamis_filter* made = nullptr;
  ExpectStatus(tamis_filter_create(kind(), &options, &made), TAMIS_INVALID_ARGUMENT,
               std::string("a ") + GetParam().name + " filter never changes: tamis_filter_build");
  EXPECT_EQ(made, nullptr);
}

TEST_P(StaticTest, Changes_AreReadOnlyErrorsWithTheNameOfTheKind) {
  const CFilter built = BuildC(kind(), {keys_});
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / (std::string(GetParam().name) + ".tamis"))
          .string();
  ASSERT_EQ(tamis_filter_save(built.get(), path.c_str(), nullptr), TAMIS_OK);
  const CFilter mapped = Mapped(path);
  for (tamis_filter* const filter : {built.get(), mapped.get()}) {
    const std::vector<std::byte> before = SerializedC(filter);
    const auto expect = [&](tamis_status status) {
      ExpectStatus(status, TAMIS_READ_ONLY,
                   std::string("a ") + GetParam().name + " filter never changes");
    };
    uint64_t words[16] = {};
    expect(tamis_filter_insert(filter, nullptr, &keys_, nullptr, nullptr, 0));
    expect(tamis_filter_insert_if_absent(filter, nullptr, &keys_, words, nullptr, 16, nullptr));
    expect(tamis_filter_erase(filter, nullptr, &keys_, nullptr, nullptr, 0));
    expect(tamis_filter_clear(filter));
    expect(-tamis_filter_insert_u64(filter, 1));
    expect(-tamis_filter_insert_string(filter, "a", 1));
    expect(-tamis_filter_insert_hash(filter, 1));
    expect(-tamis_filter_insert_if_absent_u64(filter, 1));
    expect(-tamis_filter_erase_u64(filter, 1));
    auto info = TAMIS_INIT(tamis_filter_info);
    ASSERT_EQ(tamis_filter_get_info(filter, &info), TAMIS_OK);
    EXPECT_EQ(info.read_only, 1u);
    EXPECT_EQ(info.abilities, uint32_t{TAMIS_CAN_PARALLEL_BUILD});
    EXPECT_EQ(info.inserted, numbers_.size());
    EXPECT_EQ(SerializedC(filter), before);
  }
  const CFilter other = BuildC(kind(), {keys_});
  ExpectStatus(tamis_filter_merge(built.get(), other.get()), TAMIS_INCOMPATIBLE,
               "cannot be merged");
  const CFilter clone = Made<tamis_filter>(tamis_filter_clone, mapped.get());
  EXPECT_EQ(SerializedC(clone.get()), SerializedC(built.get()));
}

TEST_P(StaticTest, AnFprBelowTheKind_IsAnError) {
  tamis_filter_options options = OptionsFor(0);
  options.fpr = 1e-12;
  tamis_filter* made = nullptr;
  ExpectStatus(tamis_filter_build(kind(), &options, nullptr, &keys_, 1, &made),
               TAMIS_INVALID_ARGUMENT, "false-positive rate");
  EXPECT_EQ(made, nullptr);
}

TEST_P(StaticTest, HashesThatAreNotUniform_AreErrors) {
  std::vector<uint64_t> hashes(600'000);
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = i;
  tamis_keys keys = tamis_keys_u64(hashes.data(), hashes.size());
  keys.layout = TAMIS_KEYS_HASHES;
  tamis_filter* made = nullptr;
  ExpectStatus(tamis_filter_build(kind(), nullptr, nullptr, &keys, 1, &made),
               TAMIS_INVALID_ARGUMENT, "not uniform");
  EXPECT_EQ(made, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StaticTest,
                         testing::ValuesIn(KindsThat([](const FilterKindInfo& kind) {
                           return kind.is_static;
                         })),
                         NameOf);

}  // namespace build_test
}  // namespace tamis
