// The distribution of work over GPUs, at odd sizes.
#include "cuda/src/launch.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tamis::cuda::launch_test {

// From the table "Technical Specifications per Compute Capability" of the CUDA C++ Programming
// Guide, and the number of multiprocessors of one GPU of each.
struct Gpu {
  int capability;
  Processors processors;
  uint64_t resident;  // blocks with 32 registers per thread
};
constexpr Gpu kGpus[] = {
    {80, {108, 2048, 32, 65536}, 108 * 8},   // A100
    {86, {82, 1536, 16, 65536}, 82 * 6},     // GeForce RTX 3090
    {89, {142, 1536, 24, 65536}, 142 * 6},   // L40S
    {90, {132, 2048, 32, 65536}, 132 * 8},   // H100, H200
    {100, {148, 2048, 32, 65536}, 148 * 8},  // B200
    {120, {188, 1536, 24, 65536}, 188 * 6},  // RTX PRO 6000
};

constexpr uint64_t kSizes[] = {0,
                               1,
                               2,
                               31,
                               32,
                               33,
                               63,
                               64,
                               65,
                               255,
                               256,
                               257,
                               397,
                               797,
                               65537,
                               270336,
                               270337,
                               1000003,
                               268435456,
                               (uint64_t{1} << 32) + 1,
                               (uint64_t{1} << 42) + 7};

TEST(ResidentBlocks, AreAllThatThreadsAndRegistersAllow) {
  for (const Gpu& gpu : kGpus) {
    EXPECT_EQ(ResidentBlocks(gpu.processors, kMaxRegisters), gpu.resident) << gpu.capability;
    EXPECT_EQ(ResidentBlocks(gpu.processors, 16), gpu.resident) << gpu.capability;
  }
  const Processors one = {1, 2048, 32, 65536};
  // With 33 to 40 registers a warp takes 1280. 12 warps fit into the 16384 registers of a part.
  for (const auto& [registers, blocks] : {std::pair<uint32_t, uint64_t>{32, 8},
                                          {33, 6},
                                          {40, 6},
                                          {41, 5},
                                          {48, 5},
                                          {49, 4},
                                          {64, 4},
                                          {65, 3},
                                          {128, 2},
                                          {129, 1},
                                          {255, 1}}) {
    EXPECT_EQ(ResidentBlocks(one, registers), blocks) << registers;
  }
  EXPECT_EQ(ResidentBlocks({3, 2048, 2, 65536}, 16), 6u) << "where blocks are the limit";
}

// Expects that all work is done, in no more rounds and by no more blocks than needed.
void CheckCovers(const Work& work, const Grid& grid) {
  EXPECT_LE(grid.blocks, kMaxBlocks);
  EXPECT_EQ(grid.blocks == 0, work.warps == 0);
  EXPECT_EQ(grid.rounds == 0, work.warps == 0);
  if (work.warps == 0) return;
  EXPECT_LT(kBlockWarps * (grid.blocks - 1), work.warps) << "a block without work";
  EXPECT_LT(kBlockWarps * grid.blocks * (grid.rounds - 1), work.warps) << "an empty round";
  EXPECT_GE(kBlockWarps * grid.blocks * grid.rounds, work.warps) << "work that nobody does";
}

ContainsCall<SplitBlockRef> Lookup(uint64_t n, uint64_t* count) {
  return {{}, {nullptr, n, Width::kU64, {}}, nullptr, nullptr, count};
}

TEST(Grid, DoesAllWorkOnce) {
  uint64_t count = 0;
  for (const Gpu& gpu : kGpus) {
    const uint64_t resident = ResidentBlocks(gpu.processors, kMaxRegisters);
    for (const uint64_t n : kSizes) {
      const Work works[] = {WorkOf(Lookup(n, nullptr)),
                            WorkOf(Lookup(n, &count)),
                            WorkOf(InsertCall<SplitBlockRef>{{}, {nullptr, n, Width::kU64, {}}}),
                            WorkOf(CombineCall<Combination::kUnion>{nullptr, nullptr, n}),
                            WorkOf(CountTilesCall{nullptr, n, nullptr}),
                            WorkOf(ScanTilesCall{nullptr, n, nullptr}),
                            WorkOf(ListOnesCall<uint64_t>{nullptr, n, nullptr, nullptr})};
      for (const Work& work : works) {
        SCOPED_TRACE(std::to_string(n) + " on " + std::to_string(gpu.capability));
        CheckCovers(work, GridFor(work, resident));
      }
      // The work includes both halves of the last 64-bit word of a bitmap.
      EXPECT_EQ(WorkOf(Lookup(n, nullptr)).warps, 2 * ((n + 63) / 64));
    }
  }
}

