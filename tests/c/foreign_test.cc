// Filters of other libraries: the C library gives the same results as the C++ library.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/changes.h"
#include "tamis/formats/dcso.h"
#include "tamis/formats/foreign_filter.h"
#include "tamis/formats/guava.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tamis/key_types_text.h"
#include "tests/c/c_test_util.h"
#include "tests/c/key_sets.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::foreign_test {

tamis_open_options Format(const char* format) {
  auto options = TAMIS_INIT(tamis_open_options);
  options.format = format;
  return options;
}

CFilter Parsed(const std::vector<std::byte>& bytes, const char* format) {
  const tamis_open_options options = Format(format);
  return Made<tamis_filter>(tamis_filter_open_memory, bytes.data(), bytes.size(), &options);
}

std::vector<std::byte> Empty(GuavaFunnel funnel) {
  return GuavaBloomFilter(funnel, {.capacity = 5000}).ToBytes();
}

TEST(ForeignTest, KeysOfEveryForm) {
  const KeySets in(700, 3, /*with_nulls=*/true, 1), out(3000, 0, false, 2);
  const CEngine engine = MakeEngine(2);
  for (size_t i = 0; i < in.sets().size(); ++i) {
    const KeySets::Set& set = in.sets()[i];
    SCOPED_TRACE(set.name);
    const size_t n = set.cpp.size();
    const bool strings = set.cpp.key_type() != KeyType::kInteger;
    const GuavaFunnel funnel = strings ? GuavaFunnel::kBytes : GuavaFunnel::kLong;
    const std::string format = std::string("guava:") + GuavaFunnelName(funnel);
    const CFilter c = Parsed(Empty(funnel), format.c_str());
    ForeignFilter cpp = ForeignFilter::FromBytes(Empty(funnel), format);
    uint64_t inserted = 0;
    // Hashes, keys that exist only in Parquet, and times.
    if (!cpp.format().key_types.Has(set.cpp.key_type())) {
      const bool hashes = set.cpp.layout() == KeyLayout::kHashes;
      const std::string these = hashes ? "hashes" : KeyTypesText(set.cpp.key_type());
      ExpectStatus(tamis_filter_insert(c.get(), nullptr, &set.c, &inserted, nullptr, 0),
                   TAMIS_INVALID_ARGUMENT, ("the keys of this call are " + these).c_str());
      continue;
    }
    std::vector<uint64_t> rejected(n), cpp_rejected(n);
    ASSERT_EQ(tamis_filter_insert(c.get(), engine.get(), &set.c, &inserted, rejected.data(), n),
              TAMIS_OK)
        << tamis_last_error();
    EXPECT_EQ(inserted, cpp.Insert(set.cpp, cpp_rejected));
    EXPECT_EQ(rejected, cpp_rejected);
    EXPECT_EQ(SerializedC(c.get()), cpp.ToBytes());
    const tamis_engine* const engines[] = {nullptr, engine.get()};
    for (const tamis_engine* const by : engines) {
      ExpectSameAnswers(c.get(), by, cpp, set);
      ExpectSameAnswers(c.get(), by, cpp, out.sets()[i]);
    }
    const size_t words = BitmapWords(out.sets()[i].cpp.size());
    std::vector<uint64_t> fresh(words), cpp_fresh(words);
    ASSERT_EQ(tamis_filter_insert_if_absent(c.get(), nullptr, &out.sets()[i].c, fresh.data(),
                                            nullptr, words, &inserted),
              TAMIS_OK)
        << tamis_last_error();
    EXPECT_EQ(inserted, cpp.InsertIfAbsent(out.sets()[i].cpp, Bitmap(cpp_fresh)));
    EXPECT_EQ(fresh, cpp_fresh);
    EXPECT_EQ(SerializedC(c.get()), cpp.ToBytes());
  }
}

