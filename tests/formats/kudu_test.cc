#include "tamis/formats/kudu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "formats/src/kudu_hash.h"
#include "tamis/backends.h"
#include "tamis/error.h"
#include "tests/formats/kudu_test_keys.h"
#include "tests/test_util.h"

namespace tamis::kudu_test {

// A model that follows the definition word by word. The hash has its own test.
class Model {
 public:
  Model(uint32_t log_space_bytes, uint32_t seed)
      : words_((size_t{1} << log_space_bytes) / 4), seed_(seed) {}

  bool Contains(const std::string& bytes) const {
    const uint32_t hash = detail::FastHashOfBytes(bytes, seed_);
    const size_t block = BlockOf(hash);
    for (size_t w = 0; w < 8; ++w) {
      if ((words_[8 * block + w] >> Bit(hash, w) & 1) == 0) return false;
    }
    return true;
  }
  bool Insert(const std::string& bytes) {
    const bool is_new = !Contains(bytes);
    const uint32_t hash = detail::FastHashOfBytes(bytes, seed_);
    const size_t block = BlockOf(hash);
    for (size_t w = 0; w < 8; ++w) words_[8 * block + w] |= uint32_t{1} << Bit(hash, w);
    return is_new;
  }
  std::span<const std::byte> blocks() const { return std::as_bytes(std::span(words_)); }

 private:
  size_t BlockOf(uint32_t hash) const {
    const uint64_t sum = hash * 0x7850f11ec6d14889ULL + 0x6773610597ca4c63ULL;
    return static_cast<size_t>((sum >> 32) & (words_.size() / 8 - 1));
  }
  static uint32_t Bit(uint32_t hash, size_t w) {
    constexpr uint32_t kSalts[] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                   0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    return (hash * kSalts[w]) >> 27;
  }

  std::vector<uint32_t> words_;
  uint32_t seed_;
};

size_t CellBytes(KuduType type) { return size_t{1} << static_cast<int>(type); }

// Keys of a type, and the bytes from which their hashes are computed.
struct ModelKeys {
  std::vector<int64_t> integers;
  std::vector<std::string> strings;
  std::vector<std::string> bytes;

