#include "tamis/formats/dcso.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/foreign_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/dcso_test_keys.h"
#include "tests/test_util.h"

namespace tamis::dcso_test {

// A model that follows the definition bit by bit, with divisions.
class Model {
 public:
  explicit Model(const DcsoBloomFilter& like)
      : bits_(like.num_bits()), num_hashes_(like.num_hashes()) {}

  static std::vector<uint64_t> BitsOf(std::string_view key, uint64_t num_bits, uint32_t hashes) {
    constexpr uint64_t kModulus = 18446744073709551557u;
    uint64_t hash = 14695981039346656037u;
    for (const char c : key) hash = (hash * 1099511628211) ^ static_cast<unsigned char>(c);
    hash %= kModulus;
    std::vector<uint64_t> bits;
    for (uint32_t i = 0; i < hashes; ++i) {
      hash = hash * 18446744073709550147u % kModulus;
      bits.push_back(hash % num_bits);
    }
    return bits;
  }
  bool Insert(std::string_view key) {
    bool changed = false;
    for (const uint64_t bit : BitsOf(key, bits_.size(), num_hashes_)) {
      changed |= !bits_[bit];
      bits_[bit] = true;
    }
    inserted_ += changed;
    return changed;
  }
  bool Contains(std::string_view key) const {
    for (const uint64_t bit : BitsOf(key, bits_.size(), num_hashes_)) {
      if (!bits_[bit]) return false;
    }
    return true;
  }
  void ExpectEqual(const DcsoBloomFilter& filter) const {
    uint64_t set = 0;
    for (uint64_t bit = 0; bit < bits_.size(); ++bit) {
      ASSERT_EQ((filter.words()[bit / 64] >> (bit % 64)) & 1, bits_[bit]) << bit;
      set += bits_[bit];
    }
    EXPECT_EQ(filter.inserted_count(), inserted_);
    const double share = static_cast<double>(set) / static_cast<double>(bits_.size());
    EXPECT_DOUBLE_EQ(filter.expected_fpr(), std::pow(share, num_hashes_));
  }

 private:
  std::vector<bool> bits_;
  uint32_t num_hashes_;
  uint64_t inserted_ = 0;
};

// Bits that the test of DCSO's Go library expects.
TEST(DcsoTest, BitsOfGo) {
  const std::vector<uint64_t> want = {20311, 36825, 412501, 835777, 658914, 853361, 307361};
  EXPECT_EQ(Model::BitsOf("bar", 958505, 7), want);
}

TEST(DcsoTest, IsTheModel) {
  Random random(7);
  for (int round = 0; round < 30; ++round) {
    DcsoBloomFilter filter({.capacity = 1 + random.Below(3000),
                            .fpr = random.Below(4) == 0 ? 1e-100 : 0.4 * random.Unit() + 1e-9});
    Model model(filter);
    const std::vector<std::string> keys = RandomStrings(random.Below(1500), random());
    const size_t single = random.Below(keys.size() + 1) / 4;
    for (size_t i = 0; i < single; ++i) {
      ASSERT_EQ(filter.Insert(keys[i]), model.Insert(keys[i]));
    }
    // Some keys twice, and some null.
    std::vector<uint8_t> valid(keys.size() / 8 + 2);
    for (uint8_t& byte : valid) byte = static_cast<uint8_t>(random() | random());
    const Keys some = Keys(keys).WithValidity(valid.data(), 3);
    std::vector<uint64_t> fresh(BitmapWords(keys.size()));
    filter.InsertIfAbsent(some, Bitmap(fresh));
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(Bitmap(fresh).Test(i), some.IsValid(i) && model.Insert(keys[i])) << i;
    }
    model.ExpectEqual(filter);
    std::vector<std::string> others = RandomStrings(1000, random());
    others.insert(others.end(), keys.begin(), keys.end());
    std::vector<uint64_t> bits(BitmapWords(others.size()));
    filter.Contains(others, Bitmap(bits));
    for (size_t i = 0; i < others.size(); ++i) {
      ASSERT_EQ(Bitmap(bits).Test(i), model.Contains(others[i]));
      ASSERT_EQ(filter.Contains(others[i]), model.Contains(others[i]));
    }
    filter.Clear();
    Model(filter).ExpectEqual(filter);
  }
}

// Every layout of strings: the same hash for the same bytes.
TEST(DcsoTest, LayoutsOfStrings) {
  for (const size_t n : TestSizes()) {
    std::string bytes;
    std::vector<int32_t> offsets = {0};
    std::vector<std::string> all = DcsoTestKeys(n);
    DcsoBloomFilter filter({.capacity = 100});
    for (size_t i = 0; i < n; ++i) {
      bytes += all[i];
      offsets.push_back(static_cast<int32_t>(bytes.size()));
      if (i % 3 == 0) filter.Insert(all[i]);
    }
    const std::vector<std::string_view> views(all.begin(), all.end());
    const size_t want = filter.Count(all);
    EXPECT_GE(want, (n + 2) / 3);
    EXPECT_EQ(filter.Count(views), want);
    EXPECT_EQ(filter.Count(StringColumn{bytes.data(), offsets}), want);
    for (std::string& key : all) key.resize(8, 'x');
    std::string fixed;
    for (const std::string& key : all) fixed += key;
    filter.Insert(all);
    EXPECT_EQ(filter.Count(FixedColumn{fixed.data(), 8, n}), n);
  }
}

