// Dumps of RedisBloom: golden files that its own sources wrote, and damaged files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/redis_test_recipes.h"
#include "tests/test_util.h"

namespace tamis::redis_dump_test {

constexpr size_t kFrame = 16;

Bytes RedisGolden(const std::string& name) {
  return ReadBytes(std::filesystem::path(TAMIS_GOLDEN_DIR) / "redis_bloom" / (name + ".dump"));
}

std::span<const std::byte> AsBytes(const Bytes& bytes) { return std::as_bytes(std::span(bytes)); }

template <typename Filter>
Bytes Written(const Filter& filter) {
  const std::vector<std::byte> bytes = filter.ToBytes();
  EXPECT_EQ(bytes.size(), filter.serialized_bytes());
  Bytes chars(bytes.size());
  std::memcpy(chars.data(), bytes.data(), bytes.size());
  return chars;
}

// Parses the chunks of a file by the definition.
std::vector<RedisChunk> ChunksOf(const Bytes& file) {
  std::vector<RedisChunk> chunks;
  for (size_t at = 0; at < file.size();) {
    uint64_t n = 0;
    RedisChunk chunk;
    std::memcpy(&chunk.iterator, &file[at], 8);
    std::memcpy(&n, &file[at + 8], 8);
    const auto bytes = AsBytes(file).subspan(at + kFrame, n);
    chunk.bytes.assign(bytes.begin(), bytes.end());
    chunks.push_back(std::move(chunk));
    at += kFrame + n;
  }
  return chunks;
}

Bytes FileOf(const std::vector<RedisChunk>& chunks) {
  Bytes file;
  for (const RedisChunk& chunk : chunks) {
    const uint64_t n = chunk.bytes.size();
    char frame[kFrame];
    std::memcpy(frame, &chunk.iterator, 8);
    std::memcpy(frame + 8, &n, 8);
    file.insert(file.end(), frame, frame + kFrame);
    for (const std::byte byte : chunk.bytes) file.push_back(static_cast<char>(byte));
  }
  return file;
}

struct BloomFormat {
  using Filter = RedisBloomFilter;
  using Recipe = RedisBloomRecipe;
  static std::span<const Recipe> Recipes() { return kRedisBloomRecipes; }
  static constexpr size_t kHeader = 20;
  // A filter with several parts.
  static constexpr const char* kGrown = "bf_growing";

  // Options cannot create filters with a number of bits instead of a capacity.
  static bool CanMake(const Recipe& recipe) { return (recipe.flags & 2) == 0; }
  static Filter Make(const Recipe& recipe) {
    return Filter({.capacity = recipe.capacity,
                   .error_rate = recipe.error_rate,
                   .expansion = recipe.growth,
                   .non_scaling = (recipe.flags & 8) != 0,
                   .power_of_two = (recipe.flags & 1) == 0,
                   .hash32 = (recipe.flags & 4) == 0});
  }
  static void Erase(Filter&, uint64_t) {}
  static uint64_t Erased(const Recipe&) { return 0; }
  static uint64_t Left(const Recipe& recipe, const Filter& filter) {
    // Keys that were false positives when they came were not inserted, but are found.
    EXPECT_LE(filter.size(), recipe.inserted);
    return recipe.inserted;
  }
  // Any damaged filter can be queried and changed.
  static void Use(Filter& filter, const std::vector<std::string>& keys) {
    ASSERT_LE(filter.Count(keys), keys.size());
    // With an expansion of 2^32 - 1, the machine has no memory for the next link, or barely enough.
    if (filter.link(filter.num_links() - 1).capacity > 10000 || filter.expansion() > 10) return;
    try {
      filter.Insert(keys);
      ASSERT_EQ(filter.Count(keys), keys.size());
    } catch (const Error& error) {
      ASSERT_TRUE(error.code() == ErrorCode::kOutOfMemory ||
                  error.code() == ErrorCode::kInvalidArgument)
          << error.what();
    }
  }
};

struct CuckooFormat {
  using Filter = RedisCuckooFilter;
  using Recipe = RedisCuckooRecipe;
  static std::span<const Recipe> Recipes() { return kRedisCuckooRecipes; }
  static constexpr size_t kHeader = 38;
  static constexpr const char* kGrown = "cf_expansion_4";