  ModelKeys(KuduType type, size_t n, Random& random) {
    if (type == KuduType::kBytes) {
      strings = bytes = RandomStrings(n, random());
      return;
    }
    for (size_t i = 0; i < n; ++i) {
      const size_t cell = CellBytes(type);
      // The low bytes, sign-extended.
      integers.push_back(static_cast<int64_t>(random()) >> (64 - 8 * cell));
      std::string image(8, '\0');
      std::memcpy(image.data(), &integers.back(), 8);
      bytes.push_back(image.substr(0, cell));
    }
  }
  Keys keys() const { return strings.empty() ? Keys(integers) : Keys(strings); }
  template <typename Visit>
  bool Visit1(size_t i, const Visit& visit) const {
    return strings.empty() ? visit(static_cast<uint64_t>(integers[i]))
                           : visit(std::string_view(strings[i]));
  }
};

void ExpectEveryOutput(const KuduBlockBloomFilter& filter, const Keys& keys,
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

class KuduBackendTest : public testing::TestWithParam<Backend> {};

TEST_P(KuduBackendTest, IsTheModel) {
  Random random(7);
  for (int round = 0; round < 100; ++round) {
    const KuduType type = kKuduTypes[random.Below(5)];
    const auto log = static_cast<uint32_t>(6 + random.Below(9));
    const auto seed = static_cast<uint32_t>(random());
    KuduBlockBloomFilter filter(
        type, {.log_space_bytes = log, .hash_seed = seed, .backend = &GetParam()});
    Model model(log, seed);

    const ModelKeys keys(type, random.Below(1500), random);
    const size_t single = random.Below(keys.bytes.size() + 1) / 4;
    for (size_t i = 0; i < single; ++i) {
      const bool is_new = keys.Visit1(i, [&](auto key) { return filter.Insert(key); });
      ASSERT_EQ(is_new, model.Insert(keys.bytes[i]));
    }
    // Some keys twice, and some null.
    std::vector<uint8_t> valid(keys.bytes.size() / 8 + 2);
    for (uint8_t& byte : valid) byte = static_cast<uint8_t>(random() | random());
    const Keys some = keys.keys().WithValidity(valid.data(), 3);
    const bool if_absent = round % 2 == 0;
    std::vector<uint64_t> fresh(BitmapWords(keys.bytes.size()));
    if (if_absent) {
      filter.InsertIfAbsent(some, Bitmap(fresh));
    } else {
      filter.Insert(some);
    }
    for (size_t i = 0; i < keys.bytes.size(); ++i) {
      const bool is_new = some.IsValid(i) && model.Insert(keys.bytes[i]);
      ASSERT_EQ(Bitmap(fresh).Test(i), if_absent && is_new) << i;
    }
    ASSERT_TRUE(std::ranges::equal(filter.blocks(), model.blocks()));

    const ModelKeys others(type, random.Below(1500), random);
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

INSTANTIATE_TEST_SUITE_P(All, KuduBackendTest, testing::ValuesIn(Backends()), BackendName());

// Results of HashUtil::FastHash32 of Kudu.
TEST(KuduTest, HashesOfKudu) {
  EXPECT_EQ(detail::FastHashOfBytes("", 0u), 0xb5839748u);
  EXPECT_EQ(detail::FastHashOfBytes("a", 0u), 0x439b3c1cu);
  EXPECT_EQ(detail::FastHashOfBytes("kudu", 0u), 0xcd1eab66u);
  EXPECT_EQ(detail::FastHashOfBytes("12345678", 0u), 0x72878cb6u);
  EXPECT_EQ(detail::FastHashOfBytes("0123456789abcdefXYZ", 0u), 0x430b9649u);
  EXPECT_EQ(detail::FastHashOfBytes("", 1u), 0x28b53695u);
  EXPECT_EQ(detail::FastHashOfBytes("a", 1u), 0x50444ba7u);
  EXPECT_EQ(detail::FastHashOfBytes("kudu", 1u), 0xb8462657u);
  EXPECT_EQ(detail::FastHashOfBytes("12345678", 1u), 0x820fad9au);
  EXPECT_EQ(detail::FastHashOfBytes("0123456789abcdefXYZ", 1u), 0x23c6935eu);
  EXPECT_EQ(detail::FastHashOfBytes("", 3735928559u), 0x33b2e949u);
  EXPECT_EQ(detail::FastHashOfBytes("a", 3735928559u), 0x903cfe0au);
  EXPECT_EQ(detail::FastHashOfBytes("kudu", 3735928559u), 0xec757269u);
  EXPECT_EQ(detail::FastHashOfBytes("12345678", 3735928559u), 0x6c5bfa4eu);
  EXPECT_EQ(detail::FastHashOfBytes("0123456789abcdefXYZ", 3735928559u), 0x365bb230u);
}

// Results of BlockBloomFilter::MinLogSpace of Kudu, but at least 6.
TEST(KuduTest, SizesOfKudu) {
  const auto expect = [](uint64_t capacity, double fpr, uint32_t log) {
    const KuduBlockBloomFilter filter(KuduType::kInt64, {.capacity = capacity, .fpr = fpr});
    EXPECT_EQ(filter.log_space_bytes(), log) << capacity << " at " << fpr;
  };
  expect(1, 0.5, 6);
  expect(1, 0.1, 6);
  expect(1, 0.03, 6);
  expect(1, 0.01, 6);
  expect(1, 0.001, 6);
  expect(1, 1e-06, 6);
  expect(2, 0.5, 6);
  expect(2, 0.1, 6);
  expect(2, 0.03, 6);
  expect(2, 0.01, 6);
  expect(2, 0.001, 6);
  expect(2, 1e-06, 6);
  expect(10, 0.5, 6);
  expect(10, 0.1, 6);
  expect(10, 0.03, 6);
  expect(10, 0.01, 6);
  expect(10, 0.001, 6);
  expect(10, 1e-06, 7);
  expect(100, 0.5, 6);
  expect(100, 0.1, 7);
  expect(100, 0.03, 7);
  expect(100, 0.01, 8);
  expect(100, 0.001, 8);
  expect(100, 1e-06, 10);
  expect(1000, 0.5, 9);
  expect(1000, 0.1, 10);
  expect(1000, 0.03, 11);
  expect(1000, 0.01, 11);
  expect(1000, 0.001, 12);
  expect(1000, 1e-06, 13);
  expect(12345, 0.5, 13);
  expect(12345, 0.1, 14);
  expect(12345, 0.03, 14);
  expect(12345, 0.01, 14);
  expect(12345, 0.001, 15);
  expect(12345, 1e-06, 17);
  expect(1000000, 0.5, 19);
  expect(1000000, 0.1, 20);
  expect(1000000, 0.03, 20);
  expect(1000000, 0.01, 21);
  expect(1000000, 0.001, 22);
  expect(1000000, 1e-06, 23);
  expect(10000000, 0.5, 22);
  expect(10000000, 0.1, 23);
  expect(10000000, 0.03, 24);
  expect(10000000, 0.01, 24);
  expect(10000000, 0.001, 25);
  expect(10000000, 1e-06, 27);
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

TEST(KuduTest, OptionsOutOfRange) {
  const auto refused = [](const std::string& text, const KuduOptions& options) {
    ExpectError(ErrorCode::kInvalidArgument, text,
                [&] { KuduBlockBloomFilter(KuduType::kInt64, options); });
  };
  refused("for 0 keys", {});
  refused("for 9223372036854775808 keys", {.capacity = uint64_t{1} << 63});
  refused("needs more than 2^30 bytes", {.capacity = uint64_t{1} << 40});
  refused("needs more than 2^30 bytes", {.capacity = ~uint64_t{0} >> 1});
  refused("false-positive rate", {.capacity = 1, .fpr = 0});
  refused("false-positive rate", {.capacity = 1, .fpr = 1});
  refused("false-positive rate", {.capacity = 1, .fpr = std::nan("")});
  refused("not by both", {.capacity = 10, .log_space_bytes = 6});
  refused("2^5 bytes", {.log_space_bytes = 5});
  refused("2^31 bytes", {.log_space_bytes = 31});
  refused("2^4294967295 bytes", {.log_space_bytes = ~uint32_t{0}});
}

TEST(KuduTest, KeysOfTheOtherSortAreErrors) {
  const std::vector<uint64_t> integers = {1};
  const std::vector<std::string> strings = {"1"};
  std::vector<uint64_t> bits(1);
  for (const KuduType type : kKuduTypes) {
    KuduBlockBloomFilter filter(type, {.capacity = 10});
    const bool takes_integers = type != KuduType::kBytes;
    const Keys wrong = takes_integers ? Keys(strings) : Keys(integers);
    const auto refused = [](const auto& call) {
      ExpectError(ErrorCode::kInvalidArgument, "and not", call);
    };
    refused([&] { filter.Insert(wrong); });
    refused([&] { filter.Count(wrong); });
    refused([&] { filter.Contains(wrong, Bitmap(bits)); });
    if (takes_integers) {
      refused([&] { filter.Insert("1"); });
      refused([&] { filter.Contains("1"); });
    } else {
      refused([&] { filter.Insert(uint64_t{1}); });
      refused([&] { filter.Contains(uint64_t{1}); });
    }
    EXPECT_TRUE(filter.always_false());
    EXPECT_EQ(filter.estimated_count(), 0);
    EXPECT_EQ(filter.Insert(Keys(std::vector<uint64_t>{})), 0u);
    EXPECT_TRUE(filter.always_false());
  }
}

TEST(KuduTest, IntegersThatTheTypeDoesNotHave) {
  for (const KuduType type : {KuduType::kInt8, KuduType::kInt16, KuduType::kInt32}) {
    const int64_t last = (int64_t{1} << (8 * CellBytes(type) - 1)) - 1;
    KuduBlockBloomFilter filter(type, {.capacity = 10, .fpr = 1e-9});
    const std::vector<int64_t> keys = {-1, -last - 1, last, last + 1};
    const std::string name = KuduTypeName(type);
    ExpectError(ErrorCode::kInvalidArgument, "key 3 does not fit the type " + name,
                [&] { filter.Insert(keys); });
    ExpectError(ErrorCode::kInvalidArgument,
                std::to_string(last + 1) + " does not fit the type " + name,
                [&] { filter.Insert(static_cast<uint64_t>(last + 1)); });
    EXPECT_TRUE(filter.always_false());
    const uint8_t but_the_last = 7;
    EXPECT_EQ(filter.Insert(Keys(keys).WithValidity(&but_the_last)), 3u);
    EXPECT_EQ(filter.Count(keys), 3u);
    EXPECT_FALSE(
        filter.Contains(static_cast<uint64_t>(last) * 2 + 1));  // its low bytes are those of -1
  }
}

TEST(KuduTest, ReadyHashes) {
  const std::vector<std::string> strings = RandomStrings(1000, 4);
  std::vector<uint64_t> hashes;
  for (const std::string& string : strings) hashes.push_back(detail::FastHashOfBytes(string, 9));
  KuduBlockBloomFilter filter(KuduType::kBytes, {.capacity = 1000, .hash_seed = 9});
  filter.Insert(strings);
  EXPECT_EQ(filter.Count(Hashes{hashes}), 1000u);
  KuduBlockBloomFilter of_hashes(KuduType::kInt8, {.capacity = 1000, .hash_seed = 9});
  of_hashes.Insert(Hashes{hashes});
  EXPECT_EQ(of_hashes.ToBytes(), filter.ToBytes());
  EXPECT_TRUE(of_hashes.ContainsHash(static_cast<uint32_t>(hashes[0])));
  EXPECT_FALSE(of_hashes.InsertHash(static_cast<uint32_t>(hashes[0])));
  const std::vector<uint64_t> large = {hashes[0], hashes[0] | uint64_t{1} << 32};
  EXPECT_EQ(of_hashes.Count(Hashes{large}), 1u);
  ExpectError(ErrorCode::kInvalidArgument, "key 1 is not a hash of 32 bits",
              [&] { of_hashes.Insert(Hashes{large}); });
}

TEST(KuduTest, EveryFormOfKeys) {
  const std::vector<std::string> strings = RandomStrings(1300, 5);
  const std::vector<std::string_view> views(strings.begin(), strings.end());
  std::string bytes;
  std::vector<int32_t> offsets = {0};
  for (const std::string& string : strings) {
    bytes += string;
    offsets.push_back(static_cast<int32_t>(bytes.size()));
  }
  const std::vector<int64_t> large(offsets.begin(), offsets.end());
  const auto of = [](KuduType type, const Keys& keys) {
    KuduBlockBloomFilter filter(type, {.capacity = 1300});
    filter.Insert(keys);
    EXPECT_EQ(filter.Count(keys), keys.size());
    return filter.ToBytes();
  };
  const KuduType text = KuduType::kBytes;
  EXPECT_EQ(of(text, views), of(text, strings));
  EXPECT_EQ(of(text, StringColumn{bytes.data(), offsets}), of(text, strings));
  EXPECT_EQ(of(text, LargeStringColumn{bytes.data(), large}), of(text, strings));
  const std::vector<std::string> fixed = {"abc", "def", "ghi"};
  EXPECT_EQ(of(text, FixedColumn{"abcdefghi", 3, 3}), of(text, fixed));
  const std::vector<int32_t> ints = {-5, 0, 7};
  const std::vector<int64_t> longs = {-5, 0, 7};
  EXPECT_EQ(of(KuduType::kInt32, ints), of(KuduType::kInt32, longs));
  // Cells of types that KuduType does not name.
  EXPECT_EQ(of(text, FixedColumn{reinterpret_cast<const char*>(ints.data()), 4, 3}),
            of(KuduType::kInt32, ints));
}

TEST(KuduTest, Merge) {
  const std::vector<uint64_t> some = RandomKeys(1000, 1), more = RandomKeys(1000, 2);
  const KuduOptions options = {.capacity = 2000, .hash_seed = 5};
  KuduBlockBloomFilter a(KuduType::kInt64, options), b(KuduType::kInt64, options),
      both(KuduType::kInt64, options);
  a.Merge(b);
  EXPECT_TRUE(a.always_false());
  a.Insert(some);
  b.Insert(more);
  both.Insert(some);
  both.Insert(more);
  a.Merge(b);
  a.Merge(a);
  EXPECT_EQ(a.ToBytes(), both.ToBytes());
  KuduBlockBloomFilter c(KuduType::kInt64, options);
  c.Merge(a);
  EXPECT_EQ(c.ToBytes(), both.ToBytes());

  const auto differs = [&](const std::string& what, KuduType type, const KuduOptions& other) {
    ExpectError(ErrorCode::kIncompatible, what,
                [&] { a.Merge(KuduBlockBloomFilter(type, other)); });
  };
  differs("types of keys", KuduType::kInt32, options);
  differs("seeds", KuduType::kInt64, {.capacity = 2000});
  differs("numbers of bytes", KuduType::kInt64, {.capacity = 20, .hash_seed = 5});
  EXPECT_EQ(a.ToBytes(), both.ToBytes());
}

TEST(KuduTest, EstimatesAndClear) {
  KuduBlockBloomFilter filter(KuduType::kInt64, {.capacity = 100000, .fpr = 0.01});
  EXPECT_EQ(filter.estimated_count(), 0);
  EXPECT_EQ(filter.expected_fpr(), 0);
  filter.Insert(RandomKeys(100000, 1));
  EXPECT_NEAR(filter.estimated_count(), 100000, 700);
  const size_t wrong = filter.Count(RandomKeys(100000, 2));
  EXPECT_NEAR(static_cast<double>(wrong), 100000 * filter.expected_fpr(),
              5 * std::sqrt(100000 * filter.expected_fpr()));
  filter.Clear();
  EXPECT_EQ(filter.ToBytes(),
            KuduBlockBloomFilter(KuduType::kInt64, {.capacity = 100000}).ToBytes());
}

TEST(KuduTest, MovedFrom) {
  KuduBlockBloomFilter filter(KuduType::kInt64, {.capacity = 100000});
  filter.Insert(uint64_t{1});
  KuduBlockBloomFilter other = std::move(filter);
  EXPECT_TRUE(other.Contains(uint64_t{1}));
  EXPECT_FALSE(filter.Contains(uint64_t{1}));
  EXPECT_FALSE(filter.Insert(uint64_t{1}));
  EXPECT_FALSE(filter.InsertHash(1));
  EXPECT_TRUE(filter.always_false());
  EXPECT_EQ(filter.Count(RandomKeys(1000, 1)), 0u);
  const auto read_only = [](const auto& call) { ExpectError(ErrorCode::kReadOnly, "moved", call); };
  read_only([&] { filter.Insert(std::vector<uint64_t>{1}); });
  read_only([&] { filter.Clear(); });
  read_only([&] { filter.Merge(other); });
  filter = std::move(other);
  EXPECT_TRUE(filter.Contains(uint64_t{1}));
}

}  // namespace tamis::kudu_test
