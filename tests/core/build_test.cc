// Build sizes a filter by the number of keys, and gives the same bytes each time.
#include "tamis/engine/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <list>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/counting_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::build_test {

// Returns a source that visits the keys in batches.
RepeatableSource SourceOf(const std::vector<uint64_t>& keys, size_t batch) {
  return [&keys, batch](const std::function<void(Keys)>& visit) {
    for (size_t i = 0; i < keys.size(); i += batch) {
      visit(Keys(keys).Slice(i, std::min(batch, keys.size() - i)));
    }
  };
}

TEST(BuildTest, HasTheSizeThatTheKeysNeed) {
  const std::vector<uint64_t> keys = RandomKeys(30'000, /*seed=*/1);
  const FilterOptions options{.fpr = 0.001, .hash = {HashKind::kXxh64, 4}};
  const auto filter = Build<SplitBlockBloomFilter>(SourceOf(keys, 1000), options);
  SplitBlockBloomFilter want({.capacity = 30'000, .fpr = 0.001, .hash = {HashKind::kXxh64, 4}});
  want.Insert(keys);
  EXPECT_EQ(Payload(filter), Payload(want));
  EXPECT_EQ(filter.capacity(), 30'000u);
  EXPECT_EQ(filter.inserted_count(), 30'000u);
  EXPECT_EQ(filter.hash(), want.hash());
  EXPECT_EQ(Build<CuckooFilter<16>>(SourceOf(keys, 4096), {}).Count(keys), keys.size());
}

TEST(BuildTest, IsTheSameWhateverTheOrderBatchesAndThreads) {
  std::vector<uint64_t> keys = RandomKeys(100'000, /*seed=*/1);
  const auto want = Payload(Build<BloomFilter>(SourceOf(keys, 777), {}));
  std::reverse(keys.begin(), keys.end());
  EXPECT_EQ(Payload(Build<BloomFilter>(SourceOf(keys, 50'000), {})), want);
  const Engine engine({.threads = 3});
  EXPECT_EQ(Payload(Build<BloomFilter>(SourceOf(keys, 50'000), {}, &engine)), want);
}

// A range of make(0), make(1) ..., whose elements only exist while the expression that reads them
// is evaluated.
template <typename Make>
class Generated {
 public:
  class Iterator {
   public:
    using value_type = std::invoke_result_t<const Make&, size_t>;
    using difference_type = ptrdiff_t;

    Iterator() = default;
    Iterator(const Make& make, size_t i) : make_(&make), i_(i) {}
    value_type operator*() const { return (*make_)(i_); }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(*make_, i_++); }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }

   private:
    const Make* make_ = nullptr;
    size_t i_ = 0;
  };

  Generated(size_t size, Make make) : size_(size), make_(std::move(make)) {}
  Iterator begin() const { return {make_, 0}; }
  Iterator end() const { return {make_, size_}; }

 private:
  size_t size_;
  Make make_;
};

template <typename F>
void ExpectFrom(const auto& range, const std::vector<uint64_t>& keys) {
  const FilterOptions options{.hash = {HashKind::kXxh3, 3}};
  FilterOptions sized = options;
  sized.capacity = keys.size();
  F want(sized);
  want.Insert(keys);
  EXPECT_EQ(Payload(F::From(range, options)), Payload(want));
}

TEST(FromTest, AnyRangeOfIntegers) {
  std::vector<uint64_t> keys = RandomKeys(40'000, /*seed=*/1);
  std::sort(keys.begin(), keys.end());
  ExpectFrom<SplitBlockBloomFilter>(keys, keys);
  ExpectFrom<SplitBlockBloomFilter>(Keys(keys), keys);
  ExpectFrom<BloomFilter>(std::span<const uint64_t>(keys), keys);
  ExpectFrom<CuckooFilter<12>>(std::set<uint64_t>(keys.begin(), keys.end()), keys);
  ExpectFrom<CountingBloomFilter>(std::deque<uint64_t>(keys.begin(), keys.end()), keys);
  ExpectFrom<BloomFilter>(std::list<uint64_t>(keys.begin(), keys.end()), keys);
  const Generated multiples(20'000, [](size_t i) { return static_cast<int16_t>(i - 100); });
  std::vector<int64_t> widened;
  for (const int16_t key : multiples) widened.push_back(key);
  EXPECT_EQ(Payload(BloomFilter::From(multiples)), Payload(BloomFilter::From(widened)));
}

TEST(FromTest, AnyRangeOfStrings) {
  const std::vector<std::string> keys = RandomStrings(20'000, /*seed=*/2);
  const auto want = Payload(SplitBlockBloomFilter::From(keys));
  EXPECT_EQ(SplitBlockBloomFilter::From(keys).Count(keys), keys.size());
  EXPECT_EQ(Payload(SplitBlockBloomFilter::From(std::list<std::string>(keys.begin(), keys.end()))),
            want);
  std::deque<std::string_view> views(keys.begin(), keys.end());
  EXPECT_EQ(Payload(SplitBlockBloomFilter::From(views)), want);
  const Generated made(keys.size(), [&](size_t i) { return std::string(keys[i]); });
  EXPECT_EQ(Payload(SplitBlockBloomFilter::From(made)), want);
}

TEST(FromTest, NullsAndNoKeys) {
  const std::vector<uint64_t> keys = RandomKeys(80, /*seed=*/1);
  const std::vector<uint8_t> validity(10, 0x0F);
  const auto filter = BloomFilter::From(Keys(keys).WithValidity(validity.data()));
  EXPECT_EQ(filter.inserted_count(), 40u);
  EXPECT_EQ(filter.capacity(), 40u);
  EXPECT_EQ(BloomFilter::From(std::set<std::string>()).inserted_count(), 0u);
  ExpectError([&] { BloomFilter::From(keys, {.capacity = 5}); }, ErrorCode::kInvalidArgument,
              "capacity and bytes must be 0");
  const std::vector<uint64_t> copies(100, 7);
  ExpectError([&] { CuckooFilter<8>::From(copies); }, ErrorCode::kInvalidArgument, "found no room");
}

TEST(BuildTest, NoKeysMakeAnEmptyFilter) {
  const auto filter = Build<BloomFilter>([](const std::function<void(Keys)>&) {}, {});
  EXPECT_EQ(filter.inserted_count(), 0u);
  EXPECT_EQ(filter.capacity(), 1u);
}

TEST(BuildTest, ErrorsNameTheProblem) {
  const std::vector<uint64_t> keys = RandomKeys(100, /*seed=*/1);
  ExpectError([&] { Build<BloomFilter>(SourceOf(keys, 10), {.capacity = 5}); },
              ErrorCode::kInvalidArgument, "capacity and bytes must be 0");
  for (const bool grows : {true, false}) {
    int call = 0;
    const RepeatableSource changing = [&](const std::function<void(Keys)>& visit) {
      visit(Keys(keys).Slice(0, (call++ == 0) == grows ? 60 : 90));
    };
    ExpectError([&] { Build<BloomFilter>(changing, {}); }, ErrorCode::kInvalidArgument,
                grows ? "60 keys at first, then 90" : "90 keys at first, then 60");
  }
  const std::vector<uint64_t> copies(50, 7);
  ExpectError([&] { Build<CuckooFilter<8>>(SourceOf(copies, 50), {}); },
              ErrorCode::kInvalidArgument, "42 of 50 keys found no room");
}

}  // namespace tamis::build_test
