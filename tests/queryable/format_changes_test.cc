// Tests the contract of Changeable over the filters of other libraries.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tamis/changeable.h"
#include "tamis/changes.h"
#include "tamis/error.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/formats/foreign_filter.h"
#include "tamis/formats/guava.h"
#include "tamis/formats/kudu.h"
#include "tamis/formats/milvus.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tamis/formats/spark.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::format_changes_test {

struct FormatHolder {
  std::string name;
  std::function<std::unique_ptr<FormatFilter>()> make;  // returns a filter without keys
  // Applies a change by one key. Returns whether the key was inserted, erased, or new.
  bool (*change_one)(FormatFilter& filter, Change change, uint64_t key);
};

void PrintTo(const FormatHolder& holder, std::ostream* out) { *out << holder.name; }

template <typename F>
bool ChangeOne(FormatFilter& filter, Change change, uint64_t key) {
  auto& f = static_cast<F&>(filter);
  if constexpr (requires { f.Erase(key); }) {
    return change == Change::kInsert  ? f.Insert(key)
           : change == Change::kErase ? f.Erase(key)
                                      : f.InsertIfAbsent(key);
  } else if constexpr (requires { f.Insert(key); }) {
    const bool is_new = f.Insert(key);
    return is_new || change == Change::kInsert;
  } else {
    const Keys one(std::span(&key, 1));
    uint64_t fresh = 0;
    return 1 == (change == Change::kInsert  ? Insert(f, one)
                 : change == Change::kErase ? Erase(f, one)
                                            : InsertIfAbsent(f, one, Bitmap({&fresh, 1})));
  }
}

std::vector<FormatHolder> MakeFormatHolders() {
  std::vector<FormatHolder> holders;
  const auto add_foreign = [&](const std::string& name, const std::string& format,
                               std::vector<std::byte> bytes) {
    const auto make = [format, bytes = std::move(bytes)] {
      return std::make_unique<ForeignFilter>(ForeignFilter::FromBytes(bytes, format));
    };
    holders.push_back({"foreign_" + name, make, ChangeOne<ForeignFilter>});
  };
  const auto add = [&](const std::string& name, const std::string& format, auto make) {
    using F = decltype(make());
    holders.push_back({name, [make] { return std::make_unique<F>(make()); }, ChangeOne<F>});
    add_foreign(name, format, make().ToBytes());
  };
  add("guava", "guava:long",
      [] { return GuavaBloomFilter(GuavaFunnel::kLong, {.capacity = 1000}); });
  add("spark", "spark:long", [] { return SparkBloomFilter({.capacity = 1000}); });
  add("kudu", "kudu:int64",
      [] { return KuduBlockBloomFilter(KuduType::kInt64, {.capacity = 1000}); });
  add("redis_bloom", "redisbloom", [] { return RedisBloomFilter({.capacity = 200}); });
  add("redis_cuckoo", "redisbloom-cf",
      [] { return RedisCuckooFilter({.capacity = 100, .expansion = 2}); });
  add("redis_cuckoo_full", "redisbloom-cf",
      [] { return RedisCuckooFilter({.capacity = 512, .expansion = 0}); });
  const SplitBlockBloomFilter blocks({.bytes = 1024, .hash = {.kind = HashKind::kXxh64}});
  add_foreign("milvus", "milvus:int64", milvus::ToBytes(blocks));
  return holders;
}

// The results for the keys of a call.
struct Result {
  size_t done = 0;
  std::vector<uint64_t> rejected_indices;  // of kInsert and kErase
  std::vector<uint64_t> fresh, rejected;   // bitmaps of kInsertIfAbsent

  friend bool operator==(const Result&, const Result&) = default;
};

Result OneByOne(const FormatHolder& holder, FormatFilter& filter, Change change, const Keys& keys) {
  Result result;
  if (change == Change::kInsertIfAbsent) {
    result.fresh.resize(BitmapWords(keys.size()));
    result.rejected.resize(BitmapWords(keys.size()));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint64_t key = keys.data<uint64_t>()[i];
    const bool valid = keys.IsValid(i);
    const bool absent = valid && !static_cast<const Queryable&>(filter).Contains(key);
    const bool done = valid && holder.change_one(filter, change, key);
    result.done += done;
    if (change == Change::kInsertIfAbsent) {
      result.fresh[i / 64] |= uint64_t{done} << (i % 64);
      result.rejected[i / 64] |= uint64_t{absent && !done} << (i % 64);
      EXPECT_TRUE(absent || !done) << "a key that may be in is not new";
    } else if (!done) {
      result.rejected_indices.push_back(i);
    }
  }
  return result;
}

