// For one thread, a concurrent cuckoo filter behaves like the filter that it wraps.
#include "tamis/live/concurrent_cuckoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/error.h"
#include "tests/core/file_test_util.h"
#include "tests/live/concurrent_types.h"
#include "tests/test_util.h"

namespace tamis::concurrent_cuckoo_test {

template <typename Bits>
class ConcurrentCuckooTest : public testing::Test {
 protected:
  using Plain = CuckooFilter<Bits::value>;
  using Concurrent = ConcurrentCuckooFilter<Bits::value>;

  static void ExpectEqual(const Plain& plain, const Concurrent& concurrent) {
    const Plain snapshot = concurrent.Snapshot();
    EXPECT_TRUE(SameBytes(plain.payload(), snapshot.payload()));
    EXPECT_EQ(plain.inserted_count(), concurrent.inserted_count());
    EXPECT_EQ(plain.inserted_count(), snapshot.inserted_count());
    EXPECT_EQ(plain.key_types(), concurrent.key_types());
    EXPECT_EQ(plain.expected_fpr(), concurrent.expected_fpr());
  }
};

TYPED_TEST_SUITE(ConcurrentCuckooTest, CuckooTypes, CuckooTypeName);

// Inserts until the filter is full and rejects keys. 200,000 keys need several chunks.
TYPED_TEST(ConcurrentCuckooTest, HasTheContentsOfThePlainFilter) {
  for (const size_t capacity : {size_t{1}, size_t{100}, size_t{5000}, size_t{200'000}}) {
    typename TestFixture::Plain plain({.capacity = capacity});
    typename TestFixture::Concurrent concurrent({.capacity = capacity});
    const std::vector<uint64_t> keys = RandomKeys(plain.num_slots() + 10, capacity);
    std::vector<uint64_t> refused(keys.size()), also_refused(keys.size());
    const size_t inserted = plain.Insert(keys, refused);
    EXPECT_GT(keys.size(), inserted);
    EXPECT_EQ(concurrent.Insert(keys, also_refused), inserted);
    EXPECT_EQ(refused, also_refused);
    this->ExpectEqual(plain, concurrent);

    const auto half = std::span<const uint64_t>(keys).first(capacity / 2);
    EXPECT_EQ(plain.Erase(half), concurrent.Erase(half));
    EXPECT_EQ(plain.Erase(half, refused), concurrent.Erase(half, also_refused));
    EXPECT_EQ(refused, also_refused);
    this->ExpectEqual(plain, concurrent);

    std::vector<uint64_t> bits(BitmapWords(keys.size())), same_bits(bits);
    EXPECT_EQ(plain.Contains(keys, Bitmap(bits)), concurrent.Contains(keys, Bitmap(same_bits)));
    EXPECT_EQ(bits, same_bits);
  }
}

TYPED_TEST(ConcurrentCuckooTest, TakesOneKey) {
  typename TestFixture::Plain plain({.capacity = 3000});
  typename TestFixture::Concurrent concurrent({.capacity = 3000});
  for (const uint64_t key : RandomKeys(1000, 1)) {
    ASSERT_EQ(plain.Insert(key), concurrent.Insert(key));
    ASSERT_TRUE(concurrent.Contains(key));
  }
  for (const std::string& key : RandomStrings(1000, 2)) {
    ASSERT_EQ(plain.Insert(key), concurrent.Insert(key));
    ASSERT_TRUE(concurrent.Contains(key));
  }
  ASSERT_EQ(plain.InsertHash(5), concurrent.InsertHash(5));
  this->ExpectEqual(plain, concurrent);
  for (const uint64_t key : RandomKeys(1000, 1)) ASSERT_EQ(plain.Erase(key), concurrent.Erase(key));
  for (const std::string& key : RandomStrings(1000, 2)) {
    ASSERT_EQ(plain.Erase(key), concurrent.Erase(key));
  }
  ASSERT_EQ(plain.EraseHash(5), concurrent.EraseHash(5));
  ASSERT_FALSE(concurrent.EraseHash(5));
  this->ExpectEqual(plain, concurrent);
  EXPECT_EQ(concurrent.inserted_count(), 0);
  EXPECT_EQ(concurrent.repeated_looks(), 0);
}

// In bulk and key by key, like the plain filter, until it is full.
TYPED_TEST(ConcurrentCuckooTest, InsertsAbsentKeys) {
  for (const size_t capacity : {size_t{1}, size_t{3000}, size_t{200'000}}) {
    typename TestFixture::Plain plain({.capacity = capacity});
    typename TestFixture::Concurrent bulk({.capacity = capacity}), single({.capacity = capacity});
    Random random(capacity);
    std::vector<uint64_t> keys(2 * plain.num_slots() + 100);
    for (uint64_t& key : keys) key = random.Below(plain.num_slots() * 5 / 4);
    const Keys all(keys);
    const size_t words = BitmapWords(keys.size());
    std::vector<uint64_t> fresh(words, 1), refused(words, 2), also_fresh(words, 3),
        also_refused(words, 4);
    const size_t inserted = plain.InsertIfAbsent(all, Bitmap(fresh), Bitmap(refused));
    EXPECT_EQ(bulk.InsertIfAbsent(all, Bitmap(also_fresh), Bitmap(also_refused)), inserted);
    EXPECT_EQ(fresh, also_fresh);
    EXPECT_EQ(refused, also_refused);
    EXPECT_TRUE(std::ranges::any_of(refused, [](uint64_t word) { return word != 0; }));
    this->ExpectEqual(plain, bulk);
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(single.InsertIfAbsent(keys[i]), (fresh[i / 64] >> (i % 64) & 1) != 0) << i;
    }
    this->ExpectEqual(plain, single);
    EXPECT_EQ(bulk.InsertIfAbsent(all, Bitmap(also_fresh)), 0);
    std::vector<uint64_t> small(words - 1, 9);
    EXPECT_THROW(bulk.InsertIfAbsent(all, Bitmap(small)), Error);
    EXPECT_EQ(small.front(), 9);
  }
  typename TestFixture::Concurrent strings({.capacity = 10});
  EXPECT_TRUE(strings.InsertIfAbsent("a"));
  EXPECT_FALSE(strings.InsertIfAbsent("a"));
  EXPECT_FALSE(strings.InsertHashIfAbsent(HashBytes("a", strings.hash())));
  EXPECT_EQ(strings.inserted_count(), 1);
}

TYPED_TEST(ConcurrentCuckooTest, NullsAreNotKeys) {
  constexpr size_t kKeys = 1500;
  const std::vector<uint64_t> keys = RandomKeys(kKeys, 3);
  const std::vector<uint8_t> validity(kKeys / 8 + 2, 0b0101'1011);
  const Keys with_nulls = Keys(keys).WithValidity(validity.data(), 3);
  typename TestFixture::Plain plain({.capacity = kKeys});
  typename TestFixture::Concurrent concurrent({.capacity = kKeys});
  std::vector<uint64_t> refused(kKeys), also_refused(kKeys);
  EXPECT_EQ(plain.Insert(with_nulls, refused), concurrent.Insert(with_nulls, also_refused));
  EXPECT_EQ(refused, also_refused);
  this->ExpectEqual(plain, concurrent);
  EXPECT_EQ(plain.Count(with_nulls), concurrent.Count(with_nulls));
  std::vector<uint8_t> bytes(kKeys);
  std::vector<uint32_t> rows(kKeys);
  std::vector<uint64_t> wide_rows(kKeys);
  const size_t found = concurrent.Count(with_nulls);
  EXPECT_EQ(concurrent.Contains(with_nulls, bytes), found);
  EXPECT_EQ(concurrent.Select(with_nulls, rows), found);
  EXPECT_EQ(concurrent.Select(with_nulls, wide_rows), found);
  EXPECT_EQ(plain.Erase(with_nulls), concurrent.Erase(with_nulls));
  this->ExpectEqual(plain, concurrent);
  std::vector<uint64_t> fresh(BitmapWords(kKeys)), also_fresh(fresh);
  EXPECT_EQ(plain.InsertIfAbsent(with_nulls, Bitmap(fresh)),
            concurrent.InsertIfAbsent(with_nulls, Bitmap(also_fresh)));
  EXPECT_EQ(fresh, also_fresh);
  this->ExpectEqual(plain, concurrent);

  std::vector<uint64_t> too_small(1);
  EXPECT_THROW(concurrent.Insert(keys, too_small), Error);
  EXPECT_THROW(concurrent.Erase(keys, too_small), Error);
  EXPECT_THROW(concurrent.Select(keys, too_small), Error);
  this->ExpectEqual(plain, concurrent);
}

TYPED_TEST(ConcurrentCuckooTest, TakesAFilterOverAndGivesItBackWithoutACopy) {
  typename TestFixture::Plain plain({.capacity = 1000});
  plain.Insert(uint64_t{1});
  const std::byte* const bits = plain.payload().data();
  typename TestFixture::Concurrent concurrent(std::move(plain));
  EXPECT_TRUE(concurrent.Insert("two"));

  typename TestFixture::Concurrent moved(std::move(concurrent)), assigned({.capacity = 1});
  assigned = std::move(moved);
  for (auto* const empty : {&concurrent, &moved}) {
    const std::vector<uint64_t> keys = RandomKeys(10, 4);
    std::vector<uint64_t> words(10, 7);
    const std::vector<uint64_t> before = words;
    EXPECT_EQ(empty->inserted_count(), 0);
    EXPECT_THROW(empty->Insert(keys), Error);
    EXPECT_THROW(empty->Insert(keys, words), Error);
    EXPECT_THROW(empty->InsertIfAbsent(keys, Bitmap(words)), Error);
    EXPECT_THROW(empty->Erase(keys, words), Error);
    EXPECT_EQ(words, before);
    EXPECT_FALSE(empty->Insert(uint64_t{5}));
    EXPECT_FALSE(empty->InsertIfAbsent(uint64_t{5}));
    EXPECT_FALSE(empty->Erase(uint64_t{5}));
    EXPECT_FALSE(empty->Contains(uint64_t{5}));
    EXPECT_EQ(empty->Count(keys), 0);
    EXPECT_THROW(empty->Clear(), Error);
    EXPECT_THROW(empty->Snapshot(), Error);
    EXPECT_TRUE(empty->moved_from());
  }

  const auto back = std::move(assigned).Release();
  EXPECT_EQ(back.payload().data(), bits);
  EXPECT_EQ(back.inserted_count(), 2);
  EXPECT_TRUE(back.Contains(uint64_t{1}) && back.Contains("two"));
}

TYPED_TEST(ConcurrentCuckooTest, IsSavedAsThePlainFilter) {
  const TemporaryFolder folder;
  typename TestFixture::Plain plain({.capacity = 1000});
  typename TestFixture::Concurrent concurrent({.capacity = 1000});
  const std::vector<uint64_t> keys = RandomKeys(1000, 5);
  plain.Insert(keys);
  concurrent.Insert(keys);
  plain.Save(folder / "plain");
  concurrent.Save(folder / "concurrent");
  EXPECT_EQ(ReadBytes(folder / "plain"), ReadBytes(folder / "concurrent"));
  auto loaded = TestFixture::Concurrent::Load(folder / "plain");
  this->ExpectEqual(plain, loaded);
  auto mapped = TestFixture::Plain::Map(folder / "plain");
  EXPECT_THROW(typename TestFixture::Concurrent(std::move(mapped)), Error);
  loaded.Clear();
  EXPECT_EQ(loaded.Count(keys), 0);
  EXPECT_EQ(loaded.inserted_count(), 0);
}

}  // namespace tamis::concurrent_cuckoo_test
