// SelectFrom with more keys than 32 bits can number.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tamis/filters/split_block_filter.h"
#include "tests/os/test_os.h"

namespace tamis::select_from_test {

// The keys are 2^32 zeros in memory that is never touched. The index after 2^32 - 1 is not 0.
TEST(SelectFromTest, TheLastIndexOf32Bits_IsNotFollowedBy0) {
  constexpr uint64_t kKeys = uint64_t{1} << 32;
  const test_os::SparseMemory memory(kKeys * sizeof(uint32_t));
  if (memory.empty()) GTEST_SKIP() << "no 16 GiB of address space";
  const std::span<const uint32_t> keys(static_cast<const uint32_t*>(memory.begin()), kKeys);
  SplitBlockBloomFilter filter({.capacity = 1});
  filter.Insert(uint64_t{0});
  const std::vector<uint32_t> selection = {0xFFFFFFFF, 0};
  std::vector<uint32_t> out(2);
  EXPECT_EQ(filter.SelectFrom(keys, selection, out), 2u);
  EXPECT_EQ(out, selection);
}

}  // namespace tamis::select_from_test