  static bool CanMake(const Recipe&) { return true; }
  static Filter Make(const Recipe& recipe) {
    return Filter({.capacity = recipe.capacity,
                   .bucket_size = recipe.bucket_size,
                   .max_iterations = recipe.max_iterations,
                   .expansion = recipe.expansion});
  }
  static void Erase(Filter& filter, uint64_t i) { filter.Erase(RedisTestKey(i)); }
  static uint64_t Erased(const Recipe& recipe) { return recipe.erased; }
  static uint64_t Left(const Recipe& recipe, const Filter& filter) {
    EXPECT_LE(filter.size(), recipe.inserted - recipe.erased);
    return filter.size();
  }
  static void Use(Filter& filter, const std::vector<std::string>& keys) {
    ASSERT_LE(filter.Count(keys), keys.size());
    // Larger filters would only take long.
    if (filter.bytes() > 10000 || filter.expansion() > 10 || filter.max_iterations() > 1000) return;
    const size_t inserted = filter.Insert(keys);
    ASSERT_GE(filter.Count(keys), inserted);
    std::vector<uint64_t> counts(keys.size());
    filter.Occurrences(keys, counts);
    ASSERT_LE(filter.Erase(keys), keys.size());
  }
};

template <typename Format>
class RedisDumpTest : public testing::Test {};
using Formats = testing::Types<BloomFormat, CuckooFormat>;
TYPED_TEST_SUITE(RedisDumpTest, Formats);

TYPED_TEST(RedisDumpTest, EachGoldenFileIsReproduced) {
  for (const auto& recipe : TypeParam::Recipes()) {
    SCOPED_TRACE(recipe.name);
    if (!TypeParam::CanMake(recipe)) continue;
    const Bytes golden = RedisGolden(recipe.name);
    auto bulk = TypeParam::Make(recipe);
    bulk.Insert(RedisTestKeys(0, recipe.inserted));
    auto single = TypeParam::Make(recipe);
    for (uint64_t i = 0; i < recipe.inserted; ++i) single.Insert(RedisTestKey(i));
    for (uint64_t i = 0; i < TypeParam::Erased(recipe); ++i) {
      TypeParam::Erase(bulk, i);
      TypeParam::Erase(single, i);
    }
    EXPECT_EQ(Written(bulk), golden);
    EXPECT_EQ(Written(single), golden);
    EXPECT_EQ(FileOf(single.ToChunks()), golden);
  }
}

TYPED_TEST(RedisDumpTest, EachGoldenFileIsRead) {
  using Filter = typename TypeParam::Filter;
  const TemporaryFolder folder;
  for (const auto& recipe : TypeParam::Recipes()) {
    SCOPED_TRACE(recipe.name);
    const Bytes golden = RedisGolden(recipe.name);
    const Filter filter = Filter::FromBytes(AsBytes(golden));
    const auto keys = RedisTestKeys(TypeParam::Erased(recipe), recipe.inserted);
    EXPECT_GE(filter.Count(keys), TypeParam::Left(recipe, filter));
    const std::filesystem::path path = folder.path() / recipe.name;
    filter.Save(path);
    EXPECT_EQ(ReadBytes(path), golden);
    EXPECT_EQ(Written(Filter::Load(path)), golden);
    EXPECT_EQ(Written(Filter::FromChunks(ChunksOf(golden))), golden);
  }
}

// The pieces equal ToBytes, without a copy of large parts.
TYPED_TEST(RedisDumpTest, PiecesAreTheFile) {
  for (const auto& recipe : TypeParam::Recipes()) {
    SCOPED_TRACE(recipe.name);
    const Bytes golden = RedisGolden(recipe.name);
    const auto filter = TypeParam::Filter::FromBytes(AsBytes(golden));
    Bytes written;
    size_t pieces = 0;
    filter.Write([&](std::span<const std::byte> piece) {
      ++pieces;
      for (const std::byte byte : piece) written.push_back(static_cast<char>(byte));
    });
    EXPECT_EQ(written, golden);
    EXPECT_EQ(pieces, 2 * ChunksOf(golden).size());
    ExpectError(
        [&] {
          filter.Write([](std::span<const std::byte>) { throw Error(ErrorCode::kIo, "full"); });
        },
        ErrorCode::kIo, "full");
  }
}

// Dumps with the last reply of SCANDUMP, and with chunks of any length, give the same filter.
TYPED_TEST(RedisDumpTest, OtherChunksOfTheSame) {
  using Filter = typename TypeParam::Filter;
  for (const auto& recipe : TypeParam::Recipes()) {
    SCOPED_TRACE(recipe.name);
    const Bytes golden = RedisGolden(recipe.name);
    std::vector<RedisChunk> pieces;
    int64_t iterator = 1;
    for (const RedisChunk& chunk : ChunksOf(golden)) {
      if (pieces.empty()) {
        pieces.push_back(chunk);
        continue;
      }
      for (size_t at = 0; at < chunk.bytes.size(); at += 3) {
        const auto rest = std::span(chunk.bytes).subspan(at);
        const auto piece = rest.first(std::min<size_t>(3, rest.size()));
        iterator += static_cast<int64_t>(piece.size());
        pieces.push_back({iterator, {piece.begin(), piece.end()}});
      }
    }
    EXPECT_EQ(Written(Filter::FromChunks(pieces)), golden);
    EXPECT_EQ(Written(Filter::FromBytes(AsBytes(FileOf(pieces)))), golden);
    pieces.push_back({0, {}});
    EXPECT_EQ(Written(Filter::FromChunks(pieces)), golden);
    EXPECT_EQ(Written(Filter::FromBytes(AsBytes(FileOf(pieces)))), golden);
  }
}

TYPED_TEST(RedisDumpTest, PartsEqualTheChunks) {
  using Filter = typename TypeParam::Filter;
  for (const auto& recipe : TypeParam::Recipes()) {
    SCOPED_TRACE(recipe.name);
    const std::vector<RedisChunk> chunks = ChunksOf(RedisGolden(recipe.name));
    std::vector<uint64_t> sizes;  // each below 16 MiB
    for (size_t i = 1; i < chunks.size(); ++i) sizes.push_back(chunks[i].bytes.size());
    EXPECT_EQ(Filter::PartsOfHeader(chunks[0].bytes), sizes);
    for (size_t n = 0; n < chunks[0].bytes.size(); ++n) {
      const auto cut = std::span(chunks[0].bytes).first(n);
      EXPECT_THROW(Filter::PartsOfHeader(cut), FormatError) << n;
    }
  }
}

TEST(RedisBloomDumpTest, GrownHeaders) {
  const auto header = [](const RedisBloomFilter& filter) { return filter.ToChunks()[0].bytes; };
  RedisBloomFilter filter({.capacity = 10});
  std::vector<std::vector<std::byte>> headers;
  for (uint64_t i = 0; i < 60; i += 4) {
    headers.push_back(header(filter));
    filter.Insert(RedisTestKeys(i, i + 4));
  }
  ASSERT_GE(filter.num_links(), 3u);
  for (size_t i = 0; i < headers.size(); ++i) {
    for (size_t j = 0; j < headers.size(); ++j) {
      EXPECT_EQ(RedisBloomFilter::HasGrown(headers[i], headers[j]), j >= i) << i << " " << j;
    }
  }
  // Headers with other links, flags or growth.
  for (const RedisBloomOptions& options :
       {RedisBloomOptions{.capacity = 11}, RedisBloomOptions{.capacity = 10, .error_rate = 0.02},
        RedisBloomOptions{.capacity = 10, .expansion = 3},
        RedisBloomOptions{.capacity = 10, .power_of_two = true}}) {
    RedisBloomFilter other(options);
    other.Insert(RedisTestKeys(0, 60));
    EXPECT_FALSE(RedisBloomFilter::HasGrown(headers[0], header(other)));
  }
  EXPECT_THROW(RedisBloomFilter::HasGrown(headers[0], {}), FormatError);
  EXPECT_THROW(RedisBloomFilter::HasGrown({}, headers[0]), FormatError);
}

template <typename Filter>
void ExpectRefused(const Bytes& bytes, const std::string& check, uint64_t at,
                   ErrorCode code = ErrorCode::kCorrupt) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "damaged";
  WriteBytes(path, bytes);
  for (const bool in_file : {false, true}) {
    try {
      if (in_file) {
        Filter::Load(path);
      } else {
        Filter::FromBytes(AsBytes(bytes));
      }
      ADD_FAILURE() << "accepted: " << check << " at " << at;
    } catch (const FormatError& error) {
      EXPECT_EQ(error.check(), check) << error.what();
      EXPECT_EQ(error.offset(), at) << error.what();
      EXPECT_EQ(error.code(), code) << error.what();
      const std::string name = in_file ? path.string() : "memory";
      EXPECT_EQ(std::string(error.what()).rfind(name, 0), 0u) << error.what();
    }
  }
}

