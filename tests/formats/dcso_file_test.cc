// DCSO's bytes: golden files that flor wrote, and damaged files.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/dcso.h"
#include "tamis/formats/foreign_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/dcso_test_keys.h"
#include "tests/test_util.h"

namespace tamis::dcso_file_test {

std::span<const std::byte> AsBytes(const Bytes& bytes) { return std::as_bytes(std::span(bytes)); }

Bytes DcsoGolden(const std::string& name) {
  return ReadBytes(std::filesystem::path(TAMIS_GOLDEN_DIR) / "dcso" / (name + ".bloom"));
}

Bytes Written(const DcsoBloomFilter& filter) {
  const std::vector<std::byte> bytes = filter.ToBytes();
  EXPECT_EQ(bytes.size(), filter.serialized_bytes());
  Bytes chars(bytes.size());
  std::memcpy(chars.data(), bytes.data(), bytes.size());
  return chars;
}

struct Recipe {
  const char* name;
  uint64_t capacity;
  double fpr;
  uint64_t keys;
  std::string free_data;
};

const Recipe kRecipes[] = {
    {"few", 10, 0.01, 8, ""},
    {"empty", 1000, 0.5, 0, ""},
    {"one_bit", 1, 0.5, 1, std::string(1, '\0')},
    {"full", 20, 0.03, 400, ""},
    {"many_hashes", 3, 1e-300, 2, ""},
    {"free_data", 100, 1e-6, 60, "{\"source\": \"test\", \"keys\": \"SHA-1\"}\n"},
};

TEST(DcsoGoldenTest, EachIsReproduced) {
  for (const Recipe& recipe : kRecipes) {
    SCOPED_TRACE(recipe.name);
    const DcsoOptions options = {.capacity = recipe.capacity, .fpr = recipe.fpr};
    DcsoBloomFilter bulk(options), single(options);
    const std::vector<std::string> keys = DcsoTestKeys(recipe.keys);
    bulk.Insert(keys);
    for (const std::string& key : keys) single.Insert(key);
    for (DcsoBloomFilter* filter : {&bulk, &single}) {
      filter->SetFreeData(std::as_bytes(std::span(recipe.free_data)));
      EXPECT_EQ(Written(*filter), DcsoGolden(recipe.name));
    }
  }
}

TEST(DcsoGoldenTest, EachIsReadAndMapped) {
  const TemporaryFolder folder;
  for (const Recipe& recipe : kRecipes) {
    SCOPED_TRACE(recipe.name);
    const Bytes golden = DcsoGolden(recipe.name);
    const std::filesystem::path path = folder / recipe.name;
    DcsoBloomFilter::FromBytes(AsBytes(golden)).Save(path);
    EXPECT_EQ(ReadBytes(path), golden);
    const DcsoBloomFilter loaded = DcsoBloomFilter::Load(path);
    DcsoBloomFilter mapped = DcsoBloomFilter::Map(path);
    const std::vector<std::string> keys = DcsoTestKeys(recipe.keys);
    const std::vector<std::string> others = RandomStrings(1000, 9);
    for (const DcsoBloomFilter* filter : {&loaded, static_cast<const DcsoBloomFilter*>(&mapped)}) {
      EXPECT_EQ(Written(*filter), golden);
      EXPECT_EQ(filter->Count(keys), keys.size());
      EXPECT_EQ(filter->Count(others), loaded.Count(others));
      EXPECT_EQ(filter->expected_fpr(), loaded.expected_fpr());
      EXPECT_TRUE(
          std::ranges::equal(filter->free_data(), std::as_bytes(std::span(recipe.free_data))));
    }
    const DcsoBloomFilter moved = std::move(mapped);
    EXPECT_EQ(Written(moved), golden);
  }
}

TEST(DcsoGoldenTest, Mapped_IsReadOnly) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "filter";
  WriteBytes(path, DcsoGolden("few"));
  DcsoBloomFilter mapped = DcsoBloomFilter::Map(path);
  const std::vector<std::string> keys = {"key"};
  EXPECT_FALSE(mapped.Insert("key"));
  ExpectError([&] { mapped.Insert(keys); }, ErrorCode::kReadOnly, "mapped");
  ExpectError([&] { mapped.Clear(); }, ErrorCode::kReadOnly, "mapped");
  ExpectError([&] { mapped.Merge(mapped); }, ErrorCode::kReadOnly, "mapped");
  // A mapped filter can be merged into another filter.
  DcsoBloomFilter loaded = DcsoBloomFilter::Load(path);
  loaded.Merge(mapped);
  EXPECT_EQ(loaded.inserted_count(), 16u);
  EXPECT_EQ(ReadBytes(path), DcsoGolden("few"));