// Sizes that Initialize in Go printed.
TEST(DcsoTest, SizesOfGo) {
  const auto expect = [](uint64_t capacity, double fpr, uint64_t bits, uint32_t hashes) {
    const DcsoBloomFilter filter({.capacity = capacity, .fpr = fpr});
    EXPECT_EQ(filter.num_bits(), bits) << capacity << " at " << fpr;
    EXPECT_EQ(filter.num_hashes(), hashes) << capacity << " at " << fpr;
    EXPECT_EQ(filter.capacity(), capacity);
    EXPECT_EQ(filter.fpr(), fpr);
  };
  expect(1, 0.5, 1, 1);
  expect(1, 1e-300, 1437, 997);
  expect(2, 0.03, 14, 5);
  expect(10, 0.01, 95, 7);
  expect(1000, 0.5, 1442, 1);
  expect(1000, 0.001, 14377, 10);
  expect(100000, 0.001, 1437758, 10);
  expect(1000000, 1e-06, 28755175, 20);
  expect(12345678, 0.0123, 113014626, 7);
  expect(99999999, 0.1, 479252914, 4);
}

TEST(DcsoTest, WrongOptions_Throw) {
  const auto refused = [](const DcsoOptions& options, const char* text) {
    ExpectError([&] { const DcsoBloomFilter made(options); }, ErrorCode::kInvalidArgument, text);
  };
  refused({}, "0 keys");
  for (const double fpr : {0.0, -0.5, 1.0, 2.0, std::nan(""), HUGE_VAL}) {
    refused({.capacity = 10, .fpr = fpr}, "between 0 and 1");
  }
  refused({.capacity = 1, .fpr = 0.99}, "0 bits");
  refused({.capacity = uint64_t{1} << 50, .fpr = 0.01}, "9007199254740992 bits");
  refused({.capacity = ~uint64_t{0}}, "9007199254740992 bits");
  const DcsoBloomFilter smallest({.capacity = 1, .fpr = 5e-324});
  EXPECT_LE(smallest.num_hashes(), DcsoBloomFilter::kMaxHashes);
}

TEST(DcsoTest, KeysOfAnotherType_Throw) {
  DcsoBloomFilter filter({.capacity = 10});
  const std::vector<std::byte> before = filter.ToBytes();
  const std::vector<uint64_t> integers = {1, 2};
  std::vector<uint64_t> out(2);
  const auto refused = [](const auto& call) {
    ExpectError(call, ErrorCode::kInvalidArgument, "strings, and not integers or hashes");
  };
  refused([&] { filter.Count(integers); });
  refused([&] { filter.Insert(integers); });
  refused([&] { filter.Count(Hashes{integers}); });
  refused([&] { filter.InsertIfAbsent(Hashes{integers}, Bitmap(out)); });
  EXPECT_EQ(filter.Count(std::vector<uint64_t>()), 0u);
  EXPECT_EQ(filter.ToBytes(), before);
}

TEST(DcsoTest, Merge_IsTheUnion) {
  const DcsoOptions options = {.capacity = 1000, .fpr = 0.01};
  DcsoBloomFilter both(options), one(options), two(options);
  const std::vector<std::string> keys = RandomStrings(600, 5);
  const std::span all(keys);
  both.Insert(keys);
  one.Insert(all.first(400));
  two.Insert(all.last(300));
  const uint64_t sum = one.inserted_count() + two.inserted_count();
  one.Merge(two);
  EXPECT_TRUE(std::ranges::equal(one.words(), both.words()));
  EXPECT_EQ(one.inserted_count(), sum);
  one.Merge(one);
  EXPECT_EQ(one.inserted_count(), sum);
  const auto refused = [&](const DcsoOptions& other, const char* text) {
    ExpectError([&] { one.Merge(DcsoBloomFilter(other)); }, ErrorCode::kIncompatible, text);
  };
  refused({.capacity = 1001, .fpr = 0.01}, "capacities");
  refused({.capacity = 1000, .fpr = 0.02}, "requested rates cannot be merged: 0.01 and 0.02");
  refused({.capacity = 1000, .fpr = 1e-9}, "0.01 and 1e-09");
  EXPECT_TRUE(std::ranges::equal(one.words(), both.words()));
}

TEST(DcsoTest, MovedFrom_IsEmptyAndReadOnly) {
  DcsoBloomFilter from({.capacity = 10});
  from.Insert("key");
  from.SetFreeData(std::as_bytes(std::span("data")));
  DcsoBloomFilter to = std::move(from);
  EXPECT_TRUE(to.Contains("key"));
  EXPECT_EQ(to.free_data().size(), 5u);
  EXPECT_FALSE(from.Contains("key"));
  EXPECT_FALSE(from.Insert("key"));
  EXPECT_TRUE(from.free_data().empty());
  EXPECT_EQ(from.inserted_count(), 0u);
  ExpectError([&] { from.Clear(); }, ErrorCode::kReadOnly, "moved from");
  ExpectError([&] { from.SetFreeData({}); }, ErrorCode::kReadOnly, "moved from");
  ExpectError([&] { from.Insert(std::vector<std::string>{"key"}); }, ErrorCode::kReadOnly, "");
  from = std::move(to);
  EXPECT_TRUE(from.Contains("key"));
}

}  // namespace tamis::dcso_test
