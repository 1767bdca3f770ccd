// Filters of other libraries: the library for C does what the C++ library does.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tamis/formats/foreign_filter.h"
#include "tamis/formats/guava.h"
#include "tests/c/c_test_util.h"
#include "tests/c/key_sets.h"
#include "tests/c/pointer_checks.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::foreign_test {

std::vector<std::byte> Empty(GuavaFunnel funnel) {
  return GuavaBloomFilter(funnel, {.capacity = 5000}).ToBytes();
}

CForeign Parsed(const std::vector<std::byte>& bytes, const char* format) {
  return Made<tamis_foreign>(tamis_foreign_deserialize, bytes.data(), bytes.size(), format);
}

std::vector<std::byte> BytesOf(const tamis_foreign* filter) {
  uint64_t bytes = 0, written = 0;
  EXPECT_EQ(tamis_foreign_serialize(filter, nullptr, 0, &bytes), TAMIS_OK);
  std::vector<std::byte> data(bytes);
  EXPECT_EQ(tamis_foreign_serialize(filter, data.data(), bytes, &written), TAMIS_OK);
  EXPECT_EQ(written, bytes);
  return data;
}

void ExpectSame(const tamis_foreign* c, const ForeignFilter& cpp, const KeySets::Set& keys) {
  const size_t n = keys.cpp.size(), words = BitmapWords(n);
  uint64_t hits = 0;
  std::vector<uint64_t> bits(words), cpp_bits(words), rows(n), cpp_rows(n);
  std::vector<uint8_t> bytes(n), cpp_bytes(n);
  const size_t found = cpp.Contains(keys.cpp, Bitmap(cpp_bits));
  ASSERT_EQ(tamis_foreign_contains_bitmap(c, &keys.c, bits.data(), words, &hits), TAMIS_OK)
      << tamis_last_error();
  EXPECT_EQ(hits, found);
  EXPECT_EQ(bits, cpp_bits);
  cpp.Contains(keys.cpp, std::span(cpp_bytes));
  EXPECT_EQ(tamis_foreign_contains_bytes(c, &keys.c, bytes.data(), n, &hits), TAMIS_OK);
  EXPECT_EQ(bytes, cpp_bytes);
  EXPECT_EQ(hits, found);
  cpp.Select(keys.cpp, cpp_rows);
  EXPECT_EQ(tamis_foreign_select64(c, &keys.c, rows.data(), n, &hits), TAMIS_OK);
  rows.resize(hits);
  cpp_rows.resize(found);
  EXPECT_EQ(rows, cpp_rows);
  EXPECT_EQ(tamis_foreign_count(c, &keys.c, &hits), TAMIS_OK);
  EXPECT_EQ(hits, found);
}

TEST(ForeignTest, KeysOfEveryForm) {
  const KeySets in(700, 3, /*with_nulls=*/true, 1), out(3000, 0, false, 2);
  for (size_t i = 0; i < in.sets().size(); ++i) {
    const KeySets::Set& set = in.sets()[i];
    SCOPED_TRACE(set.name);
    const bool strings = set.cpp.key_form() != KeyForm::kInteger;
    const GuavaFunnel funnel = strings ? GuavaFunnel::kBytes : GuavaFunnel::kLong;
    const std::string format = std::string("guava:") + GuavaFunnelName(funnel);
    const CForeign c = Parsed(Empty(funnel), format.c_str());
    ForeignFilter cpp = ForeignFilter::FromBytes(Empty(funnel), format);
    uint64_t inserted = 0;
    // Ready hashes, what only Parquet has, and times.
    if (!cpp.format().key_forms.Has(set.cpp.key_form())) {
      const bool hashes = set.cpp.form() == Keys::Form::kHashes;
      const std::string these = hashes ? "hashes" : KeyFormsText(set.cpp.key_form());
      ExpectStatus(tamis_foreign_insert(c.get(), &set.c, &inserted), TAMIS_INVALID_ARGUMENT,
                   ("these are " + these).c_str());
      continue;
    }
    ASSERT_EQ(tamis_foreign_insert(c.get(), &set.c, &inserted), TAMIS_OK) << tamis_last_error();
    EXPECT_EQ(inserted, cpp.Insert(set.cpp));
    EXPECT_EQ(BytesOf(c.get()), cpp.ToBytes());
    ExpectSame(c.get(), cpp, set);
    ExpectSame(c.get(), cpp, out.sets()[i]);
  }
}

