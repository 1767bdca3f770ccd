// Tests of properties that only split-block filters have: sizes, memory, folding, estimates.
#include "tamis/filters/split_block_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tamis/backends.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/physical_memory.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::split_block_filter_test {

constexpr uint64_t kMaxBytes = split_block::kMaxBlocks * split_block::kBlockBytes;

SplitBlockBloomFilter WithBlocks(uint64_t blocks, HashSpec hash = {}) {
  return SplitBlockBloomFilter({.bytes = 32 * blocks, .hash = hash});
}

class SplitBlockFilterTest : public BackendTest {};

TEST(SplitBlockFilterMakingTest, CapacityAndRateGiveTheFewestBlocks) {
  for (const uint64_t capacity : {1, 10, 12'345, 1'000'000}) {
    for (const double fpr : {kMaxFpr, 0.01, 1e-4}) {
      const SplitBlockBloomFilter filter({.capacity = capacity, .fpr = fpr});
      EXPECT_EQ(filter.num_blocks(), SplitBlockBlocks(capacity, fpr));
      EXPECT_EQ(filter.bytes(), 32 * filter.num_blocks());
      EXPECT_EQ(filter.hash(), HashSpec{});
    }
  }
}

TEST(SplitBlockFilterMakingTest, BytesAreRoundedDownToBlocksAndSetTheCapacity) {
  for (const uint64_t bytes : {32, 33, 63, 64, 1000, 1024, 5'000'000}) {
    const SplitBlockBloomFilter filter({.fpr = 0.05, .bytes = bytes});
    EXPECT_EQ(filter.num_blocks(), bytes / 32);
    EXPECT_EQ(filter.capacity(), SplitBlockCapacity(bytes / 32, 0.05));
    EXPECT_EQ(SplitBlockBloomFilter({.capacity = 77, .bytes = bytes}).capacity(), 77u);
    EXPECT_EQ(SplitBlockBloomFilter({.capacity = 77, .bytes = bytes}).bytes(), filter.bytes());
  }
}

TEST(SplitBlockFilterErrorsTest, OptionsOutOfRange) {
  const auto make = [](const FilterOptions& options) {
    return [options] { SplitBlockBloomFilter filter(options); };
  };
  constexpr ErrorCode kCode = ErrorCode::kInvalidArgument;
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{31}, kMaxBytes + 32, ~uint64_t{0}}) {
    ExpectError(make({.bytes = bytes}), kCode,
                std::to_string(bytes) + " bytes is out of range [32, 35184372088832]");
  }
  ExpectError(make({.capacity = ~uint64_t{0}}), kCode, "cannot hold 18446744073709551615 keys");
}

TEST(SplitBlockFilterTest, WithoutARateItIsTheDefaultOne) {
  const SplitBlockBloomFilter filter({.capacity = 1000});
  EXPECT_EQ(filter.num_blocks(), SplitBlockBlocks(1000, kDefaultFpr));
}

// Counts the memory that it gives out, and has a GiB.
class CountingResource : public std::pmr::memory_resource {
 public:
  uint64_t bytes = 0;
  size_t allocations = 0;

