// Bulk functions of a filter: every form of keys and every output says what the one-key functions
// say, for every backend, and no output is written past its end.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tamis/split_block_filter.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

// Around the words of a bitmap, and around the batches that the bulk functions cut keys into.
constexpr size_t kSizes[] = {0,   1,   7,    63,   64,   65,   127,  128,  129,
                             255, 256, 1000, 2047, 2048, 2049, 4095, 4096, 5000};

// Keys of every form that hold the same set by construction, and what one of them is.
struct KeySet {
  const char* name;
  Keys keys;
  std::function<bool(const SplitBlockBloomFilter&, size_t)> contains;
  std::function<void(SplitBlockBloomFilter&, size_t)> insert;
};

// n keys of every form; `keys` refers to the vectors beside it.
class AllForms {
 public:
  AllForms(size_t n, uint64_t seed)
      : u64_(RandomKeys(n, seed)), strings_(RandomStrings(n, seed)), bytes_("??") {
    offsets_.push_back(2);
    for (size_t i = 0; i < n; ++i) {
      i64_.push_back(static_cast<int64_t>(u64_[i]));
      u32_.push_back(static_cast<uint32_t>(u64_[i]));
      i32_.push_back(static_cast<int32_t>(u32_[i]));
      bytes_ += strings_[i];
      offsets_.push_back(static_cast<int32_t>(bytes_.size()));
    }
    large_offsets_.assign(offsets_.begin(), offsets_.end());
    views_.assign(strings_.begin(), strings_.end());
    AddSet("u64", u64_, u64_);
    AddSet("i64", i64_, i64_);
    AddSet("u32", u32_, u32_);
    AddSet("i32", i32_, i32_);
    AddSet("string views", views_, views_);
    AddSet("column", StringColumn{bytes_.data(), offsets_}, views_);
    AddSet("large column", LargeStringColumn{bytes_.data(), large_offsets_}, views_);
    sets_.push_back({"hashes", Hashes{u64_},
                     [this](const SplitBlockBloomFilter& filter, size_t i) {
                       return filter.ContainsHash(u64_[i]);
                     },
                     [this](SplitBlockBloomFilter& filter, size_t i) {
                       EXPECT_TRUE(filter.InsertHash(u64_[i]));
                     }});
  }
  AllForms(const AllForms&) = delete;
  AllForms& operator=(const AllForms&) = delete;

  const std::vector<KeySet>& sets() const { return sets_; }

 private:
  template <typename T>
  void AddSet(const char* name, Keys keys, const std::vector<T>& singles) {
    sets_.push_back({name, keys,
                     [&singles](const SplitBlockBloomFilter& filter, size_t i) {
                       return filter.Contains(singles[i]);
                     },
                     [&singles](SplitBlockBloomFilter& filter, size_t i) {
                       EXPECT_TRUE(filter.Insert(singles[i]));
                     }});
  }

  std::vector<uint64_t> u64_;
  std::vector<int64_t> i64_;
  std::vector<uint32_t> u32_;
  std::vector<int32_t> i32_;
  std::vector<std::string> strings_;
  std::vector<std::string_view> views_;
  std::string bytes_;
  std::vector<int32_t> offsets_;
  std::vector<int64_t> large_offsets_;
  std::vector<KeySet> sets_;
};

class BulkTest : public BackendTest {
 protected:
  SplitBlockBloomFilter MakeFilter(uint64_t blocks, HashSpec hash = {HashKind::kXxh3, 7}) const {
    return SplitBlockBloomFilter({.bytes = 32 * blocks, .hash = hash, .backend = &backend()});
  }
};

TEST_P(BulkTest, InsertEqualsOneKeyAtATime) {
  for (const size_t n : kSizes) {
    const AllForms forms(n, /*seed=*/n);
    for (const KeySet& set : forms.sets()) {
      for (const HashKind kind : kHashKinds) {
        SplitBlockBloomFilter bulk = MakeFilter(1 + n / 10, {kind, n});
        SplitBlockBloomFilter single = MakeFilter(1 + n / 10, {kind, n});
        EXPECT_EQ(bulk.Insert(set.keys), n);
        for (size_t i = 0; i < n; ++i) set.insert(single, i);
        ASSERT_EQ(Payload(bulk), Payload(single)) << set.name << ", n = " << n;
        EXPECT_EQ(bulk.inserted_count(), n);
        EXPECT_EQ(single.inserted_count(), n);
      }
    }
  }
}

