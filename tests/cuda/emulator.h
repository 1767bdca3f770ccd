// Warps of 32 lanes on the CPU, for running the bodies of kernels without a GPU.
//
// Each lane is a fiber of the calling thread. It runs until a step that its warp or its block takes
// together, and continues when all lanes are at that step. On a GPU, lanes at different steps, or
// lanes that end before the others, would hang or give wrong results. Here they end the test
// program.
#ifndef TAMIS_TESTS_CUDA_EMULATOR_H_
#define TAMIS_TESTS_CUDA_EMULATOR_H_

#include <cstdint>
#include <functional>

namespace tamis::cuda {

class EmulatedLanes;

class EmulatedLane {
 public:
  EmulatedLane(EmulatedLanes& lanes, uint32_t index, uint64_t warp_index, uint64_t num_warps)
      : lanes_(&lanes), index_(index), warp_index_(warp_index), num_warps_(num_warps) {}

  uint32_t Index() const { return index_; }
  uint64_t Warp() const { return warp_index_; }
  uint64_t NumWarps() const { return num_warps_; }
  uint32_t Ballot(bool flag) const;
  uint32_t Shuffle(uint32_t value, uint32_t from) const;
  void BlockAdd(uint64_t* sum, uint32_t value) const;

 private:
  EmulatedLanes* lanes_;
  uint32_t index_;
  uint64_t warp_index_;
  uint64_t num_warps_;
};

using LaneBody = std::function<void(const EmulatedLane&)>;

// Runs body(lane) for the 32 lanes of one warp of a grid. The warp is a block.
void RunWarp(uint64_t warp, uint64_t num_warps, const LaneBody& body);

// Runs all warps of a grid on this thread, in blocks of kBlockWarps, one block after the other.
void RunGrid(uint64_t num_warps, const LaneBody& body);

// Runs all warps of a grid at the same time. At each access to memory that other lanes change, a
// lane stops with probability 1/2, and any other lane that can run continues. The seed determines
// these choices. Each lane has a stack of 128 KiB, which limits the number of warps.
void RunGridShuffled(uint64_t num_warps, uint64_t seed, const LaneBody& body);

}  // namespace tamis::cuda

#endif  // TAMIS_TESTS_CUDA_EMULATOR_H_
