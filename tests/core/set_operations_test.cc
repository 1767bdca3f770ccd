// Intersections and estimates of split-block filters, and which filters can be combined. The tests
// of other kinds cover their special properties.
#include "tamis/filters/set_operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tamis/backends.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::set_operations_test {

class SetOperationsTest : public BackendTest {};

TEST_P(SetOperationsTest, IntersectKeepsCommonKeys) {
  const std::vector<uint64_t> keys = RandomKeys(3000, /*seed=*/2);
  const std::vector<uint64_t> others = RandomKeys(50'000, /*seed=*/3);
  for (const uint64_t blocks : {1, 7, 150, 1001}) {
    const FilterOptions options{.capacity = 2000, .bytes = 32 * blocks, .backend = &backend()};
    SplitBlockBloomFilter a(options), b(options);
    a.Insert(std::span(keys).first(2000));
    b.Insert(std::span(keys).last(1500));
    const size_t at_most = std::min(a.Count(others), b.Count(others));
    std::vector<std::byte> want = Payload(a);
    for (size_t i = 0; i < want.size(); ++i) want[i] &= b.payload()[i];
    a.Intersect(b);
    EXPECT_EQ(Payload(a), want) << blocks << " blocks";
    EXPECT_EQ(a.Count(std::span(keys).subspan(1500, 500)), 500u) << "false negatives";
    EXPECT_LE(a.Count(others), at_most);
    EXPECT_EQ(a.inserted_count(), 1500u);
  }
}

TEST_P(SetOperationsTest, EstimatesOfUnionAndIntersection) {
  const std::vector<uint64_t> keys = RandomKeys(90'000, /*seed=*/1);
  const FilterOptions options{.capacity = 90'000, .backend = &backend()};
  SplitBlockBloomFilter a(options), b(options), both(options);
  a.Insert(std::span(keys).first(60'000));
  b.Insert(std::span(keys).last(60'000));
  both.Insert(keys);
  EXPECT_DOUBLE_EQ(a.estimated_union_count(b), both.estimated_count());
  EXPECT_NEAR(a.estimated_union_count(b), 90'000, 900);
  EXPECT_NEAR(a.estimated_intersection_count(b), 30'000, 900);
  EXPECT_NEAR(a.estimated_intersection_count(a), 60'000, 600);
  const SplitBlockBloomFilter empty(options);
  EXPECT_EQ(a.estimated_intersection_count(empty), 0);
  EXPECT_DOUBLE_EQ(a.estimated_union_count(empty), a.estimated_count());
}

TEST(CanMergeTest, SaysWhyNot) {
  const SplitBlockBloomFilter a({.bytes = 320});
  EXPECT_TRUE(CanMerge(a, a));
  EXPECT_EQ(CanMerge(a, a).reason, "");
  EXPECT_EQ(CanMerge(a, SplitBlockBloomFilter({.bytes = 640})).reason,
            "filters of 10 blocks and 20 blocks cannot be merged");
  EXPECT_EQ(
      CanMerge(a, SplitBlockBloomFilter({.bytes = 320, .hash = {HashKind::kXxh64, 1}})).reason,
      "filters of hash xxh3 with seed 0 and xxh64 with seed 1 cannot be merged");
  const auto keyed = [](HashKind kind, uint64_t number) {
    return SplitBlockBloomFilter({.bytes = 320, .hash = HashOf(kind, number)});
  };
  EXPECT_TRUE(CanMerge(keyed(HashKind::kSipHash13, 7), keyed(HashKind::kSipHash13, 7)));
  EXPECT_EQ(CanMerge(keyed(HashKind::kSipHash13, 7), keyed(HashKind::kSipHash24, 7)).reason,
            "filters of hash siphash13 and siphash24 cannot be merged");
  EXPECT_EQ(CanMerge(keyed(HashKind::kSipHash13, 7), keyed(HashKind::kSipHash13, 8)).reason,
            "filters of hash siphash13 and siphash13 with another secret cannot be merged");
  EXPECT_EQ(CanMerge(a, BloomFilter({.bytes = 320})).reason,
            "filters of kinds split-block and bloom cannot be merged");
}

TEST(CanMergeTest, IntersectAndEstimatesRefuseTheSame) {
  SplitBlockBloomFilter a({.bytes = 320});
  const SplitBlockBloomFilter b({.bytes = 640});
  const std::string reason = CanMerge(a, b).reason;
  ExpectError([&] { a.Intersect(b); }, ErrorCode::kIncompatible, reason);
  ExpectError([&] { a.estimated_union_count(b); }, ErrorCode::kIncompatible, reason);
  ExpectError([&] { a.estimated_intersection_count(b); }, ErrorCode::kIncompatible, reason);
}

INSTANTIATE_TEST_SUITE_P(Backends, SetOperationsTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::set_operations_test
