// The warp of the calling thread, for steps that its 32 lanes take together. Only for nvcc.
#ifndef TAMIS_CUDA_WARP_CUH_
#define TAMIS_CUDA_WARP_CUH_

#include <cstdint>

#include "tamis/detail/compiler.h"

#ifdef __CUDACC__

namespace tamis::cuda {

// For kernels with one-dimensional blocks of a multiple of 32 threads. All lanes of the warp must
// take each step together, as with __ballot_sync and __shfl_sync, which these functions call. On
// the host, the results are meaningless.
struct ThisWarp {
  // In [0, 32).
  TAMIS_HD uint32_t Index() const {
#ifdef __CUDA_ARCH__
    return threadIdx.x % 32;
#else
    return 0;
#endif
  }
  // Returns a bit for each lane.
  TAMIS_HD uint32_t Ballot(bool flag) const {
#ifdef __CUDA_ARCH__
    return __ballot_sync(0xFFFFFFFF, flag);
#else
    return flag;
#endif
  }
  // Returns the value of lane `from`.
  TAMIS_HD uint32_t Shuffle(uint32_t value, uint32_t from) const {
#ifdef __CUDA_ARCH__
    return __shfl_sync(0xFFFFFFFF, value, static_cast<int>(from));
#else
    return value + 0 * from;
#endif
  }
};

}  // namespace tamis::cuda

#endif  // __CUDACC__

#endif  // TAMIS_CUDA_WARP_CUH_
