// How the work of a call is distributed over a GPU. The CUDA runtime and the tests use the same
// pure functions.
#ifndef TAMIS_CUDA_SRC_LAUNCH_H_
#define TAMIS_CUDA_SRC_LAUNCH_H_

#include <algorithm>
#include <cstdint>

#include "cuda/src/kernel_calls.h"

namespace tamis::cuda {

inline constexpr uint32_t kBlockThreads = 256;
inline constexpr uint64_t kBlockWarps = kBlockThreads / kWarpLanes;
inline constexpr uint64_t kMaxBlocks = 0x7FFFFFFF;  // largest size of a grid in its first dimension
static_assert(kRetryWarps % kBlockWarps == 0, "each of its threads has memory of its own");

// The number of multiprocessors of a device, and the limits of each.
struct Processors {
  uint32_t count;
  uint32_t threads;
  uint32_t blocks;
  uint32_t registers;
};

// The most registers per thread of kernels whose warps take several rounds. A test of the machine
// code checks this limit.
inline constexpr uint32_t kMaxRegisters = 32;

// Returns the number of blocks of kBlockThreads threads that a device of compute capability 8.0 to
// 12.x can hold at a time. `registers` is the number per thread, in [1, 255]. A warp gets a
// multiple of 256 registers, all from one of the four parts of a multiprocessor (cuda_occupancy.h
// of the CUDA toolkit). Shared memory is not a limit, because the kernels hardly use any.
constexpr uint64_t ResidentBlocks(const Processors& processors, uint32_t registers) {
  constexpr uint32_t kParts = 4;
  constexpr uint32_t kUnit = 256;
  const uint32_t of_warp = (registers * 32 + kUnit - 1) / kUnit * kUnit;
  const uint64_t by_registers = processors.registers / kParts / of_warp * kParts / kBlockWarps;
  const uint64_t by_threads = processors.threads / kBlockThreads;
  return processors.count * std::min({by_registers, by_threads, uint64_t{processors.blocks}});
}

struct Grid {
  uint64_t blocks;  // in [0, kMaxBlocks]; 0: nothing to launch
  uint64_t rounds;  // the most rounds that a warp takes
};

constexpr Grid GridFor(const Work& work, uint64_t resident_blocks) {
  const uint64_t most =
      work.resident ? std::clamp<uint64_t>(resident_blocks, 1, kMaxBlocks) : kMaxBlocks;
  const uint64_t blocks = std::min(WarpsFor(work.warps, kBlockWarps), most);
  return {blocks, blocks == 0 ? 0 : WarpsFor(work.warps, kBlockWarps * blocks)};
}

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_LAUNCH_H_
