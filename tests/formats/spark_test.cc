#include "tamis/formats/spark.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "formats/src/spark_hash.h"
#include "tamis/error.h"
#include "tests/formats/spark_test_keys.h"
#include "tests/test_util.h"

namespace tamis::spark_test {

std::string Little(uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

// MurmurHash3_x86_32 of smhasher for whole words, with one more word for each remaining byte.
uint32_t HashOfModel(const std::string& bytes, uint32_t seed) {
  std::vector<uint32_t> words;
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    uint32_t word = 0;
    for (size_t i = 0; i < 4; ++i) {
      word |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
    }
    words.push_back(word);
  }
  for (; at < bytes.size(); ++at) {
    const auto byte = static_cast<uint8_t>(bytes[at]);
    words.push_back(byte < 0x80 ? byte : byte | 0xFFFFFF00);
  }
  uint32_t h = seed;
  const auto rotated = [](uint32_t x, int by) { return x << by | x >> (32 - by); };
  for (const uint32_t word : words) {
    h = rotated(h ^ rotated(word * 0xcc9e2d51, 15) * 0x1b873593, 13) * 5 + 0xe6546b64;
  }
  h ^= static_cast<uint32_t>(bytes.size());
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  return h ^ h >> 16;
}

// A model that follows the definition bit by bit.
class Model {
 public:
  Model(SparkVersion version, int32_t seed, uint64_t num_bits, uint32_t num_hashes)
      : version_(version), seed_(seed), bits_(num_bits), num_hashes_(num_hashes) {}

