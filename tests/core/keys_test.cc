// Keys: the types that convert to Keys, their layouts, slices and columns.
#include "tamis/keys.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "core/src/bulk/batches.h"
#include "tamis/backends.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_keys.h"
#include "tamis/hash_kinds.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::keys_test {

using Form = KeyLayout;

TEST(KeysTest, EveryContainerOfASupportedTypeIsOfItsForm) {
  const std::vector<uint64_t> u64 = {1, 2, 3};
  EXPECT_EQ(Keys(u64).layout(), Form::kU64);
  EXPECT_EQ(Keys(std::vector<int64_t>{1}).layout(), Form::kU64);
  EXPECT_EQ(Keys(std::vector<uint32_t>{1}).layout(), Form::kU32);
  EXPECT_EQ(Keys(std::vector<int32_t>{1}).layout(), Form::kI32);
  EXPECT_EQ(Keys(std::vector<long long>{1}).layout(), Form::kU64);
  EXPECT_EQ(Keys(std::vector<unsigned long long>{1}).layout(), Form::kU64);
  EXPECT_EQ(Keys(std::vector<long>{1}).layout(), sizeof(long) == 8 ? Form::kU64 : Form::kI32);
  EXPECT_EQ(Keys(std::vector<std::string_view>{"a"}).layout(), Form::kStringViews);
  EXPECT_EQ(Keys(std::vector<std::string>{"a"}).layout(), Form::kStrings);
  EXPECT_EQ(Keys(Hashes{u64}).layout(), Form::kHashes);
  EXPECT_EQ(Keys(StringColumn{}).layout(), Form::kColumn);
  EXPECT_EQ(Keys(LargeStringColumn{}).layout(), Form::kLargeColumn);
  EXPECT_EQ(Keys(FixedColumn{}).layout(), Form::kFixedColumn);
  EXPECT_EQ(Keys(FixedColumn{}).key_type(), KeyType::kBytes);
  EXPECT_EQ(Keys(FixedColumn{nullptr, 4, 0, KeyType::kInt32}).key_type(), KeyType::kInt32);
  EXPECT_EQ(Keys(std::array<uint64_t, 3>{}).size(), 3u);
  EXPECT_EQ(Keys(std::span(u64).subspan(1)).data<uint64_t>(), u64.data() + 1);
  uint64_t array[4] = {};
  EXPECT_EQ(Keys(array).size(), 4u);
  EXPECT_EQ(Keys(std::span<uint64_t>(array)).data<uint64_t>(), array);
  EXPECT_TRUE(Keys().empty());

  // One string is one key. Vectors of types that are not keys are refused with an explanation:
  // tests/refused.
  static_assert(!std::is_convertible_v<std::string, Keys>);
  static_assert(!std::is_convertible_v<const char*, Keys>);
  static_assert(!std::is_convertible_v<char[4], Keys>);
  static_assert(!std::is_convertible_v<uint64_t, Keys>);
  static_assert(std::is_trivially_copyable_v<Keys>);
}

// Strings end to end, and the same strings as columns with both kinds of offsets, which do not
// begin at 0.
struct Strings {
  explicit Strings(size_t n) : strings(RandomStrings(n, /*seed=*/n)), bytes("before the first") {
    small.push_back(static_cast<int32_t>(bytes.size()));
    for (const std::string& s : strings) {
      bytes += s;
      small.push_back(static_cast<int32_t>(bytes.size()));
    }
    large.assign(small.begin(), small.end());
    views.assign(strings.begin(), strings.end());
  }

  StringColumn column() const { return {bytes.data(), small}; }
  LargeStringColumn large_column() const { return {bytes.data(), large}; }

  std::vector<std::string> strings;
  std::string bytes;
  std::vector<int32_t> small;
  std::vector<int64_t> large;
  std::vector<std::string_view> views;
};

// Returns the hash of every key of any batch.
std::vector<uint64_t> AllHashes(const detail::Batch& batch) {
  std::vector<uint64_t> hashes(batch.n);
  for (size_t i = 0; i < batch.n; ++i) {
    hashes[i] = batch.hasher(batch.values[i]);
  }
  return hashes;
}

// Tests HashKeys for all keys, and with every third key null.
void ExpectHashKeys(const Keys& keys, const HashSpec& spec, const std::vector<uint64_t>& want) {
  GuardedArray<uint64_t> out(want.size());
  ASSERT_EQ(HashKeys(keys, spec, out.span()), want.size());
  EXPECT_EQ(out.vector(), want);
  std::vector<uint8_t> validity(want.size() / 8 + 1);
  std::vector<uint64_t> valid;
  for (size_t i = 0; i < want.size(); ++i) {
    if (i % 3 == 0) continue;
    validity[i / 8] = static_cast<uint8_t>(validity[i / 8] | 1 << (i % 8));
    valid.push_back(want[i]);
  }
  GuardedArray<uint64_t> packed(valid.size());
  ASSERT_EQ(HashKeys(keys.WithValidity(validity.data()), spec, packed.span()), valid.size());
  EXPECT_EQ(packed.vector(), valid);
  EXPECT_TRUE(out.Intact() && packed.Intact());
}