TEST(ForeignTest, OneKeyAndInfo) {
  const CFilter text = Parsed(Empty(GuavaFunnel::kUtf8), "guava:utf8");
  const CFilter longs = Parsed(Empty(GuavaFunnel::kLong), "guava:long");
  EXPECT_EQ(tamis_filter_insert_string(text.get(), "ada", 3), 1);
  EXPECT_EQ(tamis_filter_insert_if_absent_string(text.get(), "bob", 3), 1);
  EXPECT_EQ(tamis_filter_insert_if_absent_string(text.get(), "bob", 3), 0);
  EXPECT_EQ(tamis_filter_contains_string(text.get(), "ada", 3), 1);
  EXPECT_EQ(tamis_filter_contains_string(text.get(), "eve", 3), 0);
  EXPECT_EQ(tamis_filter_contains_string(text.get(), nullptr, 0), 0);
  EXPECT_EQ(tamis_filter_contains_u64(text.get(), 1), -TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_filter_insert_u64(text.get(), 1), -TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_filter_contains_hash(text.get(), 1), -TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_filter_contains_u64(longs.get(), 1), 0);
  EXPECT_EQ(tamis_filter_contains_string(longs.get(), "a", 1), -TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_filter_erase_u64(longs.get(), 1), -TAMIS_UNSUPPORTED);
  auto info = TAMIS_INIT(tamis_filter_info);
  ASSERT_EQ(tamis_filter_get_info(text.get(), &info), TAMIS_OK) << tamis_last_error();
  EXPECT_STREQ(info.format, "guava:utf8");
  EXPECT_EQ(info.kind, 0u);
  EXPECT_EQ(info.abilities, 0u);
  EXPECT_EQ(info.bytes + 6, SerializedC(text.get()).size());
  EXPECT_EQ(info.key_types, KeyTypes(KeyType::kBytes).bits());
  double value = 0;
  ASSERT_EQ(tamis_filter_estimated_count(text.get(), &value), TAMIS_OK);
  EXPECT_NEAR(value, 2, 0.1);
  ASSERT_EQ(tamis_filter_expected_fpr(text.get(), &value), TAMIS_OK);
  EXPECT_GT(value, 0);
  ExpectStatus(tamis_filter_merge(text.get(), longs.get()), TAMIS_INCOMPATIBLE, "guava:long");
  ExpectStatus(tamis_filter_merge(text.get(), text.get()), TAMIS_INVALID_ARGUMENT, "the same");
  const CFilter other = Parsed(Empty(GuavaFunnel::kUtf8), "guava:utf8");
  EXPECT_EQ(tamis_filter_merge(other.get(), text.get()), TAMIS_OK);
  EXPECT_EQ(SerializedC(other.get()), SerializedC(text.get()));
}

TEST(ForeignTest, EraseAndRejectedKeys) {
  const std::vector<std::byte> empty = RedisCuckooFilter({.capacity = 100}).ToBytes();
  const CFilter c = Parsed(empty, "redisbloom-cf");
  ForeignFilter cpp = ForeignFilter::FromBytes(empty, "redisbloom-cf");
  auto info = TAMIS_INIT(tamis_filter_info);
  ASSERT_EQ(tamis_filter_get_info(c.get(), &info), TAMIS_OK);
  EXPECT_EQ(info.abilities, uint32_t{TAMIS_CAN_ERASE});
  const std::vector<uint64_t> numbers = RandomKeys(50, 1);
  const tamis_keys keys = tamis_keys_u64(numbers.data(), numbers.size());
  ASSERT_EQ(tamis_filter_insert(c.get(), nullptr, &keys, nullptr, nullptr, 0), TAMIS_OK);
  cpp.Insert(numbers);
  const tamis_keys some = tamis_keys_u64(numbers.data(), 30);
  uint64_t erased = 0;
  ASSERT_EQ(tamis_filter_erase(c.get(), nullptr, &some, &erased, nullptr, 0), TAMIS_OK)
      << tamis_last_error();
  EXPECT_EQ(erased, Erase(cpp, std::span(numbers).first(30)));
  EXPECT_EQ(tamis_filter_erase_u64(c.get(), numbers[40]), 1);
  Erase(cpp, std::span(&numbers[40], 1));
  EXPECT_EQ(SerializedC(c.get()), cpp.ToBytes());
}

TEST(ForeignTest, FormatsHaveNames) {
  size_t n = 0;
  for (; tamis_format_name(n) != nullptr; ++n) {
    ASSERT_LT(n, ForeignFormats().size());
    EXPECT_STREQ(tamis_format_name(n), ForeignFormats()[n].name);
  }
  EXPECT_EQ(n, ForeignFormats().size());
  EXPECT_EQ(tamis_format_name(SIZE_MAX), nullptr);
}