  std::vector<uint64_t> BitsOf(const std::string& bytes) const {
    const uint32_t first = HashOfModel(bytes, static_cast<uint32_t>(seed_));
    const uint32_t second = HashOfModel(bytes, first);
    std::vector<uint64_t> bits;
    for (uint32_t i = 1; i <= num_hashes_; ++i) {
      int64_t index = 0;
      if (version_ == SparkVersion::kV1) {
        index = static_cast<int32_t>(first + i * second);
      } else {
        index = int64_t{static_cast<int32_t>(first)} * 2147483647 +
                int64_t{i} * static_cast<int32_t>(second);
      }
      if (index < 0) index = ~index;
      bits.push_back(static_cast<uint64_t>(index) % bits_.size());
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
  SparkVersion version_;
  int32_t seed_;
  std::vector<bool> bits_;
  uint32_t num_hashes_;
};

// Integers or strings, and the bytes from which their hashes are computed.
struct ModelKeys {
  std::vector<int64_t> integers;
  std::vector<std::string> strings;
  std::vector<std::string> bytes;

  ModelKeys(bool of_integers, size_t n, Random& random) {
    for (size_t i = 0; i < n; ++i) {
      if (of_integers) {
        integers.push_back(static_cast<int64_t>(random()));
        bytes.push_back(Little(static_cast<uint64_t>(integers.back())));
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

void ExpectEveryOutput(const SparkBloomFilter& filter, const Keys& keys,
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

TEST(SparkTest, IsTheModel) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const SparkVersion version = random.Below(3) == 0 ? SparkVersion::kV1 : SparkVersion::kV2;
    const auto seed = version == SparkVersion::kV2 ? static_cast<int32_t>(random()) : 0;
    const uint64_t bits = 500 + random.Below(20000);
    const auto hashes = static_cast<uint32_t>(1 + random.Below(random.Below(4) == 0 ? 340 : 12));
    SparkBloomFilter filter(
        {.num_bits = bits, .num_hashes = hashes, .version = version, .seed = seed});
    ASSERT_EQ(filter.num_bits(), (bits + 63) / 64 * 64);
    Model model(version, seed, filter.num_bits(), hashes);

    const bool of_integers = random.Below(2) == 0;
    const ModelKeys keys(of_integers, random.Below(1500), random);
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

    const ModelKeys others(of_integers, random.Below(1500), random);
    const ModelKeys of_the_other_sort(!of_integers, random.Below(100), random);
    for (const ModelKeys* asked : {&keys, &others, &of_the_other_sort}) {
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

// Hashes that Spark 4.3 printed: Murmur3_x86_32.hashUnsafeBytes.
TEST(SparkTest, HashesOfSpark) {
  constexpr uint32_t kSeed = 0xDEADBEEF;
  const auto of = [](const char* bytes, size_t n, uint32_t seed) {
    return detail::SparkHash(std::string_view(bytes, n), seed);
  };
  EXPECT_EQ(of("", 0, 0), 0x00000000);
  EXPECT_EQ(of("", 0, kSeed), 0x0DE5C6A9);
  EXPECT_EQ(of("\x00", 1, 0), 0x9B9CB39A);
  EXPECT_EQ(of("\x00", 1, kSeed), 0x6865765F);
  EXPECT_EQ(of("\x7F", 1, 0), 0xBB798E6A);
  EXPECT_EQ(of("\x7F", 1, kSeed), 0x09F71DE0);
  EXPECT_EQ(of("\x80", 1, 0), 0xB744E3D6);
  EXPECT_EQ(of("\x80", 1, kSeed), 0x74818400);
  EXPECT_EQ(of("\xFF", 1, 0), 0x62106C3E);
  EXPECT_EQ(of("\xFF", 1, kSeed), 0x8CDB845C);
  EXPECT_EQ(of("\x61\x62", 2, 0), 0x441FFFE9);
  EXPECT_EQ(of("\x61\x62", 2, kSeed), 0x0F12A5F7);
  EXPECT_EQ(of("\xC3\xBC", 2, 0), 0x95A62728);
  EXPECT_EQ(of("\xC3\xBC", 2, kSeed), 0x14E6122E);
  EXPECT_EQ(of("\x61\x62\x63", 3, 0), 0xCD632798);
  EXPECT_EQ(of("\x61\x62\x63", 3, kSeed), 0x3490F681);
  EXPECT_EQ(of("\x61\x62\x63\x64", 4, 0), 0x43ED676A);
  EXPECT_EQ(of("\x61\x62\x63\x64", 4, kSeed), 0xF772BECD);
  EXPECT_EQ(of("\xE2\x82\xAC", 3, 0), 0x22C1C58F);
  EXPECT_EQ(of("\xE2\x82\xAC", 3, kSeed), 0x8CE45A62);
  EXPECT_EQ(of("\xF0\x90\x8D\x88", 4, 0), 0x97097472);
  EXPECT_EQ(of("\xF0\x90\x8D\x88", 4, kSeed), 0xCCFA9FB0);
  EXPECT_EQ(of("\x61\x62\x63\x64\x65", 5, 0), 0x94015D5C);
  EXPECT_EQ(of("\x61\x62\x63\x64\x65", 5, kSeed), 0xF1635304);
  EXPECT_EQ(of("\x80\xFF\x7F\x00\xFF", 5, 0), 0x22123014);
  EXPECT_EQ(of("\x80\xFF\x7F\x00\xFF", 5, kSeed), 0xF0F0D9E5);
  EXPECT_EQ(of("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A", 11, 0), 0x8358C644);
  EXPECT_EQ(of("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A", 11, kSeed), 0x799AEE79);
  EXPECT_EQ(of("\xFF\xFE\xFD\xFC\xFB\xFA\xF9\xF8\xF7\xF6\xF5\xF4\xF3\xF2\xF1", 15, 0), 0x8E198441);
  EXPECT_EQ(of("\xFF\xFE\xFD\xFC\xFB\xFA\xF9\xF8\xF7\xF6\xF5\xF4\xF3\xF2\xF1", 15, kSeed),
            0x4CFD1370);
  EXPECT_EQ(detail::SparkHash(uint64_t{0}, 0), 0x63852AFC);
  EXPECT_EQ(detail::SparkHash(uint64_t{0}, kSeed), 0x3AEB0C1F);
  EXPECT_EQ(detail::SparkHash(~uint64_t{0}, 0), 0x627564E8);
  EXPECT_EQ(detail::SparkHash(~uint64_t{0}, kSeed), 0x75C2FC1E);
  EXPECT_EQ(detail::SparkHash(uint64_t{1}, 0), 0x53075D44);
  EXPECT_EQ(detail::SparkHash(uint64_t{1}, kSeed), 0x1F4887B8);
  EXPECT_EQ(detail::SparkHash(uint64_t{0x0123456789ABCDEF}, 0), 0xFA908422);
  EXPECT_EQ(detail::SparkHash(uint64_t{0x0123456789ABCDEF}, kSeed), 0x0D9870A4);
}

// For whole words, the hash is MurmurHash3_x86_32. A long is hashed as its bytes.
TEST(SparkTest, LongsAreTheirBytes) {
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t key = random();
    const auto seed = static_cast<uint32_t>(random());
    ASSERT_EQ(detail::SparkHash(key, seed), detail::SparkHash(std::string_view(Little(key)), seed));
    ASSERT_EQ(detail::SparkHash(key, seed), HashOfModel(Little(key), seed));
  }
}

// Bits past 2^31, which version 2 reaches and version 1 does not.
TEST(SparkTest, LargeFilters) {
  constexpr uint64_t kBits = (uint64_t{1} << 31) + 64 * 1000;
  for (const SparkVersion version : {SparkVersion::kV1, SparkVersion::kV2}) {
    SparkBloomFilter filter({.num_bits = kBits, .num_hashes = 7, .version = version});
    const Model model(version, 0, kBits, 7);
    const std::vector<uint64_t> keys = RandomKeys(100000, 3);
    filter.Insert(keys);
    EXPECT_EQ(filter.Count(keys), keys.size());
    uint64_t past = 0;
    for (const uint64_t word : filter.words().last(1000)) past += word != 0;
    EXPECT_EQ(past != 0, version == SparkVersion::kV2);
    for (size_t i = 0; i < 1000; ++i) {
      for (const uint64_t bit : model.BitsOf(Little(keys[i]))) {
        ASSERT_EQ((filter.words()[bit / 64] >> (bit % 64)) & 1, 1u);
      }
    }
  }
}

// Sizes that Spark 3.5 and 4.3 printed.
TEST(SparkTest, SizesOfSpark) {
  const auto expect = [](const SparkOptions& options, uint64_t words, uint32_t hashes) {
    const SparkBloomFilter filter(options);
    EXPECT_EQ(filter.num_bits(), 64 * words) << options.capacity << " at " << options.fpr;
    EXPECT_EQ(filter.num_hashes(), hashes) << options.capacity << " at " << options.fpr;
  };
  expect({.capacity = 1, .fpr = 0.03}, 1, 5);
  expect({.capacity = 1, .fpr = 0.01}, 1, 6);
  expect({.capacity = 1, .fpr = 0.5}, 1, 1);
  expect({.capacity = 1, .fpr = 0.001}, 1, 10);
  expect({.capacity = 1, .fpr = 1e-9}, 1, 30);
  expect({.capacity = 2, .fpr = 0.03}, 1, 5);
  expect({.capacity = 2, .fpr = 0.001}, 1, 10);
  expect({.capacity = 2, .fpr = 1e-9}, 2, 30);
  expect({.capacity = 2, .fpr = 0.7}, 1, 1);
  expect({.capacity = 3, .fpr = 0.03}, 1, 5);
  expect({.capacity = 3, .fpr = 0.001}, 1, 10);
  expect({.capacity = 3, .fpr = 1e-9}, 3, 30);
  expect({.capacity = 3, .fpr = 0.7}, 1, 1);
  expect({.capacity = 7, .fpr = 0.03}, 1, 5);
  expect({.capacity = 7, .fpr = 0.001}, 2, 10);
  expect({.capacity = 7, .fpr = 1e-9}, 5, 30);
  expect({.capacity = 7, .fpr = 0.7}, 1, 1);
  expect({.capacity = 10, .fpr = 0.03}, 2, 5);
  expect({.capacity = 10, .fpr = 0.01}, 2, 7);
  expect({.capacity = 10, .fpr = 0.5}, 1, 1);
  expect({.capacity = 10, .fpr = 0.001}, 3, 10);
  expect({.capacity = 10, .fpr = 1e-9}, 7, 30);
  expect({.capacity = 10, .fpr = 0.7}, 1, 1);
  expect({.capacity = 100, .fpr = 0.03}, 12, 5);
  expect({.capacity = 100, .fpr = 0.01}, 15, 7);
  expect({.capacity = 100, .fpr = 0.5}, 3, 1);
  expect({.capacity = 100, .fpr = 0.001}, 23, 10);
  expect({.capacity = 100, .fpr = 1e-9}, 68, 30);
  expect({.capacity = 100, .fpr = 0.7}, 2, 1);
  expect({.capacity = 1000, .fpr = 0.03}, 115, 5);
  expect({.capacity = 1000, .fpr = 0.01}, 150, 7);
  expect({.capacity = 1000, .fpr = 1e-9}, 674, 30);
  expect({.capacity = 12345, .fpr = 0.03}, 1408, 5);
  expect({.capacity = 12345, .fpr = 0.01}, 1849, 7);
  expect({.capacity = 12345, .fpr = 1e-9}, 8320, 30);
  expect({.capacity = 1000000, .fpr = 0.03}, 114039, 5);
  expect({.capacity = 1000000, .fpr = 0.01}, 149767, 7);
  expect({.capacity = 1000000, .fpr = 1e-9}, 673950, 30);
  expect({.capacity = 100000000, .fpr = 0.01}, 14976654, 7);
  expect({.capacity = 1, .num_bits = 1}, 1, 1);
  expect({.capacity = 1, .num_bits = 64}, 1, 44);
  expect({.capacity = 1, .num_bits = 65}, 2, 45);
  expect({.capacity = 1, .num_bits = 1000}, 16, 693);
  expect({.capacity = 1, .num_bits = 1 << 23}, 131072, 5814540);
  expect({.capacity = 1, .num_bits = 10000019}, 156251, 6931485);
  expect({.capacity = 7, .num_bits = 1000}, 16, 99);
  expect({.capacity = 7, .num_bits = 1 << 23}, 131072, 830649);
  expect({.capacity = 100, .num_bits = 1}, 1, 1);
  expect({.capacity = 100, .num_bits = 64}, 1, 1);
  expect({.capacity = 100, .num_bits = 65}, 2, 1);
  expect({.capacity = 100, .num_bits = 1000}, 16, 7);
  expect({.capacity = 100, .num_bits = 1 << 23}, 131072, 58145);
  expect({.capacity = 100, .num_bits = 10000019}, 156251, 69315);
  expect({.capacity = 1000, .num_bits = 1000}, 16, 1);
  expect({.capacity = 1000, .num_bits = 1 << 23}, 131072, 5815);
  expect({.capacity = 1000000, .num_bits = 1 << 23}, 131072, 6);
  expect({.capacity = 1, .fpr = 1e-300}, 23, 996);
  expect({.capacity = 10, .fpr = 5e-324}, 243, 1074);
  EXPECT_EQ(SparkBloomFilter({.capacity = 1000}).num_hashes(), 5u);
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

TEST(SparkTest, OptionsOutOfRange) {
  const auto refused = [](const std::string& text, const SparkOptions& options) {
    ExpectError(ErrorCode::kInvalidArgument, text, [&] { SparkBloomFilter{options}; });
  };
  refused("for 0 keys", {});
  refused("for 0 keys", {.num_bits = 64});
  refused("for 9223372036854775808 keys", {.capacity = uint64_t{1} << 63});
  refused("false-positive rate", {.capacity = 1, .fpr = 0});
  refused("false-positive rate", {.capacity = 1, .fpr = 1});
  refused("false-positive rate", {.capacity = 1, .fpr = std::nan("")});
  refused("0 bits", {.capacity = 1, .fpr = 0.99});
  refused("cannot have more than", {.capacity = uint64_t{1} << 40});
  refused("cannot have more than",
          {.num_bits = 64 * SparkBloomFilter::kMaxWords + 1, .num_hashes = 1});
  refused("cannot have more than", {.num_bits = ~uint64_t{0}, .num_hashes = 1});
  refused("cannot have more than", {.capacity = 1, .num_bits = ~uint64_t{0}});
  refused("requires num_bits", {.num_hashes = 3});
  refused("of 64 bits cannot have 45 hashes; allowed: [1, 44]", {.num_bits = 64, .num_hashes = 45});
  // Spark makes one hash in this case, because the number does not fit an int.
  refused("2772588722 hashes; allowed: [1, 2147483647]",
          {.capacity = 1, .num_bits = 4'000'000'000});
  refused("not by both", {.capacity = 10, .num_bits = 64, .num_hashes = 3});
  refused("not by both", {.capacity = 10, .num_hashes = 3});
  refused("version 3", {.num_bits = 64, .num_hashes = 3, .version = static_cast<SparkVersion>(3)});
  refused("cannot have the seed 1; allowed: 0",
          {.capacity = 10, .version = SparkVersion::kV1, .seed = 1});
}

TEST(SparkTest, HashesAreNotKeys) {
  const std::vector<uint64_t> hashes = {1};
  std::vector<uint64_t> bits(1);
  SparkBloomFilter filter({.capacity = 10});
  const auto refused = [](const auto& call) {
    ExpectError(ErrorCode::kInvalidArgument, "and not hashes", call);
  };
  refused([&] { filter.Insert(Keys(Hashes{hashes})); });
  refused([&] { filter.Count(Hashes{hashes}); });
  refused([&] { filter.Contains(Keys(Hashes{hashes}), Bitmap(bits)); });
  EXPECT_EQ(filter.estimated_count(), 0);
}

TEST(SparkTest, EveryFormOfKeys) {
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
    SparkBloomFilter filter({.capacity = 1300});
    filter.Insert(keys);
    EXPECT_EQ(filter.Count(keys), keys.size());
    return filter.ToBytes();
  };
  EXPECT_EQ(of(views), of(strings));
  EXPECT_EQ(of(StringColumn{bytes.data(), offsets}), of(strings));
  EXPECT_EQ(of(LargeStringColumn{bytes.data(), large}), of(strings));
  const std::vector<std::string> fixed = {"abc", "def", "ghi"};
  EXPECT_EQ(of(FixedColumn{"abcdefghi", 3, 3}), of(fixed));

  SparkBloomFilter filter({.capacity = 10, .fpr = 1e-9});
  filter.Insert(std::vector<int32_t>{-1});
  filter.Insert(std::vector<uint32_t>{0xFFFF'FFFF});
  EXPECT_EQ(filter.Count(std::vector<int64_t>{-1, 0xFFFF'FFFF, 1}), 2u);
  EXPECT_EQ(filter.Insert({"abc", "def"}), 2u);
  EXPECT_EQ(filter.Count(fixed), 2u);
}

TEST(SparkTest, Merge) {
  const std::vector<uint64_t> some = RandomKeys(1000, 1), more = RandomKeys(1000, 2);
  const SparkOptions options = {.capacity = 2000, .seed = 7};
  SparkBloomFilter a(options), b(options), both(options);
  a.Insert(some);
  b.Insert(more);
  both.Insert(some);
  both.Insert(more);
  a.Merge(b);
  a.Merge(a);
  EXPECT_EQ(a.ToBytes(), both.ToBytes());

  const SparkOptions same = {.num_bits = a.num_bits(), .num_hashes = a.num_hashes(), .seed = 7};
  const auto differs = [&](const std::string& what, const auto& change) {
    SparkOptions other = same;
    change(other);
    ExpectError(ErrorCode::kIncompatible, what, [&] { a.Merge(SparkBloomFilter(other)); });
  };
  differs("versions", [](SparkOptions& other) {
    other.version = SparkVersion::kV1;
    other.seed = 0;
  });
  differs("seeds", [](SparkOptions& other) { other.seed = -7; });
  differs("numbers of hashes", [](SparkOptions& other) { ++other.num_hashes; });
  differs("numbers of bits", [](SparkOptions& other) { other.num_bits += 64; });
  EXPECT_EQ(a.ToBytes(), both.ToBytes());
  a.Merge(SparkBloomFilter(same));
  EXPECT_EQ(a.ToBytes(), both.ToBytes());
}

TEST(SparkTest, EstimatesAndClear) {
  for (const SparkVariant& variant : kSparkVariants) {
    SparkBloomFilter filter(
        {.capacity = 100000, .fpr = 0.01, .version = variant.version, .seed = variant.seed});
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
}

TEST(SparkTest, MovedFrom) {
  SparkBloomFilter filter({.capacity = 100000});
  filter.Insert(uint64_t{1});
  SparkBloomFilter other = std::move(filter);
  EXPECT_TRUE(other.Contains(uint64_t{1}));
  EXPECT_FALSE(filter.Contains(uint64_t{1}));
  EXPECT_FALSE(filter.Insert(uint64_t{1}));
  EXPECT_FALSE(filter.Insert("1"));
  EXPECT_EQ(filter.Count(RandomKeys(1000, 1)), 0u);
  const auto read_only = [](const auto& call) { ExpectError(ErrorCode::kReadOnly, "moved", call); };
  read_only([&] { filter.Insert(std::vector<uint64_t>{1}); });
  read_only([&] { filter.Clear(); });
  read_only([&] { filter.Merge(other); });
  filter = std::move(other);
  EXPECT_TRUE(filter.Contains(uint64_t{1}));
  // A moved-from filter can be written and read, although its number of hashes would be invalid for
  // so few bits.
  SparkBloomFilter slow({.capacity = 1, .num_bits = 100000});
  EXPECT_GT(slow.num_hashes(), SparkBloomFilter::MaxHashes(512));
  const SparkBloomFilter constructed = std::move(slow);
  EXPECT_EQ(SparkBloomFilter::FromBytes(slow.ToBytes()).num_bits(), 512u);
  SparkBloomFilter assigned({.capacity = 1, .num_bits = 100000});
  filter = std::move(assigned);
  EXPECT_EQ(SparkBloomFilter::FromBytes(assigned.ToBytes()).num_bits(), 512u);
}

}  // namespace tamis::spark_test