  ForeignFilter by_name = ForeignFilter::Map(path, "dcso");
  EXPECT_EQ(by_name.Count(DcsoTestKeys(8)), 8u);
  EXPECT_TRUE(by_name.read_only());
  EXPECT_FALSE(ForeignFilter::Load(path, "dcso").read_only());
  ExpectError([&] { by_name.Insert(keys); }, ErrorCode::kReadOnly, "mapped");
  for (const ForeignFormat& format : ForeignFormats()) {
    if (format.can_map) continue;
    ExpectError([&] { ForeignFilter::Map(path, format.name); }, ErrorCode::kUnsupported,
                "cannot be mapped");
  }
}

void ExpectRefused(const Bytes& bytes, const std::string& check, uint64_t at,
                   ErrorCode code = ErrorCode::kCorrupt) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "damaged";
  WriteBytes(path, bytes);
  ExpectFormatError([&] { DcsoBloomFilter::FromBytes(AsBytes(bytes)); }, check, at, code);
  ExpectFormatError([&] { DcsoBloomFilter::Load(path); }, check, at, code);
  ExpectFormatError([&] { DcsoBloomFilter::Map(path); }, check, at, code);
}

template <typename Value>
Bytes With(Bytes bytes, size_t at, Value value) {
  static_assert(sizeof(value) == 8);
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  return bytes;
}