TEST(ForeignTest, Files) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "f").string();
  const std::string golden = std::string(TAMIS_GOLDEN_DIR) + "/guava/long_mitz64.guava";
  tamis_open_options longs = Format("guava:long");
  const CFilter loaded = Made<tamis_filter>(tamis_filter_open, golden.c_str(), &longs);
  auto imported = TAMIS_INIT(tamis_save_options);
  imported.imported = 1;
  ASSERT_EQ(tamis_filter_save(loaded.get(), path.c_str(), &imported), TAMIS_OK);
  const tamis_open_options* const defaults = nullptr;
  const CFilter opened = Made<tamis_filter>(tamis_filter_open, path.c_str(), defaults);
  EXPECT_EQ(SerializedC(opened.get()), SerializedC(loaded.get()));
  tamis_filter* none = nullptr;
  const tamis_open_options map = Mapping();
  ExpectStatus(tamis_filter_open(path.c_str(), &map, &none), TAMIS_UNSUPPORTED, "mapped");
  ASSERT_EQ(tamis_filter_save(opened.get(), path.c_str(), nullptr), TAMIS_OK);
  EXPECT_EQ(ReadBytes(path), ReadBytes(golden));
  ExpectStatus(tamis_filter_open(golden.c_str(), nullptr, &none), TAMIS_CORRUPT, "");
  const tamis_open_options guava = Format("guava");
  ExpectStatus(tamis_filter_open(golden.c_str(), &guava, &none), TAMIS_INVALID_ARGUMENT,
               "guava:long");
  ExpectStatus(tamis_filter_open("", &longs, &none), TAMIS_IO, "");
  longs.has_secret = 1;
  ExpectStatus(tamis_filter_open(golden.c_str(), &longs, &none), TAMIS_SECRET, "no secret");
  longs.has_secret = 0;
  longs.map = 1;
  ExpectStatus(tamis_filter_open(golden.c_str(), &longs, &none), TAMIS_UNSUPPORTED, "mapped");
  EXPECT_EQ(none, nullptr);
  std::byte small[10];
  uint64_t written = 77;
  ExpectStatus(tamis_filter_serialize(opened.get(), nullptr, small, sizeof(small), &written),
               TAMIS_INVALID_ARGUMENT, "has room for 10");
  ExpectStatus(tamis_filter_serialize(opened.get(), &imported, nullptr, 0, &written),
               TAMIS_UNSUPPORTED, "tamis_filter_save");
  EXPECT_EQ(written, 77u);
}

TEST(ForeignTest, MappedDcso_IsReadOnly) {
  const std::string path = std::string(TAMIS_GOLDEN_DIR) + "/dcso/few.bloom";
  tamis_open_options options = Format("dcso");
  options.map = 1;
  const CFilter mapped = Made<tamis_filter>(tamis_filter_open, path.c_str(), &options);
  auto info = TAMIS_INIT(tamis_filter_info);
  ASSERT_EQ(tamis_filter_get_info(mapped.get(), &info), TAMIS_OK);
  EXPECT_EQ(info.read_only, 1u);
  EXPECT_EQ(tamis_filter_contains_string(mapped.get(), "", 0), 1);
  EXPECT_EQ(tamis_filter_insert_string(mapped.get(), "a", 1), -TAMIS_READ_ONLY);
  EXPECT_EQ(SerializedC(mapped.get()), DcsoBloomFilter::Load(path).ToBytes());
}

TEST(ForeignTest, FunctionsThatFormatsDoNotHave) {
  const CFilter filter = Parsed(Empty(GuavaFunnel::kLong), "guava:long");
  tamis_filter* out = nullptr;
  const void* data = nullptr;
  uint64_t bytes = 0;
  ExpectStatus(tamis_filter_clone(filter.get(), &out), TAMIS_UNSUPPORTED, "guava:long");
  ExpectStatus(tamis_filter_fold(filter.get(), &out), TAMIS_UNSUPPORTED, "folded");
  ExpectStatus(tamis_filter_payload(filter.get(), &data, &bytes), TAMIS_UNSUPPORTED, "in place");
  ExpectStatus(tamis_filter_clear(filter.get()), TAMIS_UNSUPPORTED, "cleared");
  ExpectStatus(tamis_filter_set_backend(filter.get(), "portable"), TAMIS_UNSUPPORTED, "backend");
  const CFilter blocks = MakeC(TAMIS_SPLIT_BLOCK, 10);
  ExpectStatus(tamis_filter_merge(filter.get(), blocks.get()), TAMIS_INCOMPATIBLE, "other");
  ExpectStatus(tamis_filter_merge(blocks.get(), filter.get()), TAMIS_INCOMPATIBLE, "other");
  const CFilter second = Parsed(Empty(GuavaFunnel::kLong), "guava:long");
  ExpectStatus(tamis_filter_intersect(filter.get(), second.get()), TAMIS_UNSUPPORTED,
               "intersected");
  const tamis_bank_options* const defaults = nullptr;
  const CBank bank = Made<tamis_bank>(tamis_bank_create, defaults);
  ExpectStatus(tamis_bank_add_filter(bank.get(), "a", 1, filter.get()), TAMIS_UNSUPPORTED, "bank");
  EXPECT_EQ(out, nullptr);
}

}  // namespace tamis::foreign_test