// `want` contains the hashes of all keys. A slice that extends past the end is cut there, and the
// chunks together contain every key once.
void ExpectCutAtTheEnd(const Keys& keys, const HashSpec& spec, const std::vector<uint64_t>& want) {
  const size_t n = want.size();
  EXPECT_EQ(keys.Slice(n / 3, SIZE_MAX).size(), n - n / 3);
  EXPECT_TRUE(keys.Slice(n, 1).empty());
  EXPECT_TRUE(keys.Slice(SIZE_MAX, SIZE_MAX).empty());
  for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, n, SIZE_MAX}) {
    std::vector<uint64_t> got;
    for (const Keys& some : keys.Chunks(count)) {
      ASSERT_TRUE(!some.empty() && some.size() <= std::max<size_t>(count, 1));
      const size_t begin = got.size();
      got.resize(begin + some.size());
      ASSERT_EQ(HashKeys(some, spec, std::span(got).subspan(begin)), some.size());
    }
    ASSERT_EQ(got, want) << count;
  }
}

// `want` has the hashes of all keys. Every slice has the hashes of its part, in batches of any
// length.
void ExpectHashes(const Keys& keys, const HashSpec& spec, const std::vector<uint64_t>& want) {
  ASSERT_EQ(keys.size(), want.size());
  ExpectCutAtTheEnd(keys, spec, want);
  Random random(keys.size());
  for (int i = 0; i < 10; ++i) {
    const size_t begin = i == 0 ? 0 : random.Below(keys.size() + 1);
    const size_t count = i == 0 ? keys.size() : random.Below(keys.size() - begin + 1);
    const Keys slice = keys.Slice(begin, count);
    ASSERT_EQ(slice.size(), count);
    ASSERT_EQ(slice.layout(), keys.layout());
    for (const size_t batch_keys : {size_t{64}, size_t{4096}, size_t{1} << 40}) {
      std::vector<uint64_t> got;
      const auto add = [&](const detail::Batch& batch, size_t at) {
        ASSERT_TRUE(detail::IsCommon(batch.hasher.source));
        ASSERT_EQ(at, got.size());
        ASSERT_LE(batch.n, batch_keys);
        ASSERT_TRUE(batch.n % 64 == 0 || at + batch.n == count);
        const std::vector<uint64_t> hashes = AllHashes(batch);
        got.insert(got.end(), hashes.begin(), hashes.end());
      };
      detail::ForEachBatch(*Backends().front().kernels, slice, spec, batch_keys, add);
      const auto first = want.begin() + static_cast<std::ptrdiff_t>(begin);
      ASSERT_EQ(got, std::vector<uint64_t>(first, first + static_cast<std::ptrdiff_t>(count)));
    }
    ExpectHashKeys(slice, spec,
                   {want.begin() + static_cast<std::ptrdiff_t>(begin),
                    want.begin() + static_cast<std::ptrdiff_t>(begin + count)});
  }
}

class KeysHashTest : public testing::TestWithParam<HashKind> {
 protected:
  const HashSpec spec_ = HashOf(GetParam(), 0x1234567890ABCDEF);
};

TEST_P(KeysHashTest, IntegersOfEveryWidthAreKeysByTheirValue) {
  for (const size_t n : {0, 1, 64, 2047, 2048, 2049, 5000}) {
    Random random(n);
    std::vector<uint64_t> u64(n);
    std::vector<int64_t> i64(n);
    std::vector<uint32_t> u32(n);
    std::vector<int32_t> i32(n);
    std::vector<uint64_t> want64(n), want_u32(n), want_i32(n);
    for (size_t i = 0; i < n; ++i) {
      u64[i] = random();
      i64[i] = static_cast<int64_t>(u64[i]);
      u32[i] = static_cast<uint32_t>(u64[i]);
      i32[i] = static_cast<int32_t>(u32[i]);
      const bool negative = (u32[i] >> 31) != 0;
      want64[i] = ReferenceHash(u64[i], spec_);
      want_u32[i] = ReferenceHash(uint64_t{u32[i]}, spec_);
      want_i32[i] = ReferenceHash(u32[i] | (negative ? 0xFFFFFFFF00000000 : 0), spec_);
    }
    ExpectHashes(u64, spec_, want64);
    ExpectHashes(i64, spec_, want64);
    ExpectHashes(u32, spec_, want_u32);
    ExpectHashes(i32, spec_, want_i32);
    ExpectHashes(Hashes{u64}, spec_, u64);
  }
}

TEST_P(KeysHashTest, StringsOfEveryFormAreKeysByTheirBytes) {
  for (const size_t n : {0, 1, 64, 2047, 2048, 2049, 5000}) {
    const Strings strings(n);
    std::vector<uint64_t> want;
    for (const std::string& s : strings.strings) {
      want.push_back(ReferenceHash(std::string_view(s), spec_));
    }
    ExpectHashes(strings.views, spec_, want);
    ExpectHashes(strings.column(), spec_, want);
    ExpectHashes(strings.large_column(), spec_, want);
  }
}