Result InBulk(FormatFilter& filter, Change change, const Keys& keys) {
  const size_t words = BitmapWords(keys.size());
  Result result;
  if (change == Change::kInsertIfAbsent) {
    result.fresh.assign(words, ~uint64_t{0});
    result.rejected.assign(words, ~uint64_t{0});
    result.done = filter.InsertIfAbsent(keys, Bitmap(result.fresh), Bitmap(result.rejected));
    return result;
  }
  result.rejected_indices.resize(keys.size());
  result.done = change == Change::kInsert ? filter.Insert(keys, result.rejected_indices)
                                          : Erase(filter, keys, result.rejected_indices);
  result.rejected_indices.resize(keys.size() - result.done);
  return result;
}

// Does the same with as few outputs as possible.
size_t InBulkWithoutOutputs(FormatFilter& filter, Change change, const Keys& keys) {
  std::vector<uint64_t> fresh(BitmapWords(keys.size()));
  return change == Change::kInsert  ? filter.Insert(keys)
         : change == Change::kErase ? Erase(filter, keys)
                                    : filter.InsertIfAbsent(keys, Bitmap(fresh));
}

class FormatChangesTest : public testing::TestWithParam<FormatHolder> {};

TEST_P(FormatChangesTest, Bulk_IsOneKeyAfterTheOther) {
  const std::unique_ptr<FormatFilter> single = GetParam().make();
  const std::unique_ptr<FormatFilter> bulk = GetParam().make();
  const std::unique_ptr<FormatFilter> plain = GetParam().make();
  Random random(7);
  for (const size_t n : TestSizes()) {
    if (n > 1100) continue;
    for (const Change change : {Change::kInsert, Change::kInsertIfAbsent, Change::kErase}) {
      if (change == Change::kErase && !bulk->change_traits().erases) continue;
      std::vector<uint64_t> numbers(n);
      for (uint64_t& number : numbers) number = random.Below(2500);
      std::vector<uint8_t> validity(n / 8 + 2);
      for (uint8_t& byte : validity) byte = static_cast<uint8_t>(random() | random());
      const Keys all(numbers);
      const Keys keys = random.Below(3) == 0 ? all : all.WithValidity(validity.data(), 5);
      const Result want = OneByOne(GetParam(), *single, change, keys);
      EXPECT_EQ(InBulk(*bulk, change, keys), want) << n;
      EXPECT_EQ(InBulkWithoutOutputs(*plain, change, keys), want.done);
      EXPECT_EQ(bulk->ToBytes(), single->ToBytes());
      EXPECT_EQ(plain->ToBytes(), single->ToBytes());
    }
  }
}

TEST_P(FormatChangesTest, ShortOutputs_ChangeNothing) {
  const std::unique_ptr<FormatFilter> filter = GetParam().make();
  const std::vector<std::byte> before = filter->ToBytes();
  const std::vector<uint64_t> keys(65, 1);
  std::vector<uint64_t> indices(64), one(1), two(2);
  const auto refused = [](const std::function<void()>& act) {
    ExpectError(act, ErrorCode::kInvalidArgument, "");
  };
  refused([&] { filter->Insert(keys, indices); });
  refused([&] { filter->InsertIfAbsent(keys, Bitmap(one)); });
  refused([&] { filter->InsertIfAbsent(keys, Bitmap(two), Bitmap(one)); });
  if (filter->change_traits().erases) refused([&] { Erase(*filter, keys, indices); });
  EXPECT_EQ(filter->ToBytes(), before);
  EXPECT_EQ(two, std::vector<uint64_t>(2));
}

TEST_P(FormatChangesTest, Erase_WhereTheFormatCannot_IsUnsupported) {
  const std::unique_ptr<FormatFilter> filter = GetParam().make();
  const std::vector<uint64_t> keys = {1};
  std::vector<uint64_t> missing(1);
  filter->Insert(keys);
  if (filter->change_traits().erases) {
    EXPECT_EQ(Erase(*filter, keys), 1u);
    return;
  }
  const std::vector<std::byte> before = filter->ToBytes();
  ExpectError([&] { Erase(*filter, keys); }, ErrorCode::kUnsupported, "cannot be erased");
  ExpectError([&] { Erase(*filter, keys, missing); }, ErrorCode::kUnsupported, "cannot be erased");
  EXPECT_EQ(filter->ToBytes(), before);
}

INSTANTIATE_TEST_SUITE_P(All, FormatChangesTest, testing::ValuesIn(MakeFormatHolders()),
                         [](const auto& test) { return test.param.name; });

// A change that the class does not support does not compile.
template <typename F>
concept Erases = requires(F& filter, const Keys& keys) {
  filter.Erase(keys);
};
static_assert(Erases<RedisCuckooFilter> && !Erases<RedisBloomFilter> && !Erases<ForeignFilter>);

}  // namespace tamis::format_changes_test
