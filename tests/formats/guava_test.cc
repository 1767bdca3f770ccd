#include "tamis/formats/guava.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "formats/src/bit_walk.h"
#include "formats/src/murmur3.h"
#include "tamis/error.h"
#include "tests/formats/guava_test_keys.h"
#include "tests/test_util.h"

namespace tamis::guava_test {

// A model that follows the definition bit by bit. The hash has its own tests.
class Model {
 public:
  Model(GuavaStrategy strategy, uint64_t num_bits, uint32_t num_hashes)
      : strategy_(strategy), bits_(num_bits), num_hashes_(num_hashes) {}

  std::vector<uint64_t> BitsOf(const std::string& bytes) const {
    const detail::Hash128 hash = detail::Murmur3OfBytes(bytes.data(), bytes.size());
    std::vector<uint64_t> bits;
    for (uint64_t i = 0; i < num_hashes_; ++i) {
      if (strategy_ == GuavaStrategy::kMurmur128Mitz64) {
        bits.push_back(((hash.low + i * hash.high) & 0x7FFF'FFFF'FFFF'FFFF) % bits_.size());
        continue;
      }
      auto sum = static_cast<int32_t>(hash.low + (i + 1) * (hash.low >> 32));
      if (sum < 0) sum = ~sum;
      bits.push_back(static_cast<uint64_t>(sum) % bits_.size());
    }
    return bits;
  }
  bool Insert(const std::string& bytes) {
    bool changed = false;
    for (const uint64_t bit : BitsOf(bytes)) {
      changed |= !bits_[bit];
      bits_[bit] = true;
    }
    return changed;
  }
  bool Contains(const std::string& bytes) const {
    for (const uint64_t bit : BitsOf(bytes)) {
      if (!bits_[bit]) return false;
    }
    return true;
  }
  bool Test(uint64_t bit) const { return bits_[bit]; }

 private:
  GuavaStrategy strategy_;
  std::vector<bool> bits_;
  uint32_t num_hashes_;
};

std::string Little(uint64_t value, size_t n) {
  std::string bytes;
  for (size_t i = 0; i < n; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

// Returns a random string as UTF-8 and as little-endian UTF-16: any code points, including
// surrogates.
std::pair<std::string, std::string> RandomText(Random& random) {
  std::string utf8, utf16;
  for (uint64_t left = random.Below(24); left > 0; --left) {
    constexpr uint32_t kBelow[] = {0x80, 0x800, 0x10000, 0x110000};
    const auto c = static_cast<uint32_t>(random.Below(kBelow[random.Below(4)]));
    const auto continued = [&](int shift) {
      utf8.push_back(static_cast<char>(0x80 | ((c >> shift) & 0x3F)));
    };
    if (c < 0x80) {
      utf8.push_back(static_cast<char>(c));
    } else if (c < 0x800) {
      utf8.push_back(static_cast<char>(0xC0 | c >> 6));
      continued(0);
    } else if (c < 0x10000) {
      utf8.push_back(static_cast<char>(0xE0 | c >> 12));
      continued(6);
      continued(0);
    } else {
      utf8.push_back(static_cast<char>(0xF0 | c >> 18));
      continued(12);
      continued(6);
      continued(0);
    }
    utf16 += c < 0x10000 ? Little(c, 2)
                         : Little(0xD800 + ((c - 0x10000) >> 10), 2) +
                               Little(0xDC00 + ((c - 0x10000) & 0x3FF), 2);
  }
  return {utf8, utf16};
}

// Keys of a funnel, and the bytes from which their hashes are computed.
struct ModelKeys {
  std::vector<int64_t> integers;
  std::vector<std::string> strings;
  std::vector<std::string> bytes;

  ModelKeys(GuavaFunnel funnel, size_t n, Random& random) {
    for (size_t i = 0; i < n; ++i) {
      if (funnel == GuavaFunnel::kLong) {
        integers.push_back(static_cast<int64_t>(random()));
        bytes.push_back(Little(static_cast<uint64_t>(integers.back()), 8));
      } else if (funnel == GuavaFunnel::kInt) {
        integers.push_back(static_cast<int32_t>(random()));
        bytes.push_back(Little(static_cast<uint64_t>(integers.back()), 4));
      } else if (funnel == GuavaFunnel::kUnencodedChars) {
        auto [utf8, utf16] = RandomText(random);
        strings.push_back(std::move(utf8));
        bytes.push_back(std::move(utf16));
      } else {
        strings.push_back(RandomStrings(1, random())[0]);
        bytes.push_back(strings.back());
      }
    }
  }
  Keys keys() const { return strings.empty() ? Keys(integers) : Keys(strings); }
  template <typename Visit>
  bool Visit1(size_t i, const Visit& visit) const {
    return strings.empty() ? visit(static_cast<uint64_t>(integers[i]))
                           : visit(std::string_view(strings[i]));
  }
};

void ExpectEveryOutput(const GuavaBloomFilter& filter, const Keys& keys,
                       const std::vector<bool>& in) {
  const size_t n = in.size();
  std::vector<uint64_t> bits(BitmapWords(n) + 1, 0xABAB);
  std::vector<uint8_t> bytes(n + 1, 0xAB);
  std::vector<uint32_t> rows32(n);
  std::vector<uint64_t> rows64(n);
  size_t count = 0;
  for (const bool one : in) count += one;
  ASSERT_EQ(filter.Contains(keys, Bitmap(bits)), count);
  ASSERT_EQ(filter.Contains(keys, std::span(bytes)), count);
  ASSERT_EQ(filter.Select(keys, std::span(rows32)), count);
  ASSERT_EQ(filter.Select(keys, std::span(rows64)), count);
  ASSERT_EQ(filter.Count(keys), count);
  ASSERT_EQ(bits.back(), 0xABABu);
  ASSERT_EQ(bytes.back(), 0xAB);
  size_t row = 0;
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(Bitmap(bits).Test(i), in[i]) << i;
    ASSERT_EQ(bytes[i], in[i]) << i;
    if (!in[i]) continue;
    ASSERT_EQ(rows32[row], i);
    ASSERT_EQ(rows64[row], i);
    ++row;
  }
}

TEST(GuavaTest, IsTheModel) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const GuavaFunnel funnel = kGuavaFunnels[random.Below(5)];
    const GuavaStrategy strategy = kGuavaStrategies[random.Below(2)];
    const auto hashes = static_cast<uint32_t>(1 + random.Below(random.Below(4) == 0 ? 255 : 12));
    const uint64_t bits = 1 + random.Below(20000);
    GuavaBloomFilter filter(funnel, {.num_bits = bits, .num_hashes = hashes, .strategy = strategy});
    ASSERT_EQ(filter.num_bits(), (bits + 63) / 64 * 64);
    Model model(strategy, filter.num_bits(), hashes);

    const ModelKeys keys(funnel, random.Below(1500), random);
    const size_t single = random.Below(keys.bytes.size() + 1) / 4;
    for (size_t i = 0; i < single; ++i) {
      const bool changed = keys.Visit1(i, [&](auto key) { return filter.Insert(key); });
      ASSERT_EQ(changed, model.Insert(keys.bytes[i]));
    }
    // Some keys twice, and some null.
    std::vector<uint8_t> valid(keys.bytes.size() / 8 + 2);
    for (uint8_t& byte : valid) byte = static_cast<uint8_t>(random() | random());
    const Keys some = keys.keys().WithValidity(valid.data(), 3);
    std::vector<uint64_t> fresh(BitmapWords(keys.bytes.size()));
    filter.InsertIfAbsent(some, Bitmap(fresh));
    for (size_t i = 0; i < keys.bytes.size(); ++i) {
      ASSERT_EQ(Bitmap(fresh).Test(i), some.IsValid(i) && model.Insert(keys.bytes[i])) << i;
    }
    for (uint64_t bit = 0; bit < filter.num_bits(); ++bit) {
      ASSERT_EQ((filter.words()[bit / 64] >> (bit % 64)) & 1, model.Test(bit)) << bit;
    }

    const ModelKeys others(funnel, random.Below(1500), random);
    for (const ModelKeys* asked : {&keys, &others}) {
      std::vector<bool> in;
      for (const std::string& bytes : asked->bytes) in.push_back(model.Contains(bytes));
      for (size_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(asked->Visit1(i, [&](auto key) { return filter.Contains(key); }), in[i]);
      }
      ExpectEveryOutput(filter, asked->keys(), in);
    }
    std::vector<bool> in;
    for (size_t i = 0; i < keys.bytes.size(); ++i) {
      in.push_back(some.IsValid(i) && model.Contains(keys.bytes[i]));
    }
    ExpectEveryOutput(filter, some, in);
  }
}

// Bits past 2^31, which only one strategy reaches.
TEST(GuavaTest, RemaindersOfLargeModuli) {
  Random random(3);
  for (const uint64_t m : {uint64_t{64}, uint64_t{128}, uint64_t{192}, uint64_t{1} << 31,
                           (uint64_t{1} << 31) + 64, 64 * GuavaBloomFilter::kMaxWords}) {
    const detail::Remainder remainder(m);
    for (const uint64_t x : {uint64_t{0}, m - 1, m, m + 1, ~uint64_t{0}, ~uint64_t{0} >> 1,
                             (~uint64_t{0} / m) * m, (~uint64_t{0} / m) * m - 1}) {
      ASSERT_EQ(remainder(x), x % m) << x << " mod " << m;
    }
    for (int i = 0; i < 100000; ++i) {
      const uint64_t x = random();
      ASSERT_EQ(remainder(x), x % m) << x << " mod " << m;
    }
  }
}

// Sizes that Guava 31.1 printed.
TEST(GuavaTest, SizesOfGuava) {
  const auto expect = [](uint64_t capacity, double fpr, uint64_t words, uint32_t hashes) {
    const GuavaBloomFilter filter(GuavaFunnel::kLong, {.capacity = capacity, .fpr = fpr});
    EXPECT_EQ(filter.num_bits(), 64 * words) << capacity << " at " << fpr;
    EXPECT_EQ(filter.num_hashes(), hashes) << capacity << " at " << fpr;
  };
  expect(1, 0.03, 1, 5);
  expect(1, 0.01, 1, 6);
  expect(1, 0.5, 1, 1);
  expect(1, 0.001, 1, 10);
  expect(1, 1.0E-9, 1, 30);
  expect(2, 0.03, 1, 5);
  expect(2, 0.01, 1, 7);
  expect(2, 0.5, 1, 1);
  expect(2, 0.001, 1, 10);
  expect(2, 1.0E-9, 2, 30);
  expect(2, 0.7, 1, 1);
  expect(3, 0.03, 1, 5);
  expect(3, 0.01, 1, 6);
  expect(3, 0.5, 1, 1);
  expect(3, 0.001, 1, 10);
  expect(3, 1.0E-9, 3, 30);
  expect(3, 0.7, 1, 1);
  expect(7, 0.03, 1, 5);
  expect(7, 0.01, 2, 7);
  expect(7, 0.5, 1, 1);
  expect(7, 0.001, 2, 10);
  expect(7, 1.0E-9, 5, 30);
  expect(7, 0.7, 1, 1);
  expect(10, 0.03, 2, 5);
  expect(10, 0.01, 2, 7);
  expect(10, 0.5, 1, 1);
  expect(10, 0.001, 3, 10);
  expect(10, 1.0E-9, 7, 30);
  expect(10, 0.7, 1, 1);
  expect(100, 0.03, 12, 5);
  expect(100, 0.01, 15, 7);
  expect(100, 0.5, 3, 1);
  expect(100, 0.001, 23, 10);
  expect(100, 1.0E-9, 68, 30);
  expect(100, 0.7, 2, 1);
  expect(1000, 0.01, 150, 7);
  expect(1000, 1.0E-9, 674, 30);
  expect(12345, 0.01, 1849, 7);
  expect(12345, 1.0E-9, 8320, 30);
  expect(1000000, 0.01, 149767, 7);
  expect(1000000, 1.0E-9, 673950, 30);
  expect(100000000, 0.01, 14976654, 7);
  expect(100000000, 1.0E-9, 67394942, 30);
  EXPECT_EQ(GuavaBloomFilter(GuavaFunnel::kLong, {.capacity = 1000}).num_hashes(), 5u);
}

template <typename Call>
void ExpectError(ErrorCode code, const std::string& text, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(GuavaTest, OptionsOutOfRange) {
  const auto refused = [](const std::string& text, const GuavaOptions& options) {
    ExpectError(ErrorCode::kInvalidArgument, text,
                [&] { GuavaBloomFilter(GuavaFunnel::kLong, options); });
  };
  refused("for 0 keys", {});
  refused("for 9223372036854775808 keys", {.capacity = uint64_t{1} << 63});
  refused("false-positive rate", {.capacity = 1, .fpr = 0});
  refused("false-positive rate", {.capacity = 1, .fpr = 1});
  refused("false-positive rate", {.capacity = 1, .fpr = std::nan("")});
  refused("0 bits", {.capacity = 1, .fpr = 0.99});
  refused("996 hashes", {.capacity = 1, .fpr = 1e-300});
  refused("cannot have more than", {.capacity = uint64_t{1} << 40});
  refused("cannot have more than",
          {.num_bits = 64 * GuavaBloomFilter::kMaxWords + 1, .num_hashes = 1});
  refused("requires num_bits", {.num_hashes = 3});
  refused("0 hashes", {.num_bits = 64});
  refused("256 hashes", {.num_bits = 64, .num_hashes = 256});
  refused("not by both", {.capacity = 10, .num_bits = 64, .num_hashes = 3});
  refused("strategy 2",
          {.num_bits = 64, .num_hashes = 3, .strategy = static_cast<GuavaStrategy>(2)});
}

TEST(GuavaTest, KeysOfTheOtherSortAreErrors) {
  const std::vector<uint64_t> integers = {1};
  const std::vector<std::string> strings = {"1"};
  std::vector<uint64_t> bits(1);
  for (const GuavaFunnel funnel : kGuavaFunnels) {
    GuavaBloomFilter filter(funnel, {.capacity = 10});
    const bool takes_integers = funnel == GuavaFunnel::kLong || funnel == GuavaFunnel::kInt;
    const Keys wrong = takes_integers ? Keys(strings) : Keys(integers);
    const auto refused = [](const auto& call) {
      ExpectError(ErrorCode::kInvalidArgument, "and not", call);
    };
    refused([&] { filter.Insert(wrong); });
    refused([&] { filter.Count(wrong); });
    refused([&] { filter.Contains(wrong, Bitmap(bits)); });
    refused([&] { filter.Insert(Keys(Hashes{integers})); });
    refused([&] { filter.Count(Hashes{integers}); });
    if (takes_integers) {
      refused([&] { filter.Insert("1"); });
      refused([&] { filter.Contains("1"); });
    } else {
      refused([&] { filter.Insert(uint64_t{1}); });
      refused([&] { filter.Contains(uint64_t{1}); });
    }
    EXPECT_EQ(filter.estimated_count(), 0);
  }
}

TEST(GuavaTest, ValuesThatAreNotInts) {
  GuavaBloomFilter filter(GuavaFunnel::kInt, {.num_bits = 64, .num_hashes = 1});
  const std::vector<int64_t> keys = {-1, INT32_MIN, INT32_MAX, int64_t{INT32_MAX} + 1};
  ExpectError(ErrorCode::kInvalidArgument, "key 3 is not an int", [&] { filter.Insert(keys); });
  ExpectError(ErrorCode::kInvalidArgument, "2147483648", [&] { filter.Insert(uint64_t{1} << 31); });
  EXPECT_EQ(filter.estimated_count(), 0);
  filter.Insert(std::vector<int64_t>{-1, INT32_MIN, INT32_MAX});
  filter.Insert(std::vector<int32_t>{-1, INT32_MIN, INT32_MAX});
  const uint8_t but_the_last = 7;
  filter.Insert(Keys(keys).WithValidity(&but_the_last));
  EXPECT_EQ(filter.Count(keys), 3u);
  EXPECT_FALSE(filter.Contains(uint64_t{0xFFFF'FFFF}));  // its low half is the low half of -1
  EXPECT_EQ(filter.Count(std::vector<uint32_t>{0xFFFF'FFFF, INT32_MAX}), 1u);
}

TEST(GuavaTest, BytesThatAreNotText) {
  GuavaBloomFilter all(GuavaFunnel::kUnencodedChars, {.num_bits = 64, .num_hashes = 1});
  const std::vector<std::string> wrong = {
      "\x80",         "\xBF",         "\xC0\x80",         "\xC1\xBF",         "\xC3",
      "\xC3x",        "\xE0\x80\x80", "\xE0\x9F\xBF",     "\xE2\x82",         "\xE2\x82x",
      "\xF0\x90\x8D", "\xF0x",        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
      "\xFF",         "a\xFE"};
  for (size_t i = 0; i < wrong.size(); ++i) {
    ExpectError(ErrorCode::kInvalidArgument, "not text", [&] { all.Insert(wrong[i]); });
    const std::vector<std::string> two = {"right", wrong[i]};
    ExpectError(ErrorCode::kInvalidArgument, "key 1 is not text", [&] { all.Insert(two); });
  }
  EXPECT_EQ(all.estimated_count(), 0);
  for (uint64_t i = 0; i < 2000; ++i) all.Insert(std::to_string(i));
  ASSERT_EQ(all.expected_fpr(), 1);
  EXPECT_EQ(all.Count(wrong), 0u);
  EXPECT_FALSE(all.Contains(wrong[0]));
  EXPECT_TRUE(all.Contains("anything"));
}

// A pair of surrogates is the same key in four bytes and in two times three bytes.
TEST(GuavaTest, SurrogatesAreChars) {
  GuavaBloomFilter filter(GuavaFunnel::kUnencodedChars, {.capacity = 1000, .fpr = 1e-6});
  EXPECT_TRUE(filter.Insert("\xF0\x90\x8D\x88"));
  EXPECT_TRUE(filter.Contains("\xED\xA0\x80\xED\xBD\x88"));
  EXPECT_FALSE(filter.Contains("\xED\xA0\x80"));
  EXPECT_FALSE(filter.Contains("\xED\xBD\x88\xED\xA0\x80"));
}

TEST(GuavaTest, EveryFormOfKeys) {
  const std::vector<std::string> strings = RandomStrings(1300, 5);
  const std::vector<std::string_view> views(strings.begin(), strings.end());
  std::string bytes;
  std::vector<int32_t> offsets = {0};
  for (const std::string& string : strings) {
    bytes += string;
    offsets.push_back(static_cast<int32_t>(bytes.size()));
  }
  const std::vector<int64_t> large(offsets.begin(), offsets.end());
  const auto of = [](const Keys& keys) {
    GuavaBloomFilter filter(GuavaFunnel::kBytes, {.capacity = 1300});
    filter.Insert(keys);
    EXPECT_EQ(filter.Count(keys), keys.size());
    return filter.ToBytes();
  };
  EXPECT_EQ(of(views), of(strings));
  EXPECT_EQ(of(StringColumn{bytes.data(), offsets}), of(strings));
  EXPECT_EQ(of(LargeStringColumn{bytes.data(), large}), of(strings));
  const std::vector<std::string> fixed = {"abc", "def", "ghi"};
  EXPECT_EQ(of(FixedColumn{"abcdefghi", 3, 3}), of(fixed));

  GuavaBloomFilter filter(GuavaFunnel::kLong, {.capacity = 10, .fpr = 1e-9});
  filter.Insert(std::vector<int32_t>{-1});
  filter.Insert(std::vector<uint32_t>{0xFFFF'FFFF});
  EXPECT_EQ(filter.Count(std::vector<int64_t>{-1, 0xFFFF'FFFF, 1}), 2u);
}

TEST(GuavaTest, Merge) {
  const std::vector<uint64_t> some = RandomKeys(1000, 1), more = RandomKeys(1000, 2);
  GuavaBloomFilter a(GuavaFunnel::kLong, {.capacity = 2000});
  GuavaBloomFilter b(GuavaFunnel::kLong, {.capacity = 2000});
  GuavaBloomFilter both(GuavaFunnel::kLong, {.capacity = 2000});
  a.Insert(some);
  b.Insert(more);
  both.Insert(some);
  both.Insert(more);
  a.Merge(b);
  a.Merge(a);
  EXPECT_EQ(a.ToBytes(), both.ToBytes());

  const auto differs = [&](const std::string& what, GuavaFunnel funnel, GuavaOptions options) {
    ExpectError(ErrorCode::kIncompatible, what,
                [&] { a.Merge(GuavaBloomFilter(funnel, options)); });
  };
  const GuavaOptions same = {.num_bits = a.num_bits(), .num_hashes = a.num_hashes()};
  differs("funnels", GuavaFunnel::kInt, same);
  GuavaOptions other = same;
  other.strategy = GuavaStrategy::kMurmur128Mitz32;
  differs("strategies", GuavaFunnel::kLong, other);
  other = same;
  ++other.num_hashes;
  differs("numbers of hashes", GuavaFunnel::kLong, other);
  other = same;
  other.num_bits += 64;
  differs("numbers of bits", GuavaFunnel::kLong, other);
  EXPECT_EQ(a.ToBytes(), both.ToBytes());
}

TEST(GuavaTest, EstimatesAndClear) {
  GuavaBloomFilter filter(GuavaFunnel::kLong, {.capacity = 100000, .fpr = 0.01});
  EXPECT_EQ(filter.estimated_count(), 0);
  EXPECT_EQ(filter.expected_fpr(), 0);
  filter.Insert(RandomKeys(100000, 1));
  EXPECT_NEAR(filter.estimated_count(), 100000, 500);
  EXPECT_NEAR(filter.expected_fpr(), 0.01, 0.0005);
  const size_t wrong = filter.Count(RandomKeys(100000, 2));
  EXPECT_NEAR(static_cast<double>(wrong), 1000, 150);
  filter.Clear();
  EXPECT_EQ(filter.estimated_count(), 0);
}

TEST(GuavaTest, MovedFrom) {
  GuavaBloomFilter filter(GuavaFunnel::kLong, {.capacity = 100000});
  filter.Insert(uint64_t{1});
  GuavaBloomFilter other = std::move(filter);
  EXPECT_TRUE(other.Contains(uint64_t{1}));
  EXPECT_FALSE(filter.Contains(uint64_t{1}));
  EXPECT_FALSE(filter.Insert(uint64_t{1}));
  EXPECT_EQ(filter.Count(RandomKeys(1000, 1)), 0u);
  const auto read_only = [](const auto& call) { ExpectError(ErrorCode::kReadOnly, "moved", call); };
  read_only([&] { filter.Insert(std::vector<uint64_t>{1}); });
  read_only([&] { filter.Clear(); });
  read_only([&] { filter.Merge(other); });
  filter = std::move(other);
  EXPECT_TRUE(filter.Contains(uint64_t{1}));
}

}  // namespace tamis::guava_test