// Each block makes one atomic addition. So the grid has as many blocks as a GPU runs at a time, or
// fewer if there is less work.
TEST(Grid, OfACountIsTheWholeGpu) {
  uint64_t count = 0;
  for (const Gpu& gpu : kGpus) {
    for (const uint64_t n : kSizes) {
      const Work work = WorkOf(Lookup(n, &count));
      const Grid grid = GridFor(work, gpu.resident);
      EXPECT_LE(grid.blocks, gpu.resident);
      EXPECT_EQ(grid.blocks, std::min(WarpsFor(work.warps, kBlockWarps), gpu.resident)) << n;
    }
    // A million keys keep every thread busy.
    const Grid million = GridFor(WorkOf(Lookup(1'000'000, &count)), gpu.resident);
    EXPECT_EQ(million.blocks, gpu.resident) << gpu.capability;
    EXPECT_EQ(million.rounds, WarpsFor(31250, kBlockWarps * gpu.resident)) << gpu.capability;
  }
}

// The launched kernel is often a special one for the same work.
template <typename Column>
void CheckWorkOfCommon(uint64_t n) {
  uint32_t bits = 0;
  uint8_t byte = 0;
  uint64_t count = 0;
  Column column{};
  static_cast<KeyColumn&>(column) = {nullptr, n, Width::kU64, tamis::detail::KeyHasher(HashSpec{})};
  for (uint32_t* const to_bits : {&bits, static_cast<uint32_t*>(nullptr)}) {
    for (uint8_t* const to_bytes : {&byte, static_cast<uint8_t*>(nullptr)}) {
      for (uint64_t* const counted : {&count, static_cast<uint64_t*>(nullptr)}) {
        const ContainsCall<SplitBlockRef, Column> call = {{}, column, to_bits, to_bytes, counted};
        WithKernelOf(call, [&](const auto& kernel) {
          EXPECT_EQ(WorkOf(kernel).warps, WorkOf(call).warps) << n;
          EXPECT_EQ(WorkOf(kernel).resident, counted != nullptr) << n;
        });
      }
    }
  }
}

TEST(Grid, OfACommonLookupEqualsTheGeneralOne) {
  for (const uint64_t n : kSizes) {
    CheckWorkOfCommon<KeyColumn>(n);
    CheckWorkOfCommon<MaskedColumn>(n);
  }
  uint64_t count = 0;
  const MaskedInsertCall<SplitBlockRef> counted = {{}, {}, nullptr, &count};
  EXPECT_TRUE(WorkOf(counted).resident);
}

TEST(Grid, OfOtherWorkIsOneRoundUpToTheLargestGrid) {
  const Grid grid = GridFor(WorkOf(Lookup(1'000'000'007, nullptr)), 1);
  EXPECT_EQ(grid.rounds, 1u);
  const Grid largest = GridFor({~uint64_t{0}}, 1);
  EXPECT_EQ(largest.blocks, kMaxBlocks);
  EXPECT_EQ(largest.rounds, ~uint64_t{0} / (kBlockWarps * kMaxBlocks) + 1);
  EXPECT_EQ(GridFor({100, true}, 0).blocks, 1u) << "a device that says nothing still has one";
}

// Each thread of a retry needs its own memory, so their number is fixed.
TEST(Grid, OfARepetitionIsFixed) {
  const Grid grid = GridFor(WorkOf(RetryCall<CuckooRef<16>>{}), 1);
  EXPECT_EQ(grid.blocks * kBlockWarps, kRetryWarps);
  EXPECT_EQ(grid.rounds, 1u);
}

}  // namespace tamis::cuda::launch_test
