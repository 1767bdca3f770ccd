// Views of blocks in memory of the caller.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tamis/filters/blocks_queryable.h"
#include "tests/c/c_test_util.h"
#include "tests/c/key_sets.h"
#include "tests/test_util.h"

namespace tamis::view_test {

constexpr uint64_t kBytes = 32 * 1000;

CFilter View(void* blocks, const tamis_view_options* options = nullptr) {
  return Made<tamis_filter>(tamis_filter_view, blocks, kBytes, options);
}

TEST(CViewTest, KeysOfEveryForm) {
  const KeySets sets(70'000, 5, true, /*seed=*/1);
  const KeySets others(70'000, 0, false, /*seed=*/2);
  const CEngine engine = MakeEngine(2);
  for (size_t i = 0; i < sets.sets().size(); ++i) {
    const KeySets::Set& keys = sets.sets()[i];
    SCOPED_TRACE(keys.name);
    const size_t n = keys.cpp.size();
    auto options = TAMIS_INIT(tamis_view_options);
    options.hash = {TAMIS_HASH_XXH64, 0, 0, 0, 0};
    uint64_t counter = 0, inserted = 0, cpp_counter = 0;
    options.inserted = &counter;
    // Blocks at an address that is a multiple of 4, but not of 8.
    std::vector<uint32_t> blocks(kBytes / 4 + 1);
    std::vector<std::byte> cpp_blocks(kBytes);
    BlocksQueryable cpp(SplitBlockView(cpp_blocks, {HashKind::kXxh64, 0}, &cpp_counter));
    const CFilter view = View(&blocks[1], &options);
    std::vector<uint64_t> rejected(n), cpp_rejected(n);
    ASSERT_EQ(tamis_filter_insert(view.get(), engine.get(), &keys.c, &inserted, rejected.data(), n),
              TAMIS_OK)
        << tamis_last_error();
    EXPECT_EQ(inserted, cpp.Insert(keys.cpp, cpp_rejected));
    EXPECT_EQ(inserted, keys.cpp.CountValid());
    EXPECT_EQ(rejected, cpp_rejected) << "the indices of nulls";
    EXPECT_EQ(std::memcmp(&blocks[1], cpp_blocks.data(), kBytes), 0);
    EXPECT_EQ(counter, inserted);
    EXPECT_EQ(cpp_counter, inserted);
    double value = 0;
    ASSERT_EQ(tamis_filter_estimated_count(view.get(), &value), TAMIS_OK);
    EXPECT_EQ(value, cpp.estimated_count());
    ASSERT_EQ(tamis_filter_expected_fpr(view.get(), &value), TAMIS_OK);
    EXPECT_EQ(value, cpp.expected_fpr());
    options.inserted = nullptr;
    options.read_only = 1;
    const CFilter reader = View(&blocks[1], &options);
    ExpectSameAnswers(reader.get(), i % 2 == 0 ? nullptr : engine.get(), cpp, others.sets()[i]);
  }
}

TEST(CViewTest, OneKey) {
  std::vector<std::byte> blocks(kBytes), cpp_blocks(kBytes);
  const CFilter view = View(blocks.data());
  const SplitBlockView cpp(cpp_blocks);
  for (uint64_t i = 0; i < 500; ++i) {
    const std::string s = std::to_string(i);
    EXPECT_EQ(tamis_filter_contains_string(view.get(), s.data(), s.size()), cpp.Contains(s));
    EXPECT_EQ(tamis_filter_insert_u64(view.get(), i), 1);
    EXPECT_EQ(tamis_filter_insert_string(view.get(), s.data(), s.size()), 1);
    EXPECT_EQ(tamis_filter_insert_hash(view.get(), Mix(i)), 1);
    cpp.Insert(i);
    cpp.Insert(s);
    cpp.InsertHash(Mix(i));
    EXPECT_EQ(tamis_filter_contains_u64(view.get(), i), 1);
    EXPECT_EQ(tamis_filter_contains_u64(view.get(), ~i), cpp.Contains(~i));
    EXPECT_EQ(tamis_filter_contains_hash(view.get(), i), cpp.ContainsHash(i));
  }
  EXPECT_EQ(blocks, cpp_blocks);
}

TEST(CViewTest, Info) {
  std::vector<std::byte> blocks(kBytes);
  auto options = TAMIS_INIT(tamis_view_options);
  uint64_t counter = 7;
  options.hash = {TAMIS_HASH_XXH3, 0, 5, 0, 0};
  options.inserted = &counter;
  const CFilter view = View(blocks.data(), &options);
  auto info = TAMIS_INIT(tamis_filter_info);
  ASSERT_EQ(tamis_filter_get_info(view.get(), &info), TAMIS_OK) << tamis_last_error();
  EXPECT_EQ(info.kind, uint32_t{TAMIS_SPLIT_BLOCK});
  EXPECT_EQ(info.read_only, 0u);
  EXPECT_EQ(info.inserted, 7u);
  EXPECT_EQ(info.bytes, kBytes);
  EXPECT_EQ(info.geometry[0], kBytes / 32);
  EXPECT_EQ(info.seed, 5u);
  EXPECT_EQ(info.abilities, 0u);
  const void* data = nullptr;
  uint64_t bytes = 0;
  ASSERT_EQ(tamis_filter_payload(view.get(), &data, &bytes), TAMIS_OK);
  EXPECT_EQ(data, blocks.data());
  EXPECT_EQ(bytes, kBytes);
}

TEST(CViewTest, BadArguments) {
  alignas(32) std::byte blocks[64] = {};
  tamis_filter* out = nullptr;
  ExpectStatus(tamis_filter_view(nullptr, 32, nullptr, &out), TAMIS_INVALID_ARGUMENT, "NULL");
  ExpectStatus(tamis_filter_view(blocks, 32, nullptr, nullptr), TAMIS_INVALID_ARGUMENT, "NULL");
  auto read_only = TAMIS_INIT(tamis_view_options);
  read_only.read_only = 1;
  const tamis_view_options* const both[] = {nullptr, &read_only};
  for (const tamis_view_options* const options : both) {
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{31}, uint64_t{33}, ~uint64_t{0}}) {
      EXPECT_EQ(tamis_filter_view(blocks, bytes, options, &out), TAMIS_INVALID_ARGUMENT);
    }
    EXPECT_EQ(tamis_filter_view(blocks + 1, 32, options, &out), TAMIS_INVALID_ARGUMENT);
  }
  auto options = TAMIS_INIT(tamis_view_options);
  options.inserted = reinterpret_cast<uint64_t*>(blocks + 33);
  EXPECT_EQ(tamis_filter_view(blocks, 32, &options, &out), TAMIS_INVALID_ARGUMENT);
  options.inserted = reinterpret_cast<uint64_t*>(blocks + 32);
  options.read_only = 1;
  ExpectStatus(tamis_filter_view(blocks, 32, &options, &out), TAMIS_INVALID_ARGUMENT, "inserted");
  options = TAMIS_INIT(tamis_view_options);
  options.read_only = 2;
  ExpectStatus(tamis_filter_view(blocks, 32, &options, &out), TAMIS_INVALID_ARGUMENT, "read_only");
  options = TAMIS_INIT(tamis_view_options);
  options.reserved = 1;
  ExpectStatus(tamis_filter_view(blocks, 32, &options, &out), TAMIS_INVALID_ARGUMENT, "reserved");
  options = TAMIS_INIT(tamis_view_options);
  options.hash.kind = 9;
  EXPECT_NE(tamis_filter_view(blocks, 32, &options, &out), TAMIS_OK);
  options = TAMIS_INIT(tamis_view_options);
  options.backend = "abacus";
  EXPECT_EQ(tamis_filter_view(blocks, 32, &options, &out), TAMIS_UNKNOWN_BACKEND);
  EXPECT_EQ(out, nullptr);
}

TEST(CViewTest, FunctionsThatViewsDoNotHave) {
  std::vector<std::byte> blocks(kBytes);
  auto options = TAMIS_INIT(tamis_view_options);
  options.read_only = 1;
  const CFilter view = View(blocks.data()), reader = View(blocks.data(), &options);
  const CFilter filter = MakeC(TAMIS_SPLIT_BLOCK, 100);
  const uint64_t number = 1;
  uint64_t word = 0;
  const tamis_keys keys = tamis_keys_u64(&number, 1);
  ExpectStatus(tamis_filter_insert(reader.get(), nullptr, &keys, nullptr, nullptr, 0),
               TAMIS_READ_ONLY, "constant");
  EXPECT_EQ(tamis_filter_insert_u64(reader.get(), 1), -TAMIS_READ_ONLY);
  EXPECT_EQ(tamis_filter_insert_string(reader.get(), "a", 1), -TAMIS_READ_ONLY);
  EXPECT_EQ(tamis_filter_insert_hash(reader.get(), 1), -TAMIS_READ_ONLY);
  EXPECT_EQ(tamis_filter_insert_if_absent_u64(view.get(), 1), -TAMIS_UNSUPPORTED);
  EXPECT_EQ(tamis_filter_insert_if_absent(view.get(), nullptr, &keys, &word, nullptr, 1, nullptr),
            TAMIS_UNSUPPORTED);
  EXPECT_EQ(tamis_filter_erase_u64(view.get(), 1), -TAMIS_UNSUPPORTED);
  EXPECT_EQ(tamis_filter_erase(view.get(), nullptr, &keys, nullptr, nullptr, 0), TAMIS_UNSUPPORTED);
  for (const std::byte byte : blocks) ASSERT_EQ(byte, std::byte{0});
  tamis_filter* out = nullptr;
  ExpectStatus(tamis_filter_clone(view.get(), &out), TAMIS_UNSUPPORTED, "a view cannot be cloned");
  ExpectStatus(tamis_filter_fold(view.get(), &out), TAMIS_UNSUPPORTED, "folded");
  ExpectStatus(tamis_filter_save(view.get(), "f", nullptr), TAMIS_UNSUPPORTED, "saved");
  ExpectStatus(tamis_filter_serialize(view.get(), nullptr, nullptr, 0, &word), TAMIS_UNSUPPORTED,
               "serialized");
  ExpectStatus(tamis_filter_clear(view.get()), TAMIS_UNSUPPORTED, "cleared");
  ExpectStatus(tamis_filter_set_backend(view.get(), "portable"), TAMIS_UNSUPPORTED, "backend");
  ExpectStatus(tamis_filter_merge(view.get(), reader.get()), TAMIS_UNSUPPORTED, "merged");
  ExpectStatus(tamis_filter_merge(filter.get(), view.get()), TAMIS_INCOMPATIBLE, "views");
  ExpectStatus(tamis_filter_intersect(filter.get(), view.get()), TAMIS_UNSUPPORTED, "a view");
  EXPECT_EQ(out, nullptr);
}

}  // namespace tamis::view_test
