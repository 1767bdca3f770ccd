// The warp of the calling thread, for what its 32 lanes do together: in what nvcc compiles.
#ifndef TAMIS_CUDA_WARP_CUH_
#define TAMIS_CUDA_WARP_CUH_

#include <cstdint>

#include "tamis/detail/hd.h"

#ifdef __CUDACC__

namespace tamis::cuda {

// For kernels whose blocks are rows of a multiple of 32 threads. All lanes of the warp have to take
// each step together, as with the __ballot_sync and __shfl_sync that these are. On the host, where
// there are no warps, the functions do nothing of use.
struct ThisWarp {
  // In [0, 32).
  TAMIS_HD uint32_t Index() const {
#ifdef __CUDA_ARCH__
    return threadIdx.x % 32;
#else
    return 0;
#endif
  }
  // A bit for each lane.
  TAMIS_HD uint32_t Ballot(bool flag) const {
#ifdef __CUDA_ARCH__
    return __ballot_sync(0xFFFFFFFF, flag);
#else
    return flag;
#endif
  }
  // The value of lane `from`.
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
