// Formats that contain the blocks of a SplitBlockBloomFilter: Milvus, Kvrocks, Vortex.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/kvrocks.h"
#include "tamis/formats/milvus.h"
#include "tamis/formats/vortex.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::block_formats_test {

constexpr HashSpec kXxh64{HashKind::kXxh64, 0};

Bytes Golden(const std::string& name) {
  return ReadBytes(std::filesystem::path(TAMIS_GOLDEN_DIR) / name);
}

std::span<const std::byte> AsBytes(const Bytes& bytes) { return std::as_bytes(std::span(bytes)); }

Bytes Chars(const std::vector<std::byte>& bytes) {
  Bytes chars(bytes.size());
  std::ranges::transform(bytes, chars.begin(), [](std::byte b) { return static_cast<char>(b); });
  return chars;
}

// The keys of tests/golden/milvus/make_milvus.py.
std::vector<int64_t> MilvusIntegers(size_t n) {
  std::vector<int64_t> keys;
  for (uint64_t i = 0; i < n; ++i) keys.push_back(static_cast<int64_t>(Mix(i)));
  return keys;
}

std::vector<std::string> MilvusText(size_t n) {
  const std::string letters[] = {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x90\x8D\x88"};
  std::vector<std::string> keys;
  for (size_t i = 0; i < n; ++i) {
    std::string key = std::to_string(i);
    for (size_t j = 0; j < i % 4; ++j) key += letters[j];
    keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> KvrocksKeys(size_t begin, size_t end) {
  std::vector<std::string> keys;
  for (size_t i = begin; i < end; ++i) keys.push_back("key" + std::to_string(i));
  return keys;
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

template <typename Call>
void ExpectRefused(const std::string& check, uint64_t at, ErrorCode code, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "accepted: " << check;
  } catch (const FormatError& error) {
    EXPECT_EQ(error.check(), check) << error.what();
    EXPECT_EQ(error.offset(), at) << error.what();
    EXPECT_EQ(error.code(), code) << error.what();
  }
}

// A blob that a client of Milvus wrote, and the keys in it.
struct MilvusRecipe {
  std::string name;
  size_t integers, texts;
  uint64_t capacity;
  double fpr;
};

const MilvusRecipe kMilvusRecipes[] = {
    {"int64", 50, 0, 50, 0.005},
    {"utf8", 0, 50, 50, 0.05},
    {"both", 50, 50, 100, 0.01},
    {"empty", 0, 0, 0, 0.005},
};

Bytes MilvusGolden(const std::string& name) { return Golden("milvus/" + name + ".mbf1"); }

TEST(MilvusTest, GoldenFilesAreReproduced) {
  for (const MilvusRecipe& recipe : kMilvusRecipes) {
    SCOPED_TRACE(recipe.name);
    SplitBlockBloomFilter filter({.capacity = std::max<uint64_t>(1, recipe.capacity),
                                  .bytes = milvus::BytesFor(recipe.capacity, recipe.fpr),
                                  .hash = kXxh64});
    if (recipe.integers != 0) filter.Insert(MilvusIntegers(recipe.integers));
    if (recipe.texts != 0) filter.Insert(MilvusText(recipe.texts));
    milvus::Header header = milvus::HeaderOf(filter);
    EXPECT_EQ(Chars(milvus::ToBytes(filter)), Chars(milvus::ToBytes(filter, header)));
    header.capacity = recipe.capacity;
    header.fpr = recipe.fpr;
    EXPECT_EQ(Chars(milvus::ToBytes(filter, header)), MilvusGolden(recipe.name));
  }
}

TEST(MilvusTest, GoldenFilesAreRead) {
  const TemporaryFolder folder;
  for (const MilvusRecipe& recipe : kMilvusRecipes) {
    SCOPED_TRACE(recipe.name);
    const Bytes golden = MilvusGolden(recipe.name);
    const milvus::Header header = milvus::ReadHeader(AsBytes(golden));
    EXPECT_EQ(header.capacity, recipe.capacity);
    EXPECT_EQ(header.fpr, recipe.fpr);
    EXPECT_EQ(header.key_types.Has(KeyType::kInteger), recipe.integers != 0);
    EXPECT_EQ(header.key_types.Has(KeyType::kBytes), recipe.texts != 0);
    EXPECT_EQ(32 + 32 * header.num_blocks, golden.size());

    const ConstSplitBlockView view = milvus::View(AsBytes(golden));
    EXPECT_EQ(view.blocks().data(), AsBytes(golden).data() + 32);
    const std::filesystem::path path = folder.path() / recipe.name;
    WriteBytes(path, golden);
    const SplitBlockBloomFilter loaded = milvus::Load(path);
    const SplitBlockBloomFilter filter = milvus::FromBytes(AsBytes(golden));
    for (const SplitBlockBloomFilter* one : {&loaded, &filter}) {
      EXPECT_EQ(one->Count(MilvusIntegers(recipe.integers)), recipe.integers);
      EXPECT_EQ(one->Count(MilvusText(recipe.texts)), recipe.texts);
      EXPECT_EQ(one->key_types(), header.key_types);
      EXPECT_NEAR(static_cast<double>(one->inserted_count()),
                  static_cast<double>(recipe.integers + recipe.texts), 10);
      EXPECT_EQ(Chars(milvus::ToBytes(*one, header)), golden);
    }
    const std::vector<int64_t> others = MilvusIntegers(100000);
    EXPECT_EQ(view.Count(others), filter.Count(others));
    EXPECT_GE(view.Count(others), recipe.integers);
    EXPECT_EQ(view.Count(MilvusText(recipe.texts)), recipe.texts);
  }
}

// The sizes of BloomFilterBuilder of pymilvus.
TEST(MilvusTest, SizesOfMilvus) {
  EXPECT_EQ(milvus::BytesFor(0), 32u);
  EXPECT_EQ(milvus::BytesFor(1), 32u);
  EXPECT_EQ(milvus::BytesFor(50), 128u);
  EXPECT_EQ(milvus::BytesFor(50, 0.05), 64u);
  EXPECT_EQ(milvus::BytesFor(1000000), uint64_t{1} << 21);
  EXPECT_EQ(milvus::BytesFor(10000000, 0.0001), uint64_t{1} << 25);
  ExpectError(ErrorCode::kInvalidArgument, "0.06", [] { milvus::BytesFor(1, 0.06); });
  ExpectError(ErrorCode::kInvalidArgument, "9e-05", [] { milvus::BytesFor(1, 0.00009); });
  ExpectError(ErrorCode::kInvalidArgument, "134217728",
              [] { milvus::BytesFor(uint64_t{1} << 40); });
  ExpectError(ErrorCode::kInvalidArgument, "134217728", [] { milvus::BytesFor(~uint64_t{0}); });
}

TEST(MilvusTest, UnsupportedByTheFormat) {
  SplitBlockBloomFilter filter({.bytes = 64, .hash = kXxh64});
  EXPECT_EQ(milvus::ToBytes(filter).size(), 96u);
  const milvus::Header header = milvus::HeaderOf(filter);
  ExpectError(ErrorCode::kIncompatible, "Milvus have the hash xxh64",
              [] { milvus::ToBytes(SplitBlockBloomFilter({.bytes = 64})); });
  ExpectError(ErrorCode::kIncompatible, "xxh64 with seed 0", [] {
    milvus::ToBytes(SplitBlockBloomFilter({.bytes = 64, .hash = {HashKind::kXxh64, 1}}));
  });
  ExpectError(ErrorCode::kInvalidArgument, "96 bytes",
              [] { milvus::ToBytes(SplitBlockBloomFilter({.bytes = 96, .hash = kXxh64})); });
  ExpectError(ErrorCode::kInvalidArgument, "for 2 blocks", [&] {
    milvus::ToBytes(SplitBlockBloomFilter({.bytes = 32, .hash = kXxh64}), header);
  });
  filter.InsertHash(5);
  ExpectError(ErrorCode::kIncompatible, "unknown", [&] { milvus::ToBytes(filter); });
  EXPECT_EQ(milvus::ToBytes(filter, header).size(), 96u);  // the caller states the key types
  milvus::Header wrong = header;
  wrong.key_types = KeyType::kDouble;
  ExpectError(ErrorCode::kInvalidArgument, "keys that are",
              [&] { milvus::ToBytes(filter, wrong); });
}

TEST(MilvusTest, DamagedOnes) {
  const Bytes golden = MilvusGolden("int64");
  const TemporaryFolder folder;
  const auto refused = [&](const Bytes& bytes, const std::string& check, uint64_t at,
                           ErrorCode code = ErrorCode::kCorrupt) {
    const std::filesystem::path path = folder.path() / "damaged";
    WriteBytes(path, bytes);
    ExpectRefused(check, at, code, [&] { milvus::ReadHeader(AsBytes(bytes)); });
    ExpectRefused(check, at, code, [&] { milvus::View(AsBytes(bytes)); });
    ExpectRefused(check, at, code, [&] { milvus::FromBytes(AsBytes(bytes)); });
    ExpectRefused(check, at, code, [&] { milvus::Load(path); });
  };
  for (size_t n = 0; n < golden.size(); ++n) {
    refused(Bytes(golden.begin(), golden.begin() + static_cast<std::ptrdiff_t>(n)), "file length",
            n);
  }
  Bytes longer = golden;
  longer.push_back(0);
  refused(longer, "file length", golden.size());
  const auto with = [&](size_t at, int value) {
    Bytes bytes = golden;
    bytes[at] = static_cast<char>(value);
    return bytes;
  };
  for (size_t at = 0; at < 4; ++at) refused(with(at, 'x'), "magic", 0);
  for (const int version : {0, 2, 255}) {
    refused(with(4, version), "version", 4, ErrorCode::kUnsupported);
    refused(with(6, version), "algorithm", 6, ErrorCode::kUnsupported);
  }
  for (const int domains : {4, 8, 255}) {
    refused(with(28, domains), "domains", 28, ErrorCode::kUnsupported);
  }
  for (const size_t at : {29, 30, 31}) refused(with(at, 1), "reserved", at);
  refused(with(24, 0), "blocks", 24);
  refused(with(24, 3), "blocks", 24);
  refused(with(27, 1), "blocks", 24);
  refused(with(24, 8), "file length", golden.size());
  Bytes most = with(24, 0);
  most[26] = 0x40;  // 2^22: refused before 128 MiB are allocated
  refused(most, "file length", golden.size());
  most[26] = static_cast<char>(0x80);
  refused(most, "blocks", 24);
}

TEST(MilvusTest, BytesAtOddAddresses) {
  const Bytes golden = MilvusGolden("int64");
  Bytes moved(golden.size() + 1);
  std::ranges::copy(golden, moved.begin() + 1);
  const auto bytes = AsBytes(moved).subspan(1);
  ExpectError(ErrorCode::kInvalidArgument, "must be a multiple", [&] { milvus::View(bytes); });
  EXPECT_EQ(milvus::FromBytes(bytes).Count(MilvusIntegers(50)), 50u);
}

// Filters of any keys and size survive a round trip.
TEST(MilvusTest, RoundTrips) {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    SplitBlockBloomFilter filter({.bytes = uint64_t{32} << random.Below(10), .hash = kXxh64});
    const std::vector<uint64_t> keys = RandomKeys(random.Below(3000), random());
    const std::vector<std::string> strings = RandomStrings(random.Below(2) * 500, random());
    filter.Insert(keys);
    filter.Insert(strings);
    const std::vector<std::byte> bytes = milvus::ToBytes(filter);
    const SplitBlockBloomFilter again = milvus::FromBytes(bytes);
    ASSERT_TRUE(SameBytes(again.payload(), filter.payload()));
    ASSERT_EQ(again.capacity(), filter.capacity());
    ASSERT_EQ(again.key_types(), filter.key_types());
    ASSERT_EQ(milvus::View(bytes).Count(keys), keys.size());
    ASSERT_EQ(milvus::View(bytes).Count(strings), strings.size());
    ASSERT_EQ(milvus::ToBytes(again), bytes);
  }
}

TEST(KvrocksTest, GoldenFiles) {
  const std::vector<std::string> first = KvrocksKeys(0, 100), second = KvrocksKeys(100, 120);
  const std::vector<std::string>* const keys[] = {&first, &second};
  for (size_t i = 0; i < 2; ++i) {
    const Bytes golden = Golden("kvrocks/filter" + std::to_string(i) + ".kvrocks");
    const uint64_t bytes = kvrocks::BytesFor(i == 0 ? 100 : 200);
    EXPECT_EQ(golden.size(), bytes);
    SplitBlockBloomFilter filter({.bytes = bytes, .hash = kXxh64});
    filter.Insert(*keys[i]);
    EXPECT_EQ(Chars(kvrocks::ToBytes(filter)), golden);
    const SplitBlockBloomFilter read = kvrocks::FromBytes(AsBytes(golden));
    EXPECT_EQ(read.Count(*keys[i]), keys[i]->size());
    EXPECT_EQ(Chars(kvrocks::ToBytes(read)), golden);
    const ConstSplitBlockView view = kvrocks::View(AsBytes(golden));
    EXPECT_EQ(view.Count(*keys[i]), keys[i]->size());
    EXPECT_EQ(view.blocks().data(), AsBytes(golden).data());
  }
  for (const char* name : {"chain64", "chain32"}) {
    const Bytes golden = Golden(std::string("kvrocks/") + name + ".kvrocks");
    const kvrocks::Chain chain = kvrocks::ReadChain(AsBytes(golden));
    EXPECT_EQ(chain.expires, golden.size() == 45 ? 1700000000123u : 1700000000000u);
    EXPECT_EQ(chain.version, 0x0123456789ABCDEFu);
    EXPECT_EQ(chain.keys, 120u);
    EXPECT_EQ(chain.filters, 2);
    EXPECT_EQ(chain.expansion, 2);
    EXPECT_EQ(chain.base_capacity, 100u);
    EXPECT_EQ(chain.fpr, 0.01);
    EXPECT_EQ(chain.bytes, 384u);
  }
}

// Results of BlockSplitBloomFilter::OptimalNumOfBytes of Kvrocks.
TEST(KvrocksTest, SizesOfKvrocks) {
  const auto expect = [](uint32_t capacity, double fpr, uint64_t bytes) {
    EXPECT_EQ(kvrocks::BytesFor(capacity, fpr), bytes) << capacity << " at " << fpr;
  };
  expect(1, 0.5, 32);
  expect(1, 0.0001, 32);
  expect(100, 0.5, 64);
  expect(100, 0.01, 128);
  expect(100, 0.0001, 512);
  expect(12345, 0.5, 8192);
  expect(12345, 0.01, 16384);
  expect(12345, 0.0001, 32768);
  expect(1000000, 0.5, 524288);
  expect(1000000, 0.01, 2097152);
  expect(1000000, 0.0001, 4194304);
}

TEST(KvrocksTest, DamagedOnes) {
  const ErrorCode corrupt = ErrorCode::kCorrupt;
  for (const char* name : {"chain64", "chain32"}) {
    const Bytes golden = Golden(std::string("kvrocks/") + name + ".kvrocks");
    for (size_t n = 0; n < golden.size(); ++n) {
      ExpectRefused("file length", n, corrupt,
                    [&] { kvrocks::ReadChain(AsBytes(golden).first(n)); });
    }
    const auto with = [&](size_t from_end, int value) {
      Bytes bytes = golden;
      bytes[bytes.size() - from_end] = static_cast<char>(value);
      return bytes;
    };
    const size_t size = golden.size();
    Bytes longer = golden;
    longer.push_back(0);
    ExpectRefused("file length", size, corrupt, [&] { kvrocks::ReadChain(AsBytes(longer)); });
    for (const int flags : {0x00, 0x85, 0x8A}) {
      const Bytes other = with(size, flags);
      ExpectRefused("type", 0, ErrorCode::kUnsupported,
                    [&] { kvrocks::ReadChain(AsBytes(other)); });
    }
    const Bytes none = with(19, 0);
    ExpectRefused("filters", size - 20, corrupt, [&] { kvrocks::ReadChain(AsBytes(none)); });
    for (const int high : {0x3F, 0xC0, 0xFF}) {  // negative, above 1, NaN
      const Bytes rate = with(12, high);
      ExpectRefused("error rate", size - 12, corrupt, [&] { kvrocks::ReadChain(AsBytes(rate)); });
    }
  }
  for (const size_t size : {0, 1, 16, 31, 33, 96, 127}) {
    const Bytes value(size);
    ExpectRefused("blocks", size, corrupt, [&] { kvrocks::View(AsBytes(value)); });
    ExpectRefused("blocks", size, corrupt, [&] { kvrocks::FromBytes(AsBytes(value)); });
  }
}

TEST(KvrocksTest, UnsupportedByTheFormat) {
  ExpectError(ErrorCode::kIncompatible, "Kvrocks have the hash xxh64",
              [] { kvrocks::ToBytes(SplitBlockBloomFilter({.bytes = 64})); });
  SplitBlockBloomFilter odd({.bytes = 96, .hash = kXxh64});
  ExpectError(ErrorCode::kInvalidArgument, "96 bytes", [&] { kvrocks::ToBytes(odd); });
  SplitBlockBloomFilter integers({.bytes = 64, .hash = kXxh64});
  integers.Insert(uint64_t{1});
  ExpectError(ErrorCode::kIncompatible, "integers", [&] { kvrocks::ToBytes(integers); });
  ExpectError(ErrorCode::kInvalidArgument, "rate", [] { kvrocks::BytesFor(1, 1); });
  ExpectError(ErrorCode::kInvalidArgument, "134217728",
              [] { kvrocks::BytesFor(~uint32_t{0}, 1e-6); });
}

TEST(VortexTest, GoldenFiles) {
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < 60; ++i) integers.push_back(7 * i - 50);
  const std::vector<std::string> text = {"vortex"};
  for (const bool of_text : {true, false}) {
    const std::string name = of_text ? "vortex/vortex" : "vortex/int64";
    const Keys keys = of_text ? Keys(text) : Keys(integers);
    const Bytes golden = Golden(name + ".sbbf"), options = Golden(name + ".options");
    const uint64_t blocks = vortex::ReadOptions(AsBytes(options));
    SplitBlockBloomFilter filter({.bytes = 32 * blocks});
    filter.Insert(keys);
    EXPECT_EQ(Chars(vortex::ToBytes(filter)), golden);
    EXPECT_EQ(Chars(vortex::OptionsOf(filter)), options);
    const SplitBlockBloomFilter read = vortex::FromBytes(AsBytes(golden), blocks);
    EXPECT_EQ(read.Count(keys), keys.size());
    EXPECT_EQ(Chars(vortex::ToBytes(read)), golden);
    EXPECT_EQ(vortex::View(AsBytes(golden), blocks).Count(keys), keys.size());
    EXPECT_EQ(vortex::View(AsBytes(golden), blocks).blocks().data(), AsBytes(golden).data());
  }
  // The block and the hash that a test of Vortex expects.
  constexpr uint32_t kWords[] = {0x0000'1000, 0x0200'0000, 0x0000'2000, 0x0800'0000,
                                 0x0200'0000, 0x0000'0040, 0x0000'4000, 0x0000'1000};
  EXPECT_TRUE(
      std::ranges::equal(AsBytes(Golden("vortex/vortex.sbbf")), std::as_bytes(std::span(kWords))));
  EXPECT_EQ(HashBytes("vortex"), 16649171463689419262u);
}

TEST(VortexTest, DamagedOnes) {
  const ErrorCode corrupt = ErrorCode::kCorrupt;
  const Bytes golden = Golden("vortex/int64.sbbf"), options = Golden("vortex/int64.options");
  for (size_t n = 0; n < 8; ++n) {
    ExpectRefused("file length", n, corrupt,
                  [&] { vortex::ReadOptions(AsBytes(options).first(n)); });
  }
  const Bytes long_options(9), zeros(8), other_hash = {3, 0, 0, 0, 1, 0, 0, 0};
  ExpectRefused("file length", 8, corrupt, [&] { vortex::ReadOptions(AsBytes(long_options)); });
  ExpectRefused("blocks", 0, corrupt, [&] { vortex::ReadOptions(AsBytes(zeros)); });
  ExpectRefused("hash", 4, ErrorCode::kUnsupported,
                [&] { vortex::ReadOptions(AsBytes(other_hash)); });
  for (size_t n = 0; n < golden.size(); ++n) {
    const auto bytes = AsBytes(golden).first(n);
    ExpectRefused("file length", n, corrupt, [&] { vortex::View(bytes, 3); });
    ExpectRefused("file length", n, corrupt, [&] { vortex::FromBytes(bytes, 3); });
  }
  ExpectRefused("file length", 64, corrupt, [&] { vortex::View(AsBytes(golden), 2); });
  ExpectRefused("file length", 96, corrupt,
                [&] { vortex::FromBytes(AsBytes(golden), 0xFFFF'FFFF); });
  for (const uint64_t blocks : {uint64_t{0}, uint64_t{1} << 32, ~uint64_t{0}}) {
    ExpectError(ErrorCode::kInvalidArgument, "blocks",
                [&] { vortex::View(AsBytes(golden), blocks); });
  }
  ExpectError(ErrorCode::kIncompatible, "Vortex have the hash xxh3",
              [] { vortex::ToBytes(SplitBlockBloomFilter({.bytes = 64, .hash = kXxh64})); });
}

// One golden file, which is opened in its format, queried and changed. The written bytes equal the
// bytes read.
struct Opened {
  std::string name;
  void (*use)(const Bytes& bytes);
};

void Use(SplitBlockBloomFilter filter) {
  const std::vector<uint64_t> keys = RandomKeys(20, 5);
  ASSERT_LE(filter.Count(keys), 20u);
  filter.Insert(keys);
  ASSERT_EQ(filter.Count(keys), 20u);
}

void UseMilvus(const Bytes& bytes) {
  SplitBlockBloomFilter filter = milvus::FromBytes(AsBytes(bytes));
  ASSERT_EQ(Chars(milvus::ToBytes(filter, milvus::ReadHeader(AsBytes(bytes)))), bytes);
  Use(std::move(filter));
}
void UseKvrocks(const Bytes& bytes) {
  SplitBlockBloomFilter filter = kvrocks::FromBytes(AsBytes(bytes));
  ASSERT_EQ(Chars(kvrocks::ToBytes(filter)), bytes);
  Use(std::move(filter));
}
void UseChain(const Bytes& bytes) {
  const kvrocks::Chain chain = kvrocks::ReadChain(AsBytes(bytes));
  ASSERT_GT(chain.filters, 0);
  ASSERT_GT(chain.fpr, 0);
  ASSERT_LT(chain.fpr, 1);
}
void UseVortex(const Bytes& bytes) {
  SplitBlockBloomFilter filter =
      vortex::FromBytes(AsBytes(bytes), std::max<size_t>(1, (bytes.size() + 16) / 32));
  ASSERT_EQ(Chars(vortex::ToBytes(filter)), bytes);
  Use(std::move(filter));
}
void UseOptions(const Bytes& bytes) { ASSERT_GE(vortex::ReadOptions(AsBytes(bytes)), 1u); }

class BlockFormatsMutationTest : public testing::TestWithParam<Opened> {};

// Tests kMutations of each golden file.
TEST_P(BlockFormatsMutationTest, IsAnErrorOrAFilter) {
  const Bytes golden = Golden(GetParam().name);
  size_t accepted = 0, refused = 0;
  Random random(11);
  for (size_t i = 0; i < kMutations; ++i) {
    Bytes bytes = golden;
    for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
      const size_t at = random.Below(bytes.size() + 1);
      const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      switch (random.Below(6)) {
        case 0:  // mostly in the header
          if (!bytes.empty()) {
            bytes[random.Below(std::min<size_t>(32, bytes.size()))] = static_cast<char>(random());
          }
          break;
        case 1:
          if (random.Below(4) == 0) bytes.erase(place, bytes.end());
          break;
        case 2:
          bytes.insert(place, random.Below(17), static_cast<char>(random()));
          break;
        case 3:  // whole blocks more or fewer
          bytes.resize(32 * random.Below(9) + golden.size() % 32);
          break;
        default:
          if (at < bytes.size()) *place = static_cast<char>(*place ^ (1 << random.Below(8)));
      }
    }
    try {
      GetParam().use(bytes);
      if (HasFatalFailure()) return;
      ++accepted;
    } catch (const FormatError& error) {
      ++refused;
      ASSERT_LE(error.offset(), bytes.size()) << error.what();
    }
  }
  EXPECT_GT(accepted, kMutations / 10);
  EXPECT_GT(refused, kMutations / 10);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, BlockFormatsMutationTest,
    testing::Values(Opened{"milvus/int64.mbf1", UseMilvus}, Opened{"milvus/utf8.mbf1", UseMilvus},
                    Opened{"milvus/both.mbf1", UseMilvus}, Opened{"milvus/empty.mbf1", UseMilvus},
                    Opened{"kvrocks/filter0.kvrocks", UseKvrocks},
                    Opened{"kvrocks/filter1.kvrocks", UseKvrocks},
                    Opened{"kvrocks/chain64.kvrocks", UseChain},
                    Opened{"kvrocks/chain32.kvrocks", UseChain},
                    Opened{"vortex/vortex.sbbf", UseVortex}, Opened{"vortex/int64.sbbf", UseVortex},
                    Opened{"vortex/vortex.options", UseOptions},
                    Opened{"vortex/int64.options", UseOptions}),
    [](const auto& test) {
      std::string name = test.param.name;
      std::ranges::replace_if(
          name, [](char c) { return c == '/' || c == '.'; }, '_');
      return name;
    });

}  // namespace tamis::block_formats_test
