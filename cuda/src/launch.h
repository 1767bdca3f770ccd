// How the work of a call is spread over a GPU: pure functions, the same for the CUDA runtime and
// for tests.
#ifndef TAMIS_CUDA_SRC_LAUNCH_H_
#define TAMIS_CUDA_SRC_LAUNCH_H_

#include <algorithm>
#include <cstdint>

#include "cuda/src/kernel_calls.h"

namespace tamis::cuda {

inline constexpr uint32_t kBlockThreads = 256;
inline constexpr uint64_t kBlockWarps = kBlockThreads / kWarpLanes;
inline constexpr uint64_t kMaxBlocks = 0x7FFFFFFF;  // of a grid, in its first dimension
static_assert(kRetryWarps % kBlockWarps == 0, "each of its threads has memory of its own");

// The multiprocessors of a device, and what each holds at a time.
struct Processors {
  uint32_t count;
  uint32_t threads;
  uint32_t blocks;
  uint32_t registers;
};

// Of kernels whose warps take several rounds; the test of the machine code counts them.
inline constexpr uint32_t kMaxRegisters = 32;

// The blocks of kBlockThreads threads that a device of compute capability 8.0 to 12.x holds at a
// time, of a kernel whose threads take so many registers, in [1, 255]. A warp takes multiples of
// 256 registers, of one of the four parts of a multiprocessor (cuda_occupancy.h of the CUDA
// toolkit). Shared memory is no limit to kernels that hardly use any.
constexpr uint64_t ResidentBlocks(const Processors& processors, uint32_t registers) {
  constexpr uint32_t kParts = 4;
  constexpr uint32_t kUnit = 256;
  const uint32_t of_warp = (registers * 32 + kUnit - 1) / kUnit * kUnit;
  const uint64_t by_registers = processors.registers / kParts / of_warp * kParts / kBlockWarps;
  const uint64_t by_threads = processors.threads / kBlockThreads;
  return processors.count * std::min({by_registers, by_threads, uint64_t{processors.blocks}});
}

struct Grid {
  uint64_t blocks;  // in [0, kMaxBlocks]; with 0 there is nothing to launch
  uint64_t rounds;  // of the warps that take most
};

constexpr Grid GridFor(const Work& work, uint64_t resident_blocks) {
  const uint64_t most =
      work.resident ? std::clamp<uint64_t>(resident_blocks, 1, kMaxBlocks) : kMaxBlocks;
  const uint64_t blocks = std::min(WarpsFor(work.warps, kBlockWarps), most);
  return {blocks, blocks == 0 ? 0 : WarpsFor(work.warps, kBlockWarps * blocks)};
}

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_LAUNCH_H_
