// Views of blocks that threads and processes change at the same time.
#include "tamis/live/concurrent_block_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tamis/backends.h"
#include "tamis/error.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/test_util.h"

namespace tamis::concurrent_block_view_test {

// Blocks without keys, and a counter.
struct Memory {
  explicit Memory(size_t num_blocks) : blocks(num_blocks) {}

  struct alignas(32) Block {
    std::byte bytes[32] = {};
  };
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(blocks)); }

  std::vector<Block> blocks;
  uint64_t inserted = 0;
};

// With one thread, calls on a view and on a filter have equal results, and set equal bits.
TEST(ConcurrentBlockViewTest, OneThread_ActsLikeAFilter) {
  std::mt19937_64 random(1);
  for (const Backend& backend : Backends()) {
    if (backend.kernels == nullptr) continue;
    for (const size_t num_blocks : {1, 3, 100, 5000}) {
      SplitBlockBloomFilter filter({.bytes = 32 * num_blocks, .backend = &backend});
      Memory memory(num_blocks);
      const ConcurrentSplitBlockView view(memory.bytes(), {}, &memory.inserted, &backend);
      for (int call = 0; call < 30; ++call) {
        std::vector<uint64_t> integers;
        std::vector<std::string> texts;
        for (size_t n = random() % 300; n > 0; --n) {
          integers.push_back(random() % (40 * num_blocks));
          texts.push_back(std::to_string(random() % (40 * num_blocks)));
        }
        const std::vector<std::string_view> strings(texts.begin(), texts.end());
        for (const Keys& keys : {Keys(integers), Keys(strings)}) {
          std::vector<uint64_t> want(BitmapWords(keys.size()), ~uint64_t{0});
          std::vector<uint64_t> got = want;
          EXPECT_EQ(view.Contains(keys, Bitmap(got)), filter.Contains(keys, Bitmap(want)));
          EXPECT_EQ(got, want);
          EXPECT_EQ(view.InsertIfAbsent(keys, Bitmap(got)),
                    filter.InsertIfAbsent(keys, Bitmap(want)));
          EXPECT_EQ(got, want);
        }
      }
      EXPECT_EQ(view.inserted_count(), filter.inserted_count());
      EXPECT_TRUE(std::ranges::equal(memory.bytes(), filter.payload()));
      EXPECT_EQ(view.view().expected_fpr(), filter.expected_fpr());
    }
  }
}

// Each thread has a view of its own, like each process.
TEST(ConcurrentBlockViewTest, SeveralThreads_ReportEachKeyAsNewAtLeastOnce) {
  constexpr size_t kThreads = 4;
  const std::vector<uint64_t> keys = RandomKeys(20'000, /*seed=*/2);
  Memory memory(100'000);  // so large that no key is a false positive
  std::vector<std::vector<uint64_t>> fresh(kThreads);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const ConcurrentSplitBlockView view(memory.bytes(), {}, &memory.inserted);
        std::vector<uint64_t> bits(1);
        for (size_t i = 0; i < keys.size(); i += 50) {
          const Keys some = Keys(std::span(keys).subspan(i, 50));
          view.InsertIfAbsent(some, Bitmap(bits));
          fresh[t].push_back(bits[0]);
          ASSERT_EQ(view.Contains(some, Bitmap(bits)), 50U);
        }
      });
    }
  }
  uint64_t reported = 0;
  for (size_t call = 0; call < fresh[0].size(); ++call) {
    uint64_t any = 0;
    for (const std::vector<uint64_t>& bits : fresh) {
      any |= bits[call];
      reported += static_cast<uint64_t>(std::popcount(bits[call]));
    }
    ASSERT_EQ(any, (uint64_t{1} << 50) - 1) << call;
  }
  EXPECT_EQ(memory.inserted, reported);
  SplitBlockBloomFilter filter({.bytes = memory.bytes().size()});
  filter.Insert(keys);
  EXPECT_TRUE(std::ranges::equal(memory.bytes(), filter.payload()));
}

TEST(ConcurrentBlockViewTest, InvalidMemory_IsRefused) {
  Memory memory(3);
  const auto refused = [](std::span<std::byte> blocks, uint64_t* inserted) {
    try {
      const ConcurrentSplitBlockView view(blocks, {}, inserted);
    } catch (const Error& error) {
      return error.code() == ErrorCode::kInvalidArgument;
    }
    return false;
  };
  EXPECT_FALSE(refused(memory.bytes(), nullptr));
  EXPECT_FALSE(refused(memory.bytes(), &memory.inserted));
  EXPECT_TRUE(refused({}, nullptr));
  EXPECT_TRUE(refused(memory.bytes().first(33), nullptr));
  EXPECT_TRUE(refused(memory.bytes().subspan(16, 32), nullptr));
  EXPECT_TRUE(refused(memory.bytes(), reinterpret_cast<uint64_t*>(memory.bytes().data() + 4)));
}

TEST(ConcurrentBlockViewTest, BitmapThatIsTooSmall_IsRefusedBeforeAChange) {
  Memory memory(3);
  const ConcurrentSplitBlockView view(memory.bytes(), {}, &memory.inserted);
  const std::vector<uint64_t> keys(65, 7);
  std::vector<uint64_t> bits(1);
  EXPECT_THROW(view.InsertIfAbsent(keys, Bitmap(bits)), Error);
  EXPECT_EQ(view.inserted_count(), 0U);
  EXPECT_TRUE(std::ranges::all_of(memory.bytes(), [](std::byte b) { return b == std::byte{0}; }));
}

}  // namespace tamis::concurrent_block_view_test
