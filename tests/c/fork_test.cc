// Filters, engines and views in children of fork.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <vector>

#include "tests/c/c_test_util.h"
#include "tests/fork_util.h"
#include "tests/test_util.h"

namespace tamis::fork_test {

uint64_t Count(const tamis_filter* filter, const tamis_engine* engine, const tamis_keys& keys) {
  uint64_t hits = 0;
  return tamis_filter_count(filter, engine, &keys, &hits) == TAMIS_OK ? hits : 0;
}

TEST(CForkTest, AChildMayUseThem) {
  const std::vector<uint64_t> numbers = RandomKeys(200'000, /*seed=*/1);
  const tamis_keys keys = tamis_keys_u64(numbers.data(), numbers.size());
  const CEngine engine = MakeEngine(3);
  const CFilter filter = MakeC(TAMIS_SPLIT_BLOCK, numbers.size());
  ASSERT_EQ(tamis_filter_insert(filter.get(), engine.get(), &keys, nullptr, nullptr, 0), TAMIS_OK);
  const auto finds_all = [&] { return Count(filter.get(), engine.get(), keys) == numbers.size(); };
  EXPECT_TRUE(finds_all());
  EXPECT_EQ(InChild([&] { return finds_all() ? 0 : 1; }), 0);
}

// The workers of a forking server: one worker fills the blocks, and the others find its keys.
TEST(CForkTest, ProcessesShareAView) {
  constexpr uint64_t kBytes = 32 * 1000;
  void* const memory =
      mmap(nullptr, kBytes + 64, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto options = TAMIS_INIT(tamis_view_options);
  options.inserted = static_cast<uint64_t*>(memory);
  const CFilter view =
      Made<tamis_filter>(tamis_filter_view, static_cast<char*>(memory) + 64, kBytes, &options);
  const std::vector<uint64_t> numbers = RandomKeys(2000, /*seed=*/1);
  const tamis_keys keys = tamis_keys_u64(numbers.data(), numbers.size());
  EXPECT_EQ(
      InChild([&] { return tamis_filter_insert(view.get(), nullptr, &keys, nullptr, nullptr, 0); }),
      TAMIS_OK);
  EXPECT_EQ(*options.inserted, 2000u);
  EXPECT_EQ(Count(view.get(), nullptr, keys), 2000u);
  EXPECT_EQ(InChild([&] { return Count(view.get(), nullptr, keys) == 2000 ? 0 : 1; }), 0);
  munmap(memory, kBytes + 64);
}

}  // namespace tamis::fork_test