// The golden file with some bytes replaced by a value.
template <typename T>
Bytes With(Bytes bytes, size_t at, T value) {
  std::memcpy(&bytes[at], &value, sizeof(value));
  return bytes;
}

TYPED_TEST(RedisDumpTest, ChunksThatAreNotADump) {
  using Filter = typename TypeParam::Filter;
  const Bytes golden = RedisGolden(TypeParam::kGrown);
  const std::vector<RedisChunk> chunks = ChunksOf(golden);
  ASSERT_GE(chunks.size(), 4u);
  const size_t second = kFrame + chunks[0].bytes.size();
  std::set<size_t> ends;
  for (size_t i = 0, at = 0; i < chunks.size(); ++i) {
    at += kFrame + chunks[i].bytes.size();
    ends.insert(at);
  }
  ExpectRefused<Filter>({}, "file length", 0);
  for (size_t n = 1; n < golden.size(); ++n) {
    try {
      Filter::FromBytes(AsBytes(golden).first(n));
      ADD_FAILURE() << n << " bytes accepted";
    } catch (const FormatError& error) {
      EXPECT_EQ(error.check(), ends.contains(n) ? "chunks" : "file length") << error.what();
      EXPECT_EQ(error.offset(), n);
    }
  }
  for (const int64_t iterator : {-1, 0, 2}) {
    ExpectRefused<Filter>(With(golden, 0, iterator), "iterator", 0);
  }
  for (const int64_t iterator : {INT64_MIN, int64_t{0}, int64_t{1}, INT64_MAX}) {
    ExpectRefused<Filter>(With(golden, second, iterator), "iterator", second);
  }
  // Refused before anything is allocated.
  ExpectRefused<Filter>(With(golden, 8, ~uint64_t{0}), "file length", golden.size());
  ExpectRefused<Filter>(With(golden, second + 8, uint64_t{1} << 62), "file length", golden.size());

  std::vector<RedisChunk> other = chunks;
  std::swap(other[1], other.back());
  ExpectRefused<Filter>(FileOf(other), "iterator", second);
  other = chunks;
  other.push_back(other.back());
  ExpectRefused<Filter>(FileOf(other), "iterator", golden.size());
  other = chunks;
  other.push_back({0, {}});
  other.push_back({0, {}});
  ExpectRefused<Filter>(FileOf(other), "iterator", golden.size() + kFrame);
  other = chunks;
  other.insert(other.begin() + 1, {1, {}});
  ExpectRefused<Filter>(FileOf(other), "chunk length", second + 8);
  ExpectRefused<Filter>(FileOf({{0, {}}}), "chunk length", 8);
  // The chunk of the first part has a byte of the second part.
  other = chunks;
  other[1].iterator += 1;
  other[1].bytes.push_back(other[2].bytes.front());
  other[2].bytes.erase(other[2].bytes.begin());
  ExpectRefused<Filter>(FileOf(other), "chunk length", second + 8);
  // One more byte at the end.
  other = chunks;
  other.back().iterator += 1;
  other.back().bytes.push_back(std::byte{1});
  ExpectRefused<Filter>(FileOf(other), "chunks", golden.size() + 1);
  // A header that is too short for any filter.
  other = chunks;
  other[0].bytes.resize(19);
  ExpectRefused<Filter>(FileOf(other), "header length", kFrame + 19);
  try {
    Filter::FromChunks({});
    ADD_FAILURE() << "accepted";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.check(), "file length");
  }
}