TEST_P(KeysHashTest, HashKeysRefusesAnOutputThatIsTooSmall) {
  const std::vector<uint64_t> keys = {1, 2, 3};
  std::vector<uint64_t> out(2, 7);
  ExpectError([&] { HashKeys(keys, spec_, out); }, ErrorCode::kInvalidArgument,
              "the output has 2 elements, and 3 keys need 3");
  EXPECT_EQ(out, std::vector<uint64_t>(2, 7));
  const uint8_t two_valid = 0b101;
  EXPECT_EQ(HashKeys(Keys(keys).WithValidity(&two_valid), spec_, out), 2u);
  EXPECT_EQ(out, (std::vector<uint64_t>{HashU64(1, spec_), HashU64(3, spec_)}));
}

TEST(HashKeysTest, RefusesAnUnknownHash) {
  ExpectError([] { HashKeys({}, {static_cast<HashKind>(9)}, {}); }, ErrorCode::kInvalidArgument,
              "hash kind 9 does not exist");
}

INSTANTIATE_TEST_SUITE_P(Kinds, KeysHashTest, testing::ValuesIn(kHashKinds),
                         [](const auto& test) { return std::string(HashKindName(test.param)); });

TEST(StringColumnTest, ElementsAreTheStrings) {
  const Strings strings(100);
  ASSERT_EQ(strings.column().size(), 100u);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(strings.column()[i], strings.strings[i]);
    EXPECT_EQ(strings.large_column()[i], strings.strings[i]);
  }
  EXPECT_EQ(StringColumn{}.size(), 0u);
  const int32_t lone[] = {5};
  EXPECT_EQ((StringColumn{nullptr, lone}.size()), 0u);
}

TEST(StringColumnTest, ValidIsWhetherAllStringsAreWithinTheBytes) {
  const auto valid = [](std::vector<int32_t> offsets, uint64_t num_bytes) {
    const std::vector<int64_t> large(offsets.begin(), offsets.end());
    const bool result = StringColumn{"", offsets}.Valid(num_bytes);
    EXPECT_EQ((LargeStringColumn{"", large}.Valid(num_bytes)), result);
    return result;
  };
  EXPECT_TRUE(valid({}, 0));
  EXPECT_TRUE(valid({0}, 0));
  EXPECT_TRUE(valid({0, 0, 3, 7}, 7));
  EXPECT_TRUE(valid({2, 3, 7}, 100));
  EXPECT_FALSE(valid({0, 3, 7}, 6));
  EXPECT_FALSE(valid({0, 3, 2, 7}, 7));
  EXPECT_FALSE(valid({-1, 3, 7}, 7));
  EXPECT_FALSE(valid({-5, -2}, 7));
  EXPECT_FALSE(valid({7}, 6));
  EXPECT_FALSE(valid({-1}, 6));
  const int64_t huge[] = {0, std::numeric_limits<int64_t>::max()};
  EXPECT_FALSE((LargeStringColumn{"", huge}.Valid(uint64_t{1} << 62)));
  EXPECT_TRUE((LargeStringColumn{"", huge}.Valid(~uint64_t{0})));
}

TEST(BitmapTest, WordsAndBits) {
  EXPECT_EQ(BitmapWords(0), 0u);
  for (size_t bits = 1; bits <= 300; ++bits) EXPECT_EQ(BitmapWords(bits), (bits + 63) / 64);
  EXPECT_EQ(BitmapWords(std::numeric_limits<size_t>::max()), size_t{1} << 58);  // no wrap

  std::vector<uint64_t> words = RandomKeys(5, /*seed=*/1);
  const Bitmap bitmap(words);
  for (size_t i = 0; i < 320; ++i) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(words.data());
    EXPECT_EQ(bitmap.Test(i), (bytes[i / 8] >> (i % 8)) & 1) << i;  // Arrow's order
  }
}

// Two literals could be taken for one string, from the first pointer to the second.
TEST(KeysTest, AListOfStringsIsOneKeyEach) {
  SplitBlockBloomFilter filter({.capacity = 100});
  CuckooFilter<16> cuckoo({.capacity = 100});
  EXPECT_EQ(filter.Insert({"ads.example", "evil.example"}), 2u);
  EXPECT_EQ(cuckoo.Insert({"ads.example", "evil.example"}), 2u);
  for (const char* const key : {"ads.example", "evil.example"}) {
    EXPECT_TRUE(filter.Contains(key));
    EXPECT_TRUE(cuckoo.Contains(key));
  }
  EXPECT_EQ(cuckoo.Erase({"ads.example", "evil.example", "others"}), 2u);
  EXPECT_EQ(cuckoo.inserted_count(), 0u);
}

}  // namespace tamis::keys_test
