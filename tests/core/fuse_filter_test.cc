#include "tamis/filters/fuse_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/src/filters/kinds/fuse/fuse_builder.h"
#include "tamis/backends.h"
#include "tamis/engine/build.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/file/file_checks.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/serialize.h"
#include "tamis/filters/set_operations.h"
#include "tamis/hash_keys.h"
#include "tests/core/file_parts.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::fuse_filter_test {

constexpr uint64_t kShardKeys = uint64_t{1} << 18;

template <typename F>
concept Changes = requires(F f, const F& other) {
  f.Insert(uint64_t{});
}
|| requires(F f, const F& other) { f.Merge(other); }
|| requires(F f) { f.Clear(); };
static_assert(!Changes<FuseFilter<8>> && !std::derived_from<FuseFilter<8>, Changeable>);

template <typename F>
class FuseFilterTest : public testing::Test {};
using Widths = testing::Types<FuseFilter<8>, FuseFilter<12>, FuseFilter<16>, FuseFilter<32>>;
TYPED_TEST_SUITE(FuseFilterTest, Widths);

template <typename F>
F BuildOn(unsigned threads, const std::vector<uint64_t>& keys) {
  const Engine engine({.threads = threads});
  // In two batches, the second of which begins in the middle of a word.
  return Build<F>(
      [&keys](const std::function<void(Keys)>& visit) {
        const size_t half = keys.size() / 2 | 1;
        visit(Keys(keys).Slice(0, half));
        visit(Keys(keys).Slice(half, keys.size()));
      },
      {}, &engine);
}

template <typename F>
void ExpectHasAll(F& filter, const std::vector<uint64_t>& keys) {
  for (const Backend& backend : Backends()) {
    filter.set_backend(backend);
    EXPECT_EQ(filter.Count(keys), keys.size()) << backend.name;
  }
  size_t found = 0;
  for (const uint64_t key : keys) found += filter.Contains(key);
  EXPECT_EQ(found, keys.size());
}

TYPED_TEST(FuseFilterTest, HasEveryKeyOfAnyNumber) {
  for (size_t n = 0; n <= 3000; n += n < 40 ? 1 : n / 8) {
    SCOPED_TRACE(n);
    const std::vector<uint64_t> keys = RandomKeys(n, /*seed=*/n);
    TypeParam filter = TypeParam::From(keys);
    EXPECT_EQ(filter.inserted_count(), n);
    EXPECT_EQ(filter.estimated_count(), static_cast<double>(n));
    ExpectHasAll(filter, keys);
  }
}

