// Names and paths that programs may still use: each stands for the new one.
#include "tamis/bloom.h"
#include "tamis/counting.h"
#include "tamis/cuckoo.h"
#include "tamis/hd.h"
#include "tamis/split_block.h"
// The old paths come first, so that each has to bring what it stands for.
#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

#include "tamis/engine.h"
#include "tamis/split_block_filter.h"

namespace tamis::old_names_test {

TAMIS_HD constexpr uint64_t Twice(uint64_t x) { return 2 * x; }

TEST(OldNamesTest, OldPathsHaveTheArithmetic) {
  EXPECT_EQ(Twice(21), 42u);
  EXPECT_EQ(split_block::BlockIndex(~uint64_t{0}, 10), 9u);
  EXPECT_EQ(counting::BlockIndex(~uint64_t{0}, 10), 9u);
  EXPECT_EQ(bloom::Start(~uint64_t{0}, 64).position, 63u);
  EXPECT_EQ(cuckoo::Fingerprint<8>(0), 1u);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST(OldNamesTest, PlanOfACall) {
  static_assert(std::is_same_v<Plan, CallPlan> && std::is_same_v<PlanStep, CallRoute>);
  const SplitBlockBloomFilter filter({.bytes = 4096});
  const Engine engine({.threads = 2});
  const Plan old_plan = engine.PlanFor(filter, 1'000'000, Operation::kInsert);
  const CallPlan plan = engine.PlanCall(filter, 1'000'000, Operation::kInsert);
  EXPECT_EQ(old_plan.operation, Operation::kInsert);
  EXPECT_EQ(old_plan.keys, plan.keys);
  EXPECT_EQ(old_plan.reason, plan.reason);
  const PlanStep step = engine.PlanFor(filter, 1).chosen;
  EXPECT_EQ(step.backend, engine.PlanCall(filter, 1).chosen.backend);
}

#pragma GCC diagnostic pop

}  // namespace tamis::old_names_test