// Bits, bytes, 32- and 64-bit indices and counts, of the same keys.
void ExpectOutputs(const SplitBlockBloomFilter& filter, const Keys& keys,
                   const std::vector<bool>& want) {
  const size_t n = want.size();
  std::vector<uint64_t> rows;
  for (size_t i = 0; i < n; ++i) {
    if (want[i]) rows.push_back(i);
  }
  EXPECT_EQ(filter.Count(keys), rows.size());

  // One word more than the call needs: it must stay.
  const auto words = GuardedArray<uint64_t>::Output(BitmapWords(n), 9);
  EXPECT_EQ(filter.Contains(keys, Bitmap(words.span())), rows.size());
  for (size_t i = 0; i < 64 * words.size(); ++i) {
    ASSERT_EQ(Bitmap(words.span()).Test(i), i < n && want[i]) << "bit " << i << " of " << n;
  }
  const auto bytes = GuardedArray<uint8_t>::Output(n, 65);
  EXPECT_EQ(filter.Contains(keys, bytes.span()), rows.size());
  ASSERT_EQ(bytes.vector(), std::vector<uint8_t>(want.begin(), want.end()));

  const auto rows32 = GuardedArray<uint32_t>::Output(n, 17);
  ASSERT_EQ(filter.Select(keys, rows32.span()), rows.size());
  ASSERT_TRUE(std::equal(rows.begin(), rows.end(), rows32.data()));
  const auto rows64 = GuardedArray<uint64_t>::Output(n, 9);
  ASSERT_EQ(filter.Select(keys, rows64.span()), rows.size());
  ASSERT_TRUE(std::equal(rows.begin(), rows.end(), rows64.data()));
  ASSERT_TRUE(words.Intact() && bytes.Intact() && rows32.Intact() && rows64.Intact());
}

TEST_P(BulkTest, EveryOutputEqualsOneKeyAtATime) {
  size_t hits = 0, misses = 0;
  for (const size_t n : kSizes) {
    const AllForms forms(n, /*seed=*/n);
    for (const KeySet& set : forms.sets()) {
      // Tight, so that there are false positives, which must be the same ones, too.
      SplitBlockBloomFilter filter = MakeFilter(1 + n / 40);
      for (size_t i = 0; i < n; i += 3) set.insert(filter, i);
      std::vector<bool> want(n);
      for (size_t i = 0; i < n; ++i) {
        want[i] = set.contains(filter, i);
        if (i % 3 == 0) {
          ASSERT_TRUE(want[i]) << set.name;
        }
        ++(want[i] ? hits : misses);
      }
      const std::vector<std::byte> before = Payload(filter);
      ExpectOutputs(filter, set.keys, want);
      if (HasFatalFailure()) FAIL() << set.name << ", n = " << n;
      EXPECT_EQ(Payload(filter), before) << "probing changed the filter";

      const size_t cut = n / 3;  // a slice says what it says within the whole
      ExpectOutputs(filter, set.keys.Slice(cut, n - cut),
                    std::vector<bool>(want.begin() + static_cast<std::ptrdiff_t>(cut), want.end()));
      if (HasFatalFailure()) FAIL() << "slice of " << set.name << ", n = " << n;
    }
  }
  EXPECT_GT(hits, 10'000u);
  EXPECT_GT(misses, 10'000u);
}

TEST_P(BulkTest, FormsOfTheSameKeysAreTheSame) {
  const AllForms forms(3000, /*seed=*/5);
  const auto payload = [&](const std::string& name) {
    SplitBlockBloomFilter filter = MakeFilter(200);
    for (const KeySet& set : forms.sets()) {
      if (set.name == name) filter.Insert(set.keys);
    }
    EXPECT_EQ(filter.inserted_count(), 3000u) << name;
    return Payload(filter);
  };
  EXPECT_EQ(payload("u64"), payload("i64"));
  EXPECT_EQ(payload("string views"), payload("column"));
  EXPECT_EQ(payload("string views"), payload("large column"));
  EXPECT_NE(payload("u32"), payload("i32"));  // a sign is part of the value
}

// int32_t{-1} and int64_t{-1} are the same key, uint32_t{0xFFFFFFFF} is another.
TEST_P(BulkTest, SignedIntegersAreWidenedWithTheirSign) {
  SplitBlockBloomFilter filter = MakeFilter(100);
  const std::vector<int32_t> narrow = {-1};
  filter.Insert(narrow);
  EXPECT_TRUE(filter.Contains(int32_t{-1}));
  EXPECT_TRUE(filter.Contains(int64_t{-1}));
  EXPECT_TRUE(filter.Contains(~uint64_t{0}));
  EXPECT_FALSE(filter.Contains(uint32_t{0xFFFFFFFF}));
  EXPECT_EQ(filter.Count(std::vector<int64_t>{-1}), 1u);
  EXPECT_EQ(filter.Count(std::vector<uint32_t>{0xFFFFFFFF}), 0u);
}

INSTANTIATE_TEST_SUITE_P(Backends, BulkTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace
}  // namespace tamis
