// A warp of 32 lanes on the CPU, for running the bodies of kernels without a GPU.
//
// Each lane is a fiber of the calling thread. It runs until a step that the warp takes together,
// and goes on when all lanes have come to that step; lanes that come to different ones, or that end
// before the others, are what a GPU would hang on or get wrong, and end the test program.
#ifndef TAMIS_TESTS_CUDA_EMULATOR_H_
#define TAMIS_TESTS_CUDA_EMULATOR_H_

#include <cstdint>
#include <functional>

namespace tamis::cuda {

class EmulatedWarp;

class EmulatedLane {
 public:
  EmulatedLane(EmulatedWarp& warp, uint32_t index, uint64_t warp_index, uint64_t num_warps)
      : warp_(&warp), index_(index), warp_index_(warp_index), num_warps_(num_warps) {}

  uint32_t Index() const { return index_; }
  uint64_t Warp() const { return warp_index_; }
  uint64_t NumWarps() const { return num_warps_; }
  uint32_t Ballot(bool flag) const;
  uint32_t Shuffle(uint32_t value, uint32_t from) const;

 private:
  EmulatedWarp* warp_;
  uint32_t index_;
  uint64_t warp_index_;
  uint64_t num_warps_;
};

// Runs body(lane) for the 32 lanes of one warp of a grid.
void RunWarp(uint64_t warp, uint64_t num_warps,
             const std::function<void(const EmulatedLane&)>& body);

// Runs all warps of a grid on this thread, one after the other.
inline void RunGrid(uint64_t num_warps, const std::function<void(const EmulatedLane&)>& body) {
  for (uint64_t warp = 0; warp < num_warps; ++warp) RunWarp(warp, num_warps, body);
}

}  // namespace tamis::cuda

#endif  // TAMIS_TESTS_CUDA_EMULATOR_H_