TEST(DcsoFileTest, DamagedOnes_Throw) {
  const Bytes golden = DcsoGolden("few");
  ASSERT_EQ(golden.size(), 64u);
  for (size_t n = 0; n < golden.size(); ++n) {
    ExpectRefused(Bytes(golden.begin(), golden.begin() + static_cast<std::ptrdiff_t>(n)),
                  "file length", n);
  }
  for (const uint64_t flags : {uint64_t{0}, uint64_t{2}, uint64_t{0x100}, ~uint64_t{0}}) {
    ExpectRefused(With(golden, 0, flags), "version", 0, ErrorCode::kUnsupported);
  }
  ExpectRefused(With(golden, 8, uint64_t{0}), "capacity", 8);
  for (const double fpr : {0.0, -0.1, -0.0, 1.0, 1e300, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    ExpectRefused(With(golden, 16, fpr), "rate", 16);
  }
  for (const uint64_t hashes : {uint64_t{0}, uint64_t{1076}, uint64_t{1} << 32, ~uint64_t{0}}) {
    ExpectRefused(With(golden, 24, hashes), "hashes", 24);
  }
  for (const uint64_t bits : {uint64_t{0}, (uint64_t{1} << 53) + 1, ~uint64_t{0}}) {
    ExpectRefused(With(golden, 32, bits), "bits", 32);
  }
  // Refused before memory is allocated.
  for (const uint64_t bits : {uint64_t{129}, uint64_t{1} << 40, uint64_t{1} << 53}) {
    ExpectRefused(With(golden, 32, bits), "file length", golden.size());
  }
  ExpectRefused(With(golden, 56, uint64_t{1} << 31), "last word", 56);
  ExpectRefused(With(golden, 56, ~uint64_t{0}), "last word", 56);
}

TEST(DcsoFileTest, OddOnes_AreRead) {
  const Bytes golden = DcsoGolden("few");
  // The number of insertions may be any number, and so may the high bits of the flags.
  for (const uint64_t inserted : {uint64_t{0}, uint64_t{1000}, ~uint64_t{0} - 1, ~uint64_t{0}}) {
    const Bytes odd = With(With(golden, 40, inserted), 0, uint64_t{0xABCDEF01});
    DcsoBloomFilter filter = DcsoBloomFilter::FromBytes(AsBytes(odd));
    EXPECT_EQ(filter.inserted_count(), inserted);
    EXPECT_EQ(Written(filter), odd);
    filter.Insert(DcsoTestKeys(100));
    EXPECT_GE(filter.inserted_count(), inserted);
  }
  // The number of hashes and bits need not follow from capacity and rate.
  const Bytes most = With(With(golden, 24, uint64_t{1075}), 8, uint64_t{1});
  EXPECT_EQ(DcsoBloomFilter::FromBytes(AsBytes(most)).num_hashes(), 1075u);
  // Fewer bits turn words into free data.
  const Bytes shorter = With(golden, 32, uint64_t{64});
  EXPECT_EQ(DcsoBloomFilter::FromBytes(AsBytes(shorter)).free_data().size(), 8u);
}

TEST(DcsoFileTest, HelpfulMessages) {
  const auto says = [](const Bytes& bytes, const char* text) {
    ExpectError([&] { DcsoBloomFilter::FromBytes(AsBytes(bytes)); }, ErrorCode::kUnsupported, text);
  };
  const Bytes golden = DcsoGolden("few");
  says(With(golden, 0, uint64_t{0x88B1F}), "gzip -d");
  says(With(golden, 0, uint64_t{2}), "poppy");
}

TEST(DcsoFileTest, FilesThatCannotBeRead_Throw) {
  const TemporaryFolder folder;
  for (const auto& path : {folder / "none", folder.path()}) {
    ExpectError([&] { DcsoBloomFilter::Load(path); }, ErrorCode::kIo, "");
    ExpectError([&] { DcsoBloomFilter::Map(path); }, ErrorCode::kIo, "");
  }
}

Bytes Mutated(Bytes bytes, Random& random) {
  for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
    const size_t at = random.Below(bytes.size() + 1);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random.Below(6)) {
      case 0:
        if (at < bytes.size()) *place = static_cast<char>(*place ^ (1 << random.Below(8)));
        break;
      case 1:
        bytes.erase(place, bytes.end());
        break;
      case 2:
        bytes.insert(place, random.Below(17), static_cast<char>(random()));
        break;
      case 3:
        if (bytes.size() >= 48) bytes = With(bytes, 24, random.Below(40));
        break;
      case 4:
        if (bytes.size() >= 48) bytes = With(bytes, 32, random.Below(8 * bytes.size()));
        break;
      default:  // mostly in the header
        if (!bytes.empty()) {
          bytes[random.Below(std::min<size_t>(48, bytes.size()))] = static_cast<char>(random());
        }
    }
  }
  return bytes;
}

TEST(DcsoFileTest, Mutated_IsAnErrorOrAFilter) {
  const std::vector<std::string> keys = DcsoTestKeys(20);
  size_t accepted = 0, refused = 0;
  Random random(11);
  for (const Recipe& recipe : kRecipes) {
    const Bytes golden = DcsoGolden(recipe.name);
    for (size_t i = 0; i < kMutations / 5; ++i) {
      const Bytes bytes = Mutated(golden, random);
      try {
        DcsoBloomFilter filter = DcsoBloomFilter::FromBytes(AsBytes(bytes));
        ++accepted;
        ASSERT_EQ(Written(filter), bytes);
        filter.Insert(keys);
        ASSERT_EQ(filter.Count(keys), keys.size());
        ASSERT_EQ(Written(DcsoBloomFilter::FromBytes(filter.ToBytes())), Written(filter));
      } catch (const FormatError& error) {
        ++refused;
        ASSERT_LE(error.offset(), bytes.size()) << error.what();
      }
    }
  }
  EXPECT_GT(accepted, kMutations / 5);
  EXPECT_GT(refused, kMutations / 5);
}

}  // namespace tamis::dcso_file_test