// A dump of full links of one byte each.
Bytes ManyLinks(uint32_t links) {
  std::vector<std::byte> header;
  const auto put = [&](auto value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    header.insert(header.end(), bytes.begin(), bytes.end());
  };
  put(uint64_t{links});
  put(links);
  put(uint32_t{5});  // flags
  put(uint32_t{2});  // expansion
  for (uint32_t i = 0; i < links; ++i) {
    put(uint64_t{1});  // bytes
    put(uint64_t{8});  // bits
    put(uint64_t{1});  // size
    put(0.01);
    put(9.585);
    put(uint32_t{7});  // hashes
    put(uint64_t{1});  // capacity
    put(uint8_t{0});
  }
  std::vector<RedisChunk> chunks = {{1, header}};
  for (uint32_t i = 0; i < links; ++i) chunks.push_back({2 + int64_t{i}, {std::byte{0}}});
  return FileOf(chunks);
}

// Links are limited because every key is looked up in all of them.
TEST(RedisBloomDumpTest, MoreLinksThanThereAreErrorRates) {
  constexpr uint32_t kMost = RedisBloomFilter::kMaxLinks;
  auto filter = RedisBloomFilter::FromBytes(AsBytes(ManyLinks(kMost)));
  EXPECT_EQ(filter.num_links(), kMost);
  ExpectError([&] { filter.Insert("a key"); }, ErrorCode::kInvalidArgument, "1075 links");
  EXPECT_EQ(Written(filter), ManyLinks(kMost));
  ExpectRefused<RedisBloomFilter>(ManyLinks(kMost + 1), "links", kFrame + 8);
  ExpectRefused<RedisBloomFilter>(ManyLinks(100'000), "links", kFrame + 8);

  // The largest number of links of a new filter: the least capacity and the highest rate.
  RedisBloomFilter most({.capacity = 1, .error_rate = 0.99, .expansion = 1});
  uint64_t key = 0;
  ExpectError(
      [&] {
        for (;;) most.Insert(key++);
      },
      ErrorCode::kInvalidArgument, "cannot have a link for 1 keys");
  EXPECT_LE(most.num_links(), kMost);
  EXPECT_GT(most.num_links(), 1000u);
  EXPECT_EQ(Written(RedisBloomFilter::FromBytes(AsBytes(Written(most)))), Written(most));
}

// With ENTS_IS_BITS the next link would have 2^(capacity * expansion) bits: a file of a hundred
// bytes would take any amount of memory.
TEST(RedisBloomDumpTest, CapacitiesThatAreLogarithmsDoNotGrow) {
  Bytes bytes = RedisGolden("bf_log2_bits");
  const size_t expansion_at = kFrame + 16;
  ASSERT_EQ(bytes[expansion_at], 2);
  bytes[expansion_at] = 1;
  RedisBloomFilter filter = RedisBloomFilter::FromBytes(AsBytes(bytes));
  const uint64_t capacity = filter.capacity();
  try {
    filter.Insert(RedisTestKeys(0, 2 * capacity));
    ADD_FAILURE() << "of " << capacity << " keys";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
  }
  EXPECT_EQ(filter.size(), capacity);
  EXPECT_EQ(filter.num_links(), 1u);
  EXPECT_EQ(filter.Count(RedisTestKeys(0, capacity)), capacity);
}

TEST(RedisBloomDumpTest, DamagedHeaders) {
  const Bytes golden = RedisGolden("bf_growing");
  const auto expect = [&](size_t at, auto value, const char* check,
                          ErrorCode code = ErrorCode::kCorrupt) {
    ExpectRefused<RedisBloomFilter>(With(golden, kFrame + at, value), check, kFrame + at, code);
  };
  expect(0, uint64_t{5}, "size");
  expect(8, uint32_t{0}, "links");
  ExpectRefused<RedisBloomFilter>(With(golden, kFrame + 8, ~uint32_t{0}), "header length",
                                  kFrame + 20 + 4 * 53);
  ExpectRefused<RedisBloomFilter>(With(golden, kFrame + 8, uint32_t{2}), "header length",
                                  kFrame + 20 + 2 * 53);
  expect(12, uint32_t{16}, "flags", ErrorCode::kUnsupported);
  expect(12, uint32_t{0x80000005}, "flags", ErrorCode::kUnsupported);
  for (const size_t link : {size_t{20}, size_t{20 + 2 * 53}}) {
    expect(link, uint64_t{0}, "bytes");
    expect(link, (uint64_t{1} << 60) + 1, "bytes");
    expect(link, uint64_t{1} << 61, "bytes");
    expect(link + 8, uint64_t{8}, "bits");
    for (const double rate : {0.0, -0.5, 1.0, 2.0, std::nan(""), HUGE_VAL}) {
      expect(link + 24, rate, "error rate");
    }
    for (const double keys : {0.0, -1.0, 1e9, 1e300, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      expect(link + 32, keys, "bits per key");
    }
    expect(link + 40, uint32_t{0}, "hashes");
    expect(link + 40, ~uint32_t{0}, "hashes");
    expect(link + 52, uint8_t{64}, "log2 of the bits");
    expect(link + 52, uint8_t{63}, "log2 of the bits");
  }
  expect(20 + 53 + 16, ~uint64_t{0}, "size");  // with the sizes before it
  // 1 PiB, refused before anything is allocated.
  Bytes large = With(golden, kFrame + 20, uint64_t{1} << 50);
  large = With(large, kFrame + 28, uint64_t{1} << 53);
  ExpectRefused<RedisBloomFilter>(large, "chunks", golden.size());
}

TEST(RedisCuckooDumpTest, DamagedHeaders) {
  const Bytes golden = RedisGolden("cf_expansion_4");
  const auto expect = [&](size_t at, auto value, const char* check) {
    ExpectRefused<RedisCuckooFilter>(With(golden, kFrame + at, value), check, kFrame + at);
  };
  for (const uint64_t buckets : {uint64_t{0}, uint64_t{3}, ~uint64_t{0}, uint64_t{1} << 56}) {
    expect(8, buckets, "buckets");
  }
  for (const uint64_t layers : {uint64_t{0}, uint64_t{65536}, uint64_t{65537}, ~uint64_t{0}}) {
    expect(24, layers, "layers");
  }
  expect(24, uint64_t{40}, "layers");  // more than 2^56 buckets
  expect(32, uint16_t{0}, "bucket size");
  expect(32, uint16_t{256}, "bucket size");
  expect(34, uint16_t{0}, "iterations");
  for (const int expansion : {3, 32769, 65535}) {
    expect(36, static_cast<uint16_t>(expansion), "expansion");
  }
  ExpectRefused<RedisCuckooFilter>(With(golden, kFrame + 36, uint16_t{0}), "layers", kFrame + 24);
  ExpectRefused<RedisCuckooFilter>(With(golden, kFrame + 8, uint64_t{1} << 50), "chunks",
                                   golden.size());
  // 2^55 buckets of 255 slots are more than 2^62 bytes. The product must not wrap around.
  Bytes large = With(RedisGolden("cf_default"), kFrame + 8, uint64_t{1} << 55);
  large = With(large, kFrame + 32, uint16_t{255});
  ExpectRefused<RedisCuckooFilter>(large, "chunks", large.size());
}

TYPED_TEST(RedisDumpTest, FilesThatCannotBeRead) {
  const TemporaryFolder folder;
  for (const auto& path : {folder.path() / "none", folder.path()}) {
    ExpectError([&] { TypeParam::Filter::Load(path); }, ErrorCode::kIo, path.string());
  }
}

Bytes Mutated(Bytes bytes, size_t header, Random& random) {
  for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
    const size_t at = random.Below(bytes.size() + 1);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random.Below(6)) {
      case 0:  // in the first frame and header
        if (!bytes.empty()) {
          bytes[random.Below(std::min(kFrame + header, bytes.size()))] =
              static_cast<char>(random());
        }
        break;
      case 1:
      case 2:
        if (at < bytes.size()) *place = static_cast<char>(*place ^ (1 << random.Below(8)));
        break;
      case 3:
        bytes.erase(place, bytes.end());
        break;
      case 4:
        bytes.insert(place, random.Below(17), static_cast<char>(random()));
        break;
      default:  // in the bits or fingerprints
        if (bytes.size() > 2 * kFrame + header) {
          const size_t behind = 2 * kFrame + header;
          bytes[behind + random.Below(bytes.size() - behind)] = static_cast<char>(random());
        }
    }
  }
  return bytes;
}

// Tests kMutations of each golden file.
TYPED_TEST(RedisDumpTest, MutationsAreAnErrorOrAFilter) {
  using Filter = typename TypeParam::Filter;
  const std::vector<std::string> keys = RedisTestKeys(0, 20);
  for (const auto& recipe : TypeParam::Recipes()) {
    SCOPED_TRACE(recipe.name);
    const Bytes golden = RedisGolden(recipe.name);
    size_t accepted = 0, refused = 0;
    Random random(11);
    for (size_t i = 0; i < kMutations; ++i) {
      const Bytes bytes = Mutated(golden, TypeParam::kHeader, random);
      try {
        auto filter = Filter::FromBytes(AsBytes(bytes));
        ++accepted;
        Bytes written = Written(filter);
        // Adds the last reply, 16 zeros, if the input had it.
        if (written.size() < bytes.size()) written.resize(written.size() + kFrame);
        ASSERT_EQ(written, bytes);
        TypeParam::Use(filter, keys);
        if (testing::Test::HasFatalFailure()) return;
      } catch (const FormatError& error) {
        ++refused;
        ASSERT_LE(error.offset(), bytes.size()) << error.what();
      }
    }
    EXPECT_GT(accepted, kMutations / 50);
    EXPECT_GT(refused, kMutations / 5);
  }
}

}  // namespace tamis::redis_dump_test
