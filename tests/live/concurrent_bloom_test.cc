// For one thread, a concurrent filter behaves like the filter that it wraps: the same bits, files
// and answers. concurrent_bloom_threads_test.cc tests concurrent threads.
#include "tamis/live/concurrent_bloom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/any_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/core/file_test_util.h"
#include "tests/live/concurrent_types.h"
#include "tests/test_util.h"

namespace tamis::concurrent_bloom_test {

template <typename F>
class ConcurrentBloomTest : public testing::Test {
 protected:
  using Concurrent = ConcurrentBloom<F>;

  static std::vector<std::byte> Bits(const F& filter) {
    const std::span<const std::byte> payload = filter.payload();
    return {payload.begin(), payload.end()};
  }
  static void ExpectEqual(const F& plain, const Concurrent& concurrent) {
    EXPECT_TRUE(Bits(plain) == Bits(concurrent.filter()));
    EXPECT_EQ(plain.inserted_count(), concurrent.inserted_count());
    EXPECT_EQ(plain.key_types(), concurrent.key_types());
  }
};

TYPED_TEST_SUITE(ConcurrentBloomTest, BloomTypes, BloomTypeName);

// Numbers of keys and bytes for which bits are set directly, or collected in a copy of the filter,
// or in copies of regions.
struct Load {
  size_t keys;
  uint64_t bytes;
};
constexpr Load kLoads[] = {{0, 1000},
                           {1, 64},
                           {63, 64},
                           {65, 4096},
                           {1000, 100'000},
                           {5000, 100'000},
                           {70'001, (9 << 20) - 32},
                           {200'000, (9 << 20) - 32}};

TYPED_TEST(ConcurrentBloomTest, HasTheBitsOfThePlainFilterOnEveryBackend) {
  for (const Backend& backend : Backends()) {
    if (backend.kernels == nullptr) continue;
    for (const Load& load : kLoads) {
      SCOPED_TRACE(std::string(backend.name) + ", " + std::to_string(load.keys));
      const FilterOptions options = {.capacity = 1000, .bytes = load.bytes, .backend = &backend};
      TypeParam plain(options);
      typename TestFixture::Concurrent concurrent(options);
      const std::vector<uint64_t> keys = RandomKeys(load.keys, 1);
      EXPECT_EQ(plain.Insert(keys), concurrent.Insert(keys));
      this->ExpectEqual(plain, concurrent);
    }
  }
}

TYPED_TEST(ConcurrentBloomTest, TakesEveryFormOfKeys) {
  constexpr size_t kKeys = 3000;
  const std::vector<uint64_t> integers = RandomKeys(kKeys, 2);
  const std::vector<std::string> strings = RandomStrings(kKeys, 3);
  const std::vector<std::string_view> views(strings.begin(), strings.end());
  std::vector<uint8_t> validity(kKeys / 8 + 2);
  Random random(4);
  for (uint8_t& byte : validity) byte = static_cast<uint8_t>(random());
  const Keys forms[] = {integers, Hashes{integers}, views,
                        Keys(integers).WithValidity(validity.data(), 3),
                        Keys(views).WithValidity(validity.data(), 5)};
  for (const HashKind kind : kHashKinds) {
    for (const Keys& keys : forms) {
      const FilterOptions options = {.capacity = kKeys, .hash = HashOf(kind, 5)};
      TypeParam plain(options);
      typename TestFixture::Concurrent bulk(options), fresh(options);
      const size_t inserted = plain.Insert(keys);
      EXPECT_EQ(bulk.Insert(keys), inserted);
      this->ExpectEqual(plain, bulk);

      TypeParam plain_fresh(options);
      std::vector<uint64_t> want(BitmapWords(kKeys)), bits(want.size(), ~uint64_t{0});
      EXPECT_EQ(fresh.InsertIfAbsent(keys, Bitmap(bits)),
                plain_fresh.InsertIfAbsent(keys, Bitmap(want)));
      EXPECT_EQ(bits, want);
      this->ExpectEqual(plain_fresh, fresh);
      EXPECT_EQ(bulk.Count(keys), inserted);
    }
  }
}

TYPED_TEST(ConcurrentBloomTest, TakesOneKey) {
  const FilterOptions options = {.capacity = 5000};
  TypeParam plain(options);
  typename TestFixture::Concurrent concurrent(options);
  const std::vector<uint64_t> keys = RandomKeys(1000, 6);
  const std::vector<std::string> strings = RandomStrings(1000, 7);
  for (const uint64_t key : keys) {
    plain.Insert(key);
    concurrent.Insert(key);
    EXPECT_TRUE(concurrent.Contains(key));
  }
  for (const std::string& key : strings) {
    plain.Insert(std::string_view(key));
    concurrent.Insert(std::string_view(key));
    EXPECT_TRUE(concurrent.Contains(std::string_view(key)));
  }
  plain.InsertHash(keys[0] + 1);
  concurrent.InsertHash(keys[0] + 1);
  EXPECT_TRUE(concurrent.ContainsHash(keys[0] + 1));
  this->ExpectEqual(plain, concurrent);
}

TYPED_TEST(ConcurrentBloomTest, NamesTheNullsThatItDoesNotInsert) {
  typename TestFixture::Concurrent concurrent({.capacity = 100});
  const std::vector<uint64_t> numbers = RandomKeys(20, 6);
  const std::vector<uint8_t> validity = {0xF7, 0xFF, 0x0E};  // all except 3 and 16
  std::vector<uint64_t> rejected(20);
  EXPECT_EQ(concurrent.Insert(Keys(numbers).WithValidity(validity.data(), 0), rejected), 18u);
  EXPECT_EQ(rejected[0], 3u);
  EXPECT_EQ(rejected[1], 16u);
  EXPECT_EQ(concurrent.inserted_count(), 18u);
  EXPECT_FALSE(concurrent.change_traits().erases);
}

// Compares with a plain filter that is queried before each insertion. Only the first of equal keys
// is new and counted, in a batch and one by one.
TYPED_TEST(ConcurrentBloomTest, TellsWhichKeysAreNew) {
  Random random(8);
  for (const size_t n : {size_t{1}, size_t{64}, size_t{65}, size_t{2047}, size_t{5000}}) {
    std::vector<uint64_t> keys(n);
    for (uint64_t& key : keys) key = random.Below(n);
    const uint8_t validity_byte = 0b1011'0110;
    const std::vector<uint8_t> validity(n / 8 + 2, validity_byte);
    for (const bool nulls : {false, true}) {
      const FilterOptions options = {.capacity = n, .fpr = 0.05};
      TypeParam plain(options);
      typename TestFixture::Concurrent batch(options), single(options);
      const Keys all = nulls ? Keys(keys).WithValidity(validity.data(), 1) : Keys(keys);
      std::vector<uint64_t> fresh(BitmapWords(n), ~uint64_t{0});
      const size_t num_fresh = batch.InsertIfAbsent(all, Bitmap(fresh));
      size_t expected = 0;
      for (size_t i = 0; i < n; ++i) {
        const bool is_new = all.IsValid(i) && !plain.Contains(keys[i]);
        expected += is_new;
        ASSERT_EQ((fresh[i / 64] >> (i % 64)) & 1, is_new) << i;
        if (!all.IsValid(i)) continue;
        if (is_new) plain.Insert(keys[i]);
        ASSERT_EQ(single.InsertIfAbsent(keys[i]), is_new);
      }
      EXPECT_EQ(num_fresh, expected);
      if (n % 64 != 0) {
        EXPECT_EQ(fresh.back() >> (n % 64), 0);
      }
      this->ExpectEqual(plain, batch);
      this->ExpectEqual(plain, single);
    }
  }
  typename TestFixture::Concurrent filter({.capacity = 100});
  EXPECT_TRUE(filter.InsertIfAbsent("a"));
  EXPECT_FALSE(filter.InsertIfAbsent("a"));
  EXPECT_TRUE(filter.InsertHashIfAbsent(1));
  EXPECT_FALSE(filter.InsertHashIfAbsent(1));
}

TYPED_TEST(ConcurrentBloomTest, RefusesAnOutputThatIsTooSmall) {
  typename TestFixture::Concurrent filter({.capacity = 100});
  const std::vector<uint64_t> keys = RandomKeys(65, 9);
  std::vector<uint64_t> word(1);
  EXPECT_THROW(filter.InsertIfAbsent(keys, Bitmap(word)), Error);
  EXPECT_THROW(filter.Contains(keys, Bitmap(word)), Error);
  EXPECT_EQ(filter.inserted_count(), 0);
  EXPECT_EQ(filter.estimated_count(), 0);
}

TYPED_TEST(ConcurrentBloomTest, TakesAFilterOverAndGivesItBackWithoutACopy) {
  TypeParam plain({.capacity = 1000});
  plain.Insert(uint64_t{1});
  const std::byte* const bits = plain.payload().data();
  typename TestFixture::Concurrent concurrent(std::move(plain));
  concurrent.Insert("two");
  EXPECT_EQ(concurrent.inserted_count(), 2);

  typename TestFixture::Concurrent moved(std::move(concurrent)), assigned({.capacity = 1});
  assigned = std::move(moved);
  for (auto* const empty : {&concurrent, &moved}) {
    EXPECT_EQ(empty->inserted_count(), 0);
    EXPECT_TRUE(empty->moved_from());
    const auto expect_read_only = [](const auto& act) {
      ExpectError(act, ErrorCode::kReadOnly, "was moved from");
    };
    std::vector<uint64_t> fresh(1);
    expect_read_only([&] { empty->Insert(RandomKeys(10, 10)); });
    expect_read_only([&] { empty->InsertIfAbsent(RandomKeys(10, 10), Bitmap(fresh)); });
    EXPECT_FALSE(empty->Insert(uint64_t{5}));
    EXPECT_FALSE(empty->InsertIfAbsent(uint64_t{5}));
    EXPECT_FALSE(empty->Contains(uint64_t{5}));
    EXPECT_EQ(empty->inserted_count(), 0);
    EXPECT_EQ(empty->key_types(), KeyTypes());
    EXPECT_THROW(empty->Clear(), Error);
    EXPECT_THROW(empty->Snapshot(), Error);
    EXPECT_THROW(empty->Merge(assigned), Error);
  }

  EXPECT_FALSE(assigned.moved_from());
  const TypeParam back = std::move(assigned).Release();
  EXPECT_EQ(back.payload().data(), bits);
  EXPECT_EQ(back.inserted_count(), 2);
  EXPECT_TRUE(back.key_types().Has(KeyType::kBytes));
  EXPECT_TRUE(back.key_types().Has(KeyType::kInteger));
  EXPECT_TRUE(back.Contains(uint64_t{1}) && back.Contains("two"));
  EXPECT_FALSE(back.read_only());
}

TYPED_TEST(ConcurrentBloomTest, IsSavedAsThePlainFilter) {
  const TemporaryFolder folder;
  TypeParam plain({.capacity = 1000});
  typename TestFixture::Concurrent concurrent({.capacity = 1000});
  const std::vector<uint64_t> keys = RandomKeys(1000, 11);
  plain.Insert(keys);
  concurrent.Insert(keys);
  plain.Save(folder / "plain");
  concurrent.Save(folder / "concurrent");
  EXPECT_EQ(ReadBytes(folder / "plain"), ReadBytes(folder / "concurrent"));

  auto loaded = TestFixture::Concurrent::Load(folder / "plain");
  this->ExpectEqual(plain, loaded);
  loaded.Insert(uint64_t{1});
  EXPECT_THROW(typename TestFixture::Concurrent(TypeParam::Map(folder / "plain")), Error);
  EXPECT_TRUE(tamis::Load(folder / "concurrent")->Contains(keys[0]));
}

TYPED_TEST(ConcurrentBloomTest, Merges) {
  const FilterOptions options = {.capacity = 1000};
  TypeParam plain(options), other(options);
  typename TestFixture::Concurrent concurrent(options), second(options);
  const std::vector<uint64_t> a = RandomKeys(300, 12), b = RandomKeys(300, 13);
  const std::vector<std::string> c = RandomStrings(300, 14);
  plain.Insert(a);
  concurrent.Insert(a);
  other.Insert(b);
  second.Insert(c);
  concurrent.Merge(other);
  concurrent.Merge(second);
  plain.Merge(other);
  plain.Insert(c);
  this->ExpectEqual(plain, concurrent);
  EXPECT_THROW(concurrent.Merge(TypeParam({.capacity = 50'000})), Error);
  EXPECT_THROW(concurrent.Merge(TypeParam({.capacity = 1000, .hash = {HashKind::kXxh64, 0}})),
               Error);
  this->ExpectEqual(plain, concurrent);

  concurrent.Clear();
  this->ExpectEqual(TypeParam(options), concurrent);
}

TYPED_TEST(ConcurrentBloomTest, AnEngineAsksIt) {
  typename TestFixture::Concurrent filter({.capacity = 20'000});
  const std::vector<uint64_t> keys = RandomKeys(20'000, 15);
  filter.Insert(keys);
  EXPECT_EQ(Engine({.threads = 2}).Count(filter.filter(), keys), keys.size());
}

}  // namespace tamis::concurrent_bloom_test