TYPED_TEST(FuseFilterTest, OfNoKeysAnswersNo) {
  const TypeParam filter = TypeParam::From(std::vector<uint64_t>());
  EXPECT_EQ(filter.expected_fpr(), 0);
  EXPECT_EQ(filter.Count(RandomKeys(100'000, 1)), 0u);
  TypeParam full = TypeParam::From(RandomKeys(1000, 1));
  const TypeParam moved = std::move(full);
  EXPECT_EQ(full.Count(RandomKeys(1000, 1)), 0u);
  EXPECT_EQ(full.Header().geometry, filter.Header().geometry);
  EXPECT_EQ(full.Header().payload_bytes, filter.bytes()) << "the length that the geometry requires";
  EXPECT_TRUE(SameBytes(full.payload(), filter.payload()));
  EXPECT_EQ(moved.Count(RandomKeys(1000, 1)), 1000u);
  const AnyFilter copy = Load(Serialize(full.Clone()));  // of the moved-from filter
  EXPECT_EQ(copy->Count(RandomKeys(1000, 1)), 0u);
  full = TypeParam::From(RandomKeys(500, 2));
  EXPECT_EQ(full.Count(RandomKeys(500, 2)), 500u);
}

// All backends agree on every key, also past the last whole word and with several shards.
TYPED_TEST(FuseFilterTest, EveryBackendAnswersAsOneKeyDoes) {
  for (const size_t n : {size_t{1000}, kShardKeys + 1, 4 * kShardKeys}) {
    const std::vector<uint64_t> keys = RandomKeys(n, /*seed=*/n);
    TypeParam filter = TypeParam::From(keys);
    std::vector<uint64_t> queries = RandomKeys(40'000, /*seed=*/5);
    queries.insert(queries.end(), keys.begin(), keys.begin() + 777);
    std::vector<uint8_t> expected;
    for (const uint64_t key : queries) expected.push_back(filter.Contains(key));
    for (const Backend& backend : Backends()) {
      filter.set_backend(backend);
      for (const size_t count : {queries.size(), size_t{1}, size_t{63}, size_t{64}, size_t{129}}) {
        std::vector<uint8_t> got(count);
        filter.Contains(Keys(queries).Slice(0, count), std::span(got));
        EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin())) << backend.name;
      }
      std::vector<uint64_t> hashes(queries.size());
      HashKeys(queries, {}, hashes);
      std::vector<uint8_t> got(queries.size());
      filter.Contains(Hashes{hashes}, std::span(got));
      EXPECT_EQ(got, expected) << backend.name;
    }
  }
}

TYPED_TEST(FuseFilterTest, HasTheSameBytesForTheSameSet) {
  Random random(3);
  for (const size_t n : {size_t{2}, size_t{50}, size_t{5000}, kShardKeys, 2 * kShardKeys + 77}) {
    SCOPED_TRACE(n);
    std::vector<uint64_t> keys = RandomKeys(n, /*seed=*/n);
    const TypeParam filter = TypeParam::From(keys);
    const auto same = [&](const TypeParam& other) {
      return SameBytes(filter.payload(), other.payload()) && filter.inserted_count() == n &&
             other.inserted_count() == n;
    };
    std::shuffle(keys.begin(), keys.end(), std::mt19937_64(n));
    for (const unsigned threads : {1, 2, 16}) EXPECT_TRUE(same(BuildOn<TypeParam>(threads, keys)));
    // One copy, all keys twice, and 300 copies of one.
    keys.push_back(keys[random.Below(n)]);
    EXPECT_TRUE(same(TypeParam::From(keys)));
    keys.resize(n);
    for (size_t i = 0; i < n; ++i) keys.push_back(keys[i]);
    EXPECT_TRUE(same(BuildOn<TypeParam>(2, keys)));
    keys.resize(n);
    keys.insert(keys.end(), 300, keys[0]);
    EXPECT_TRUE(same(TypeParam::From(keys)));
  }
}

TYPED_TEST(FuseFilterTest, ErrsAsOftenAsItSays) {
  if (TypeParam::kFingerprintBits == 32) GTEST_SKIP() << "no test sees 2^-32";
  const std::vector<uint64_t> queries = RandomKeys(4'000'000, /*seed=*/8);
  for (const size_t n : {size_t{10}, size_t{1000}, kShardKeys + 5000}) {
    const TypeParam filter = TypeParam::From(RandomKeys(n, /*seed=*/n + 100));
    const double expected = filter.expected_fpr() * static_cast<double>(queries.size());
    const auto found = static_cast<double>(filter.Count(queries));
    EXPECT_NEAR(found, expected, 5 * std::sqrt(expected)) << n;
  }
}

TYPED_TEST(FuseFilterTest, IsAFileLikeAnyOther) {
  const TemporaryFolder folder;
  const std::vector<uint64_t> keys = RandomKeys(5000, /*seed=*/2);
  const TypeParam filter = TypeParam::From(keys);
  filter.Save(folder / "f");
  const Bytes file = ReadBytes(folder / "f");
  const auto expect_same = [&](const Filter& other) {
    EXPECT_EQ(other.kind(), TypeParam::kKind);
    EXPECT_TRUE(SameBytes(other.payload(), filter.payload()));
    EXPECT_EQ(other.Count(keys), keys.size());
    EXPECT_EQ(other.key_types(), KeyTypes(KeyType::kInteger));
    other.Save(folder / "again");
    EXPECT_EQ(ReadBytes(folder / "again"), file);
  };
  expect_same(TypeParam::Load(folder / "f"));
  expect_same(TypeParam::Map(folder / "f"));
  expect_same(*Map(folder / "f", {.verify = Verify::kFull}));
  const std::vector<std::byte> bytes = Serialize(filter);
  expect_same(*Load(bytes));
  expect_same(*Clone(*Map(folder / "f")));
  EXPECT_EQ(VerifyFile(folder / "f").inserted, keys.size());
}

// Every function that reads a header refuses fields with which a lookup would read out of bounds.
TYPED_TEST(FuseFilterTest, RefusesInvalidHeaders) {
  const TemporaryFolder folder;
  TypeParam::From(RandomKeys(5000, /*seed=*/2)).Save(folder / "f");
  const Bytes file = ReadBytes(folder / "f");
  struct Change {
    const char* check;
    size_t at;
    uint64_t value;
  };
  const Change changes[] = {
      {"shards", 32, 0},
      {"shards", 32, 3},
      {"shards", 32, uint64_t{1} << 31},
      {"segments", 40, 0},
      {"segments", 40, uint64_t{1} << 32},
      {"segments", 40, uint64_t{1} << 63},
      {"segment length", 48, 0},
      {"segment length", 48, 2},
      {"segment length", 48, 100},
      {"segment length", 48, uint64_t{1} << 17},
      {"inserted", 64, uint64_t{1} << 40},
      {"payload length", 80, 8},
  };
  for (const Change& change : changes) {
    SCOPED_TRACE(std::string(change.check) + " " + std::to_string(change.value));
    Bytes damaged = file;
    SetField<uint64_t>(damaged, change.at, change.value);
    SealAll(damaged);
    WriteBytes(folder / "damaged", damaged);
    ExpectFormatError([&] { Map(folder / "damaged"); }, change.check, change.at);
    ExpectFormatError([&] { TypeParam::Load(folder / "damaged"); }, change.check, change.at);
  }
  // All three at once. The length of the payload is checked last, so the check that fails shows
  // whether the geometry was accepted.
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const std::array<uint64_t, 3> geometry = {uint64_t{1} << random.Below(32),
                                              random() >> random.Below(64),
                                              uint64_t{1} << random.Below(18)};
    const auto& [shards, segments, length] = geometry;
    const double slots = (static_cast<double>(segments) + 2) * static_cast<double>(length);
    const bool fits = shards <= 1 << 30 && length >= 4 && length <= 1 << 16 && segments >= 1 &&
                      slots < 0x1p32 && slots * static_cast<double>(shards) <= 0x1p40;
    Bytes changed = file;
    std::memcpy(changed.data() + 32, geometry.data(), sizeof(geometry));
    SealAll(changed);
    WriteBytes(folder / "changed", changed);
    try {
      ReadHeader(folder / "changed");
      ADD_FAILURE() << "accepted";
    } catch (const FormatError& error) {
      const bool accepted = error.check() == "payload length" || error.check() == "inserted";
      EXPECT_EQ(accepted, fits) << shards << " " << segments << " " << length << error.what();
    }
  }
}

TYPED_TEST(FuseFilterTest, ChecksItsOptions) {
  const std::vector<uint64_t> keys = {1, 2, 3};
  ExpectError([&] { TypeParam::From(keys, {.capacity = 3}); }, ErrorCode::kInvalidArgument,
              "sized by its keys");
  ExpectError([&] { TypeParam::From(keys, {.bytes = 64}); }, ErrorCode::kInvalidArgument,
              "sized by its keys");
  ExpectError([&] { TypeParam::From(keys, {.fpr = 2}); }, ErrorCode::kInvalidArgument,
              "out of range");
  const double rate = std::ldexp(1, -TypeParam::kFingerprintBits);
  EXPECT_EQ(TypeParam::From(keys, {.fpr = rate}).Count(keys), 3u);
  ExpectError([&] { TypeParam::From(keys, {.fpr = 0.9 * rate}); }, ErrorCode::kInvalidArgument,
              "has a false-positive rate of");
  ExpectError([] { MakeFilter(TypeParam::kKind, {.capacity = 10}); }, ErrorCode::kInvalidArgument,
              "never changes");
}

TYPED_TEST(FuseFilterTest, OfTooManyKeysHasNoSize) {
  const FilterKind kind = TypeParam::kKind;
  for (const uint64_t keys : {fuse::kMaxKeys + 1, uint64_t{1} << 48, ~uint64_t{0}}) {
    ExpectError([&] { FilterBytes(kind, keys, 0.5); }, ErrorCode::kInvalidArgument, "cannot hold");
  }
  EXPECT_GT(FilterBytes(kind, fuse::kMaxKeys, 0.5), fuse::kMaxKeys);
  // Hashes of two keys are equal more often than fingerprints of 32 bits.
  ExpectError([] { FilterBytes(FilterKind::kFuse32, uint64_t{1} << 34, 1e-9); },
              ErrorCode::kInvalidArgument, "which is above");
}

TYPED_TEST(FuseFilterTest, NeverChanges) {
  AnyFilter filter = TypeParam::From(RandomKeys(100, 1));
  EXPECT_EQ(filter->changeable(), nullptr);
  ExpectError([&] { RequireChangeable(*filter); }, ErrorCode::kReadOnly,
              FilterKindName(TypeParam::kKind));
  EXPECT_FALSE(CanMerge(*filter, *filter));
  ExpectError([&] { Merge(*filter, *filter); }, ErrorCode::kIncompatible, "cannot be merged");
  ExpectError([&] { Intersect(*filter, *filter); }, ErrorCode::kUnsupported, "");
}

TYPED_TEST(FuseFilterTest, HasTheSizeThatIsPlanned) {
  for (const size_t n : {size_t{1}, size_t{1000}, size_t{100'000}, 4 * kShardKeys}) {
    const TypeParam filter = TypeParam::From(RandomKeys(n, /*seed=*/n));
    const auto planned = static_cast<double>(FilterBytes(TypeParam::kKind, n, 0.5));
    EXPECT_EQ(static_cast<double>(filter.bytes()), planned) << n;
    if (n >= 100'000) {
      EXPECT_LE(filter.bits_per_key(), 9.5 / 8 * TypeParam::kFingerprintBits) << n;
    }
  }
}

// The queryable contract suite covers keys of every type and layout; this is about one filter.
TEST(FuseFilterKeysTest, NullsAreNotKeysAndBothTypesAreRecorded) {
  const std::vector<uint64_t> integers = RandomKeys(100, 1);
  const std::vector<std::string> strings = RandomStrings(100, 1);
  const std::vector<uint8_t> every_other(13, 0x55);
  const AnyFilter filter =
      BuildFilter(FilterKind::kFuse32, [&](const std::function<void(Keys)>& visit) {
        visit(Keys(integers).WithValidity(every_other.data()));
        visit(strings);
        visit(Keys());
      });
  EXPECT_EQ(filter->Count(integers), 50u);
  EXPECT_EQ(filter->Count(strings), strings.size());
  EXPECT_TRUE(filter->key_types().Has(KeyType::kInteger));
  EXPECT_TRUE(filter->key_types().Has(KeyType::kBytes));
  EXPECT_FALSE(filter->key_types().Has(KeyType::kUnknown));
}

TEST(FuseFilterKeysTest, KeyedHashesWork) {
  const TemporaryFolder folder;
  const HashSpec hash{HashKind::kSipHash13, 0, {1, 2}};
  const std::vector<uint64_t> keys = RandomKeys(10'000, 1);
  const auto filter = FuseFilter<16>::From(keys, {.hash = hash});
  filter.Save(folder / "f");
  EXPECT_EQ(FuseFilter<16>::Load(folder / "f", {.secret = hash.secret}).Count(keys), keys.size());
  ExpectError([&] { Load(folder / "f"); }, ErrorCode::kSecret, "");
}

// In a very large set, a list contains several shards. Here, few lists have the same effect.
TEST(FuseFilterKeysTest, ListsOfSeveralShardsGiveTheSameBytes) {
  std::vector<uint64_t> keys = RandomKeys(6 * kShardKeys, 1);
  const auto filter = FuseFilter<8>::From(keys);
  ASSERT_EQ(filter.geometry().shards(), 8u);
  keys.insert(keys.end(), keys.begin(), keys.begin() + 1000);
  for (const size_t n : {6 * kShardKeys, keys.size()}) {  // without copies, and with them
    for (const uint32_t log_lists : {0, 1, 3}) {
      detail::CallingThread alone;
      const HashSpec hash;
      detail::FuseBuilder builder(hash, *DefaultBackend().kernels, alone, log_lists);
      for (const Keys& some : Keys(keys).Slice(0, n).Chunks(100'000)) builder.Add(some);
      const detail::BuiltFuse built = builder.Build<8>({});
      EXPECT_EQ(built.keys, 6 * kShardKeys);
      EXPECT_TRUE(
          SameBytes(filter.payload(), std::span(built.storage.data(), built.storage.size())));
    }
  }
}

TEST(FuseFilterKeysTest, HardlyAnyDifferentKeys) {
  const std::vector<uint64_t> ten = RandomKeys(10, 1);
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < 1'000'000; ++i) keys.push_back(ten[i % 10]);
  const auto filter = BuildOn<FuseFilter<8>>(2, keys);
  EXPECT_EQ(filter.inserted_count(), 10u);
  EXPECT_TRUE(SameBytes(filter.payload(), FuseFilter<8>::From(ten).payload()));
  const std::vector<uint64_t> equal(700'000, 42);
  EXPECT_TRUE(SameBytes(FuseFilter<8>::From(equal).payload(),
                        FuseFilter<8>::From(std::vector<uint64_t>{42}).payload()));
}

// Returns the inverse of an odd number modulo 2^64, by Newton's method.
uint64_t Inverse(uint64_t odd) {
  uint64_t inverse = odd;
  for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

// Returns pairs of hashes that have the same three slots under the multiplier of each attempt: they
// differ in a bit of the product that no slot depends on.
std::vector<uint64_t> PreparedHashes(uint32_t attempts) {
  std::vector<uint64_t> hashes;
  for (uint32_t i = 0; i < attempts; ++i) {
    const uint64_t inverse = Inverse(fuse::Multiplier(i));
    const uint64_t product = Mix(i);
    hashes.push_back(product * inverse);
    hashes.push_back((product ^ uint64_t{1} << 15) * inverse);
  }
  return hashes;
}

TEST(FuseFilterPreparedTest, EveryAttemptCanFail) {
  for (uint32_t attempts = 0; attempts < 32; ++attempts) {
    std::vector<uint64_t> hashes = PreparedHashes(attempts);
    const std::vector<uint64_t> more = RandomKeys(500, attempts);
    hashes.insert(hashes.end(), more.begin(), more.end());
    const auto filter = FuseFilter<16>::From(Hashes{hashes});
    EXPECT_EQ(filter.Count(Hashes{hashes}), hashes.size()) << attempts;
    uint64_t multiplier;
    std::memcpy(&multiplier, filter.payload().data() + filter.bytes() - 8, 8);
    for (uint32_t i = 0; i < attempts; ++i) EXPECT_NE(multiplier, fuse::Multiplier(i));
  }
}

TEST(FuseFilterPreparedTest, EndsInAnErrorIfAllAttemptsDo) {
  const std::vector<uint64_t> hashes = PreparedHashes(32);
  ExpectError([&] { FuseFilter<8>::From(Hashes{hashes}); }, ErrorCode::kInvalidArgument,
              "a keyed hash");
}

// Hashes that need a larger geometry, with copies elsewhere and without.
TEST(FuseFilterPreparedTest, HasTheSameBytesForTheSameSetWhereItGrows) {
  std::vector<uint64_t> hashes = RandomKeys(2 * kShardKeys, 1);
  for (size_t i = 0; i < kShardKeys / 10; ++i) hashes[i] >>= 1;  // into the first shard
  const auto filter = FuseFilter<8>::From(Hashes{hashes});
  EXPECT_GT(filter.bytes(), FilterBytes(FilterKind::kFuse8, hashes.size(), 0.5));
  const size_t n = hashes.size();
  for (size_t i = 0; i < n; ++i) {
    if (hashes[i] >> 63 != 0) hashes.push_back(hashes[i]);  // only of the second shard
  }
  for (const unsigned threads : {1, 2, 4}) {
    const Engine engine({.threads = threads});
    const auto with_copies = Build<FuseFilter<8>>(
        [&](const std::function<void(Keys)>& visit) { visit(Hashes{hashes}); }, {}, &engine);
    EXPECT_TRUE(SameBytes(filter.payload(), with_copies.payload())) << threads;
  }
}

TEST(FuseFilterPreparedTest, HashesThatAreNotUniformAreRefused) {
  std::vector<uint64_t> hashes = RandomKeys(2 * kShardKeys, 1);
  for (uint64_t& hash : hashes) hash >>= 20;
  ExpectError([&] { FuseFilter<8>::From(Hashes{hashes}); }, ErrorCode::kInvalidArgument,
              "not uniform");
  // A shard that gets slightly too many hashes is built with a larger geometry.
  hashes = RandomKeys(2 * kShardKeys, 1);
  for (size_t i = 0; i < kShardKeys / 10; ++i) hashes[i] >>= 1;
  const auto grown = FuseFilter<8>::From(Hashes{hashes});
  EXPECT_EQ(grown.Count(Hashes{hashes}), hashes.size());
  // If there is one shard, it takes the hashes as they are.
  hashes.resize(10'000);
  EXPECT_EQ(FuseFilter<8>::From(Hashes{hashes}).Count(Hashes{hashes}), hashes.size());
}

struct FuseRecipe {
  const char* name;
  FilterKind kind;
  HashSpec hash;
  std::vector<uint64_t> integers;
  std::vector<std::string> strings;
  bool only_read = false;
};

// See tests/golden/README.md.
TEST(FuseFilterGoldenTest, FilesAreReadAndWritten) {
  const auto integers = [](uint64_t n) {
    std::vector<uint64_t> keys(n);
    for (uint64_t i = 0; i < n; ++i) keys[i] = i * 0x9E3779B97F4A7C15;
    return keys;
  };
  std::vector<std::string> strings(300);
  for (size_t m = 0; m < strings.size(); ++m) {
    for (size_t i = 0; i < m; ++i) strings[m].push_back(static_cast<char>((m + i) % 256));
  }
  const HashSecret secret{0x0706050403020100, 0x0F0E0D0C0B0A0908};
  const FuseRecipe recipes[] = {
      {"fuse8_v2_empty", FilterKind::kFuse8, {}, {}, {}},
      {"fuse8_v2_integers", FilterKind::kFuse8, {}, integers(1000), {}},
      {"fuse8_v2_shards", FilterKind::kFuse8, {HashKind::kXxh3, 7}, integers(1000), {}, true},
      {"fuse12_v2_strings", FilterKind::kFuse12, {HashKind::kXxh64, 42}, {}, strings},
      {"fuse16_v2_siphash13",
       FilterKind::kFuse16,
       {HashKind::kSipHash13, 0, secret},
       integers(300),
       {}},
      {"fuse32_v2_one_key",
       FilterKind::kFuse32,
       {HashKind::kXxh3, 0x0123456789ABCDEF},
       integers(1),
       {}},
  };
  const TemporaryFolder folder;
  for (const FuseRecipe& recipe : recipes) {
    SCOPED_TRACE(recipe.name);
    const std::filesystem::path path = GoldenPath(recipe.name);
    const AnyFilter golden = Load(path);
    EXPECT_EQ(golden->kind(), recipe.kind);
    for (const Backend& backend : Backends()) {
      golden->set_backend(backend);
      EXPECT_EQ(golden->Count(recipe.integers), recipe.integers.size());
      EXPECT_EQ(golden->Count(recipe.strings), recipe.strings.size());
    }
    golden->Save(folder / "again");
    EXPECT_EQ(ReadBytes(folder / "again"), ReadBytes(path));
    if (recipe.only_read) continue;
    const AnyFilter built = BuildFilter(recipe.kind,
                                        [&](const std::function<void(Keys)>& visit) {
                                          visit(recipe.integers);
                                          visit(recipe.strings);
                                        },
                                        {.hash = recipe.hash});
    built->Save(folder / "built", {.with_secret = IsKeyed(recipe.hash.kind)});
    EXPECT_EQ(ReadBytes(folder / "built"), ReadBytes(path));
  }
}

}  // namespace tamis::fuse_filter_test