 private:
  void* do_allocate(size_t n, size_t align) override {
    EXPECT_GE(align, 64u);
    ++allocations;
    if (n > uint64_t{1} << 30) throw std::bad_alloc();
    void* const p = std::pmr::new_delete_resource()->allocate(n, align);
    std::memset(p, 0xAB, n);  // memory is not zero by default
    bytes += n;
    return p;
  }
  void do_deallocate(void* p, size_t n, size_t align) override {
    bytes -= n;
    std::pmr::new_delete_resource()->deallocate(p, n, align);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST(SplitBlockFilterErrorsTest, MoreThanTheMachineHasIsRefusedBeforeAllocation) {
  if (PhysicalMemory() == 0 || PhysicalMemory() >= kMaxBytes) {
    GTEST_SKIP() << "this machine holds the largest filter there is";
  }
  CountingResource resource;
  ExpectError(
      [&] { SplitBlockBloomFilter({.bytes = kMaxBytes, .memory = {.resource = &resource}}); },
      ErrorCode::kOutOfMemory, "cannot allocate " + std::to_string(kMaxBytes) + " bytes");
  EXPECT_EQ(resource.allocations, 0u);
  ExpectError([] { SplitBlockBloomFilter({.bytes = kMaxBytes}); }, ErrorCode::kOutOfMemory,
              std::to_string(PhysicalMemory()) + " bytes");
}

TEST(SplitBlockFilterMemoryTest, ComesFromTheResourceAndGoesBack) {
  CountingResource resource;
  const MemoryOptions memory{.resource = &resource};
  for (const uint64_t bytes : {uint64_t{64}, uint64_t{4096}, uint64_t{6} << 20}) {
    {
      SplitBlockBloomFilter filter({.bytes = bytes, .memory = memory});
      EXPECT_EQ(resource.bytes, bytes);
      EXPECT_EQ(filter.estimated_count(), 0);  // zeroed
      filter.Insert(RandomKeys(100, 1));
      SplitBlockBloomFilter copy = filter.Clone(memory);
      EXPECT_EQ(resource.bytes, 2 * bytes);
      SplitBlockBloomFilter half = filter.Folded(memory);
      EXPECT_EQ(resource.bytes, 2 * bytes + bytes / 2);
      const size_t allocations = resource.allocations;
      SplitBlockBloomFilter moved = std::move(filter);
      half = std::move(moved);
      filter = half.Clone();  // uses no memory of the resource
      filter.Merge(copy);
      filter.Clear();
      EXPECT_EQ(resource.allocations, allocations);
      EXPECT_EQ(resource.bytes, 2 * bytes);
    }
    EXPECT_EQ(resource.bytes, 0u);
  }
}

TEST_P(SplitBlockFilterTest, InsertingTwiceChangesOnlyTheCount) {
  SplitBlockBloomFilter filter({.capacity = 1000, .backend = &backend()});
  const std::vector<uint64_t> keys = RandomKeys(1000, /*seed=*/1);
  filter.Insert(keys);
  const std::vector<std::byte> once = Payload(filter);
  const double estimate = filter.estimated_count();
  filter.Insert(keys);
  for (const uint64_t key : keys) filter.Insert(key);
  EXPECT_EQ(Payload(filter), once);
  EXPECT_EQ(filter.estimated_count(), estimate);
  EXPECT_EQ(filter.inserted_count(), 3000u);
}

TEST_P(SplitBlockFilterTest, FoldedEqualsAFilterOfHalfTheSize) {
  const std::vector<uint64_t> keys = RandomKeys(500, /*seed=*/3);
  for (const uint64_t blocks : {2, 6, 10, 64, 130}) {
    const HashSpec hash{HashKind::kXxh64, blocks};
    SplitBlockBloomFilter filter(
        {.capacity = 500, .bytes = 32 * blocks, .hash = hash, .backend = &backend()});
    SplitBlockBloomFilter want = WithBlocks(blocks / 2, hash);
    filter.Insert(keys);
    want.Insert(keys);
    const SplitBlockBloomFilter half = filter.Folded();
    EXPECT_EQ(Payload(half), Payload(want)) << blocks << " blocks";
    EXPECT_EQ(half.inserted_count(), 500u);
    EXPECT_EQ(half.capacity(), 500u);
    EXPECT_EQ(half.hash(), hash);
    EXPECT_EQ(half.Count(keys), keys.size());
  }
}

TEST(SplitBlockFilterErrorsTest, AnOddNumberOfBlocksIsNotFolded) {
  for (const uint64_t blocks : {1, 3, 101}) {
    const SplitBlockBloomFilter filter = WithBlocks(blocks);
    ExpectError([&] { filter.Folded(); }, ErrorCode::kInvalidArgument,
                "a filter of " + std::to_string(blocks) + " blocks cannot be folded");
  }
}

TEST_P(SplitBlockFilterTest, EstimatesFollowTheFill) {
  constexpr uint64_t kBlocks = 4000;
  SplitBlockBloomFilter filter({.bytes = 32 * kBlocks, .backend = &backend()});
  uint64_t n = 0;
  for (const double load : {0.5, 4.0, 15.0, 24.0, 60.0, 150.0}) {
    const auto want = static_cast<uint64_t>(load * kBlocks);
    filter.Insert(RandomKeys(want - n, /*seed=*/want));
    n = want;
    const auto keys = static_cast<double>(n);
    EXPECT_NEAR(filter.estimated_count() / keys, 1, 0.01) << "load " << load;
    EXPECT_NEAR(filter.expected_fpr() / SplitBlockFpr(keys, kBlocks), 1, 0.07) << "load " << load;
    EXPECT_DOUBLE_EQ(filter.expected_fpr(), SplitBlockFpr(filter.estimated_count(), kBlocks));
  }
}

// A filter with every bit set has an infinite estimate, and answers "maybe" to all keys.
TEST_P(SplitBlockFilterTest, AFullFilterIsInfinitelyFull) {
  SplitBlockBloomFilter filter({.bytes = 32, .backend = &backend()});
  filter.Insert(RandomKeys(2000, /*seed=*/1));
  EXPECT_EQ(filter.estimated_count(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(filter.expected_fpr(), 1);
  EXPECT_EQ(filter.Count(RandomKeys(1000, /*seed=*/2)), 1000u);
}

INSTANTIATE_TEST_SUITE_P(Backends, SplitBlockFilterTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::split_block_filter_test