TEST(ForeignTest, OneKeyAndWhatItIs) {
  const CForeign text = Parsed(Empty(GuavaFunnel::kUtf8), "guava:utf8");
  const CForeign longs = Parsed(Empty(GuavaFunnel::kLong), "guava:long");
  const char* const words[] = {"ada", "bob"};
  const uint64_t lengths[] = {3, 3};
  tamis_keys keys{};
  keys.form = TAMIS_KEYS_POINTERS;
  keys.count = 2;
  keys.data = words;
  keys.lengths = lengths;
  ASSERT_EQ(tamis_foreign_insert(text.get(), &keys, nullptr), TAMIS_OK) << tamis_last_error();
  EXPECT_EQ(tamis_foreign_contains_string(text.get(), "ada", 3), 1);
  EXPECT_EQ(tamis_foreign_contains_string(text.get(), "eve", 3), 0);
  EXPECT_EQ(tamis_foreign_contains_string(text.get(), nullptr, 0), 0);
  EXPECT_EQ(tamis_foreign_contains_u64(text.get(), 1), -TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_foreign_contains_u64(longs.get(), 1), 0);
  EXPECT_EQ(tamis_foreign_contains_string(longs.get(), "a", 1), -TAMIS_INVALID_ARGUMENT);
  auto info = TAMIS_INIT(tamis_foreign_info);
  ASSERT_EQ(tamis_foreign_get_info(text.get(), &info), TAMIS_OK) << tamis_last_error();
  EXPECT_STREQ(info.format, "guava:utf8");
  EXPECT_EQ(info.bytes + 6, BytesOf(text.get()).size());
  EXPECT_EQ(info.key_forms, KeyForms(KeyForm::kBytes).bits());
  EXPECT_NEAR(info.estimated_count, 2, 0.1);
  EXPECT_GT(info.expected_fpr, 0);
  ExpectStatus(tamis_foreign_merge(text.get(), longs.get()), TAMIS_INCOMPATIBLE, "guava:long");
  EXPECT_EQ(tamis_foreign_merge(text.get(), text.get()), TAMIS_OK);
  const CForeign other = Parsed(Empty(GuavaFunnel::kUtf8), "guava:utf8");
  EXPECT_EQ(tamis_foreign_merge(other.get(), text.get()), TAMIS_OK);
  EXPECT_EQ(BytesOf(other.get()), BytesOf(text.get()));
}

TEST(ForeignTest, FormatsHaveNames) {
  size_t n = 0;
  for (; tamis_foreign_format_name(n) != nullptr; ++n) {
    ASSERT_LT(n, ForeignFormats().size());
    EXPECT_STREQ(tamis_foreign_format_name(n), ForeignFormats()[n].name);
  }
  EXPECT_EQ(n, ForeignFormats().size());
  EXPECT_EQ(tamis_foreign_format_name(SIZE_MAX), nullptr);
}

TEST(ForeignTest, Files) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "f").string();
  const std::string golden = std::string(TAMIS_GOLDEN_DIR) + "/guava/long_mitz64.guava";
  const CForeign loaded = Made<tamis_foreign>(tamis_foreign_load, golden.c_str(), "guava:long");
  ASSERT_EQ(tamis_foreign_save_imported(loaded.get(), path.c_str(), nullptr), TAMIS_OK);
  const CForeign opened = Made<tamis_foreign>(tamis_foreign_open, path.c_str());
  EXPECT_EQ(BytesOf(opened.get()), BytesOf(loaded.get()));
  ASSERT_EQ(tamis_foreign_save(opened.get(), path.c_str(), nullptr), TAMIS_OK);
  EXPECT_EQ(ReadBytes(path), ReadBytes(golden));
  tamis_foreign* none = nullptr;
  ExpectStatus(tamis_foreign_open(golden.c_str(), &none), TAMIS_CORRUPT, "file length");
  ExpectStatus(tamis_foreign_load(golden.c_str(), "guava", &none), TAMIS_INVALID_ARGUMENT,
               "guava:long");
  ExpectStatus(tamis_foreign_load("", "guava:long", &none), TAMIS_IO, "");
  EXPECT_EQ(none, nullptr);
  std::byte small[10];
  uint64_t written = 77;
  ExpectStatus(tamis_foreign_serialize(opened.get(), small, sizeof(small), &written),
               TAMIS_INVALID_ARGUMENT, "has room for 10");
  EXPECT_EQ(written, 77u);
}

TEST(ForeignTest, PointersAreChecked) {
  const std::vector<std::byte> bytes = Empty(GuavaFunnel::kLong);
  const CForeign filter = Parsed(bytes, "guava:long");
  tamis_foreign* made = nullptr;
  const uint64_t values[] = {1};
  tamis_keys keys{};
  keys.form = TAMIS_KEYS_U64;
  keys.count = 1;
  keys.data = values;
  uint64_t word = 0, hits = 0;
  uint8_t byte = 0;
  const tamis_foreign* const in = filter.get();
  auto info = TAMIS_INIT(tamis_foreign_info);
  ExpectPointersChecked(tamis_foreign_load, {}, "none", "guava:long", &made);
  ExpectPointersChecked(tamis_foreign_open, {}, "none", &made);
  ExpectPointersChecked(tamis_foreign_deserialize, {}, bytes.data(), bytes.size(), "guava:long",
                        &made);
  ExpectPointersChecked(tamis_foreign_save, {2}, in, "none", nullptr);
  ExpectPointersChecked(tamis_foreign_save_imported, {2}, in, "none", nullptr);
  ExpectPointersChecked(tamis_foreign_get_info, {}, in, &info);
  ExpectPointersChecked(tamis_foreign_contains_bitmap, {4}, in, &keys, &word, 1u, &hits);
  ExpectPointersChecked(tamis_foreign_contains_bytes, {4}, in, &keys, &byte, 1u, &hits);
  ExpectPointersChecked(tamis_foreign_select64, {4}, in, &keys, &word, 1u, &hits);
  ExpectPointersChecked(tamis_foreign_count, {}, in, &keys, &hits);
  ExpectPointersChecked(tamis_foreign_insert, {2}, filter.get(), &keys, &hits);
  ExpectPointersChecked(tamis_foreign_merge, {}, filter.get(), in);
  ExpectPointersChecked(tamis_foreign_contains_u64, {}, in, 1u);
  tamis_foreign_free(nullptr);
  EXPECT_EQ(made, nullptr);
}

}  // namespace tamis::foreign_test
