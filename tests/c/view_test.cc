// Views: the blocks of a filter, wherever they are, and shared by processes.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/c/c_test_util.h"
#include "tests/c/key_sets.h"
#include "tests/fork_util.h"
#include "tests/test_util.h"

namespace tamis::view_test {

constexpr uint64_t kBytes = 32 * 1000;

TEST(CViewTest, DoesWhatTheViewOfCppDoes) {
  const KeySets sets(70'000, 5, true, /*seed=*/1);
  const KeySets others(70'000, 0, false, /*seed=*/2);
  auto options = TAMIS_INIT(tamis_view_options);
  options.hash = {TAMIS_HASH_XXH64, 0, 0, 0, 0};
  uint64_t inserted = 0;
  options.inserted = &inserted;
  for (size_t i = 0; i < sets.sets().size(); ++i) {
    const KeySets::Set& keys = sets.sets()[i];
    SCOPED_TRACE(keys.name);
    inserted = 0;
    // At a multiple of 4 bytes alone.
    std::vector<uint32_t> blocks(kBytes / 4 + 1);
    std::vector<std::byte> cpp_blocks(kBytes);
    uint64_t cpp_inserted = 0;
    const SplitBlockView cpp(cpp_blocks, {HashKind::kXxh64, 0}, &cpp_inserted);
    const CView view =
        Made<tamis_view>(tamis_view_create, static_cast<void*>(&blocks[1]), kBytes, &options);
    ASSERT_EQ(tamis_view_insert(view.get(), &keys.c), TAMIS_OK) << tamis_last_error();
    cpp.Insert(keys.cpp);
    EXPECT_EQ(std::memcmp(&blocks[1], cpp_blocks.data(), kBytes), 0);
    EXPECT_EQ(inserted, cpp_inserted);
    double value = 0;
    ASSERT_EQ(tamis_view_estimated_count(view.get(), &value), TAMIS_OK);
    EXPECT_EQ(value, cpp.estimated_count());
    ASSERT_EQ(tamis_view_expected_fpr(view.get(), &value), TAMIS_OK);
    EXPECT_EQ(value, cpp.expected_fpr());

    const KeySets::Set& asked = others.sets()[i];
    const size_t n = asked.cpp.size();
    std::vector<uint64_t> bits(BitmapWords(n)), cpp_bits(BitmapWords(n));
    uint64_t hits = 0;
    const auto reader_options = [&] {
      tamis_view_options made = options;
      made.inserted = nullptr;
      return made;
    }();
    const CView reader = Made<tamis_view>(
        tamis_view_create_const, static_cast<const void*>(&blocks[1]), kBytes, &reader_options);
    ASSERT_EQ(tamis_view_contains_bitmap(reader.get(), &asked.c, bits.data(), bits.size(), &hits),
              TAMIS_OK);
    EXPECT_EQ(hits, cpp.Contains(asked.cpp, Bitmap(cpp_bits)));
    EXPECT_EQ(bits, cpp_bits);
    std::vector<uint8_t> bytes(n), cpp_bytes(n);
    ASSERT_EQ(tamis_view_contains_bytes(reader.get(), &asked.c, bytes.data(), n, &hits), TAMIS_OK);
    cpp.Contains(asked.cpp, std::span<uint8_t>(cpp_bytes));
    EXPECT_EQ(bytes, cpp_bytes);
    std::vector<uint32_t> rows32(n), cpp32(n);
    ASSERT_EQ(tamis_view_select32(reader.get(), &asked.c, rows32.data(), n, &hits), TAMIS_OK);
    rows32.resize(hits), cpp32.resize(cpp.Select(asked.cpp, std::span<uint32_t>(cpp32)));
    EXPECT_EQ(rows32, cpp32);
    std::vector<uint64_t> rows64(n), cpp64(n);
    ASSERT_EQ(tamis_view_select64(reader.get(), &asked.c, rows64.data(), n, &hits), TAMIS_OK);
    rows64.resize(hits), cpp64.resize(cpp.Select(asked.cpp, std::span<uint64_t>(cpp64)));
    EXPECT_EQ(rows64, cpp64);
    ASSERT_EQ(tamis_view_count(reader.get(), &asked.c, &hits), TAMIS_OK);
    EXPECT_EQ(hits, cpp.Count(asked.cpp));
  }
}

TEST(CViewTest, OneKey) {
  std::vector<std::byte> blocks(kBytes), cpp_blocks(kBytes);
  const CView view =
      Made<tamis_view>(tamis_view_create, static_cast<void*>(blocks.data()), kBytes, nullptr);
  const SplitBlockView cpp(cpp_blocks);
  for (uint64_t i = 0; i < 500; ++i) {
    const std::string s = std::to_string(i);
    EXPECT_EQ(tamis_view_contains_string(view.get(), s.data(), s.size()), cpp.Contains(s));
    EXPECT_EQ(tamis_view_insert_u64(view.get(), i), 1);
    EXPECT_EQ(tamis_view_insert_string(view.get(), s.data(), s.size()), 1);
    EXPECT_EQ(tamis_view_insert_hash(view.get(), Mix(i)), 1);
    cpp.Insert(i);
    cpp.Insert(s);
    cpp.InsertHash(Mix(i));
    EXPECT_EQ(tamis_view_contains_u64(view.get(), i), 1);
    EXPECT_EQ(tamis_view_contains_u64(view.get(), ~i), cpp.Contains(~i));
    EXPECT_EQ(tamis_view_contains_hash(view.get(), i), cpp.ContainsHash(i));
  }
  EXPECT_EQ(blocks, cpp_blocks);
}

TEST(CViewTest, RefusesWhatIsWrong) {
  alignas(32) std::byte blocks[64] = {};
  tamis_view* out = nullptr;
  ExpectStatus(tamis_view_create(nullptr, 32, nullptr, &out), TAMIS_INVALID_ARGUMENT, "NULL");
  ExpectStatus(tamis_view_create(blocks, 32, nullptr, nullptr), TAMIS_INVALID_ARGUMENT, "NULL");
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{31}, uint64_t{33}, ~uint64_t{0}}) {
    EXPECT_EQ(tamis_view_create(blocks, bytes, nullptr, &out), TAMIS_INVALID_ARGUMENT);
    EXPECT_EQ(tamis_view_create_const(blocks, bytes, nullptr, &out), TAMIS_INVALID_ARGUMENT);
  }
  EXPECT_EQ(tamis_view_create(blocks + 1, 32, nullptr, &out), TAMIS_INVALID_ARGUMENT);
  auto options = TAMIS_INIT(tamis_view_options);
  options.inserted = reinterpret_cast<uint64_t*>(blocks + 33);
  EXPECT_EQ(tamis_view_create(blocks, 32, &options, &out), TAMIS_INVALID_ARGUMENT);
  options.inserted = reinterpret_cast<uint64_t*>(blocks + 32);
  EXPECT_EQ(tamis_view_create_const(blocks, 32, &options, &out), TAMIS_INVALID_ARGUMENT);
  options = TAMIS_INIT(tamis_view_options);
  options.hash.kind = 9;
  EXPECT_NE(tamis_view_create(blocks, 32, &options, &out), TAMIS_OK);
  options = TAMIS_INIT(tamis_view_options);
  options.backend = "abacus";
  EXPECT_EQ(tamis_view_create(blocks, 32, &options, &out), TAMIS_UNKNOWN_BACKEND);
  EXPECT_EQ(out, nullptr);

  const CView reader =
      Made<tamis_view>(tamis_view_create_const, static_cast<const void*>(blocks), 64, nullptr);
  const uint64_t number = 1;
  const tamis_keys keys = tamis_keys_u64(&number, 1);
  ExpectStatus(tamis_view_insert(reader.get(), &keys), TAMIS_READ_ONLY, "asked only");
  EXPECT_EQ(tamis_view_insert_u64(reader.get(), 1), -TAMIS_READ_ONLY);
  EXPECT_EQ(tamis_view_insert_string(reader.get(), "a", 1), -TAMIS_READ_ONLY);
  EXPECT_EQ(tamis_view_insert_hash(reader.get(), 1), -TAMIS_READ_ONLY);
  for (const std::byte byte : blocks) EXPECT_EQ(byte, std::byte{0});
  uint64_t word = 0;
  uint32_t row = 0;
  uint8_t byte = 0;
  double value = 0;
  EXPECT_EQ(tamis_view_contains_u64(nullptr, 1), -TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_view_contains_string(reader.get(), nullptr, 1), -TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_view_estimated_count(reader.get(), nullptr), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_view_expected_fpr(nullptr, &value), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_view_insert(nullptr, &keys), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_view_contains_bitmap(reader.get(), &keys, &word, 0, nullptr),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_view_contains_bytes(reader.get(), &keys, &byte, 0, nullptr),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_view_select32(reader.get(), &keys, &row, 0, nullptr), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_view_select64(reader.get(), nullptr, &word, 1, nullptr), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_view_count(reader.get(), &keys, nullptr), TAMIS_INVALID_ARGUMENT);
}

// The workers of a server that forks: one fills the blocks, the others find its keys.
TEST(CViewTest, SharedByProcesses) {
  void* const memory =
      mmap(nullptr, kBytes + 64, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto options = TAMIS_INIT(tamis_view_options);
  options.inserted = static_cast<uint64_t*>(memory);
  void* const blocks = static_cast<char*>(memory) + 64;
  const CView view = Made<tamis_view>(tamis_view_create, blocks, kBytes, &options);
  const std::vector<uint64_t> numbers = RandomKeys(2000, /*seed=*/1);
  const tamis_keys keys = tamis_keys_u64(numbers.data(), numbers.size());
  EXPECT_EQ(InChild([&] { return tamis_view_insert(view.get(), &keys); }), TAMIS_OK);
  EXPECT_EQ(*options.inserted, 2000u);
  uint64_t hits = 0;
  ASSERT_EQ(tamis_view_count(view.get(), &keys, &hits), TAMIS_OK);
  EXPECT_EQ(hits, 2000u);
  EXPECT_EQ(InChild([&] {
              uint64_t found = 0;
              return tamis_view_count(view.get(), &keys, &found) == TAMIS_OK && found == 2000 ? 0
                                                                                              : 1;
            }),
            0);
  munmap(memory, kBytes + 64);
}

}  // namespace tamis::view_test
