// A kernel as a user of the library writes it: it queries one filter and fills another.
#include <cuda_runtime.h>

#include "tamis/cuda/filter_ref.cuh"
#include "tamis/cuda/warp.cuh"
#include "tests/cuda/example_kernel.h"

namespace {

// Selects the keys that `known` does not contain, counts the even ones, and inserts all of them
// into `news`.
__global__ void CollectNews(tamis::cuda::SplitBlockRef known, tamis::cuda::SplitBlockRef news,
                            const uint64_t* keys, uint64_t n, unsigned long long* even) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const uint64_t key = i < n ? keys[i] : 0;
  const bool is_new = i < n && !known.Contains(key);
  // All lanes of a warp call this, whether they have a key or not. Insert(key) by the lanes with a
  // key would make eight memory accesses instead of one.
  news.InsertTogether(tamis::cuda::ThisWarp(), key, is_new);
  if (is_new && key % 2 == 0) atomicAdd(even, 1ull);
}

}  // namespace

int LaunchExample(tamis::cuda::SplitBlockRef known, tamis::cuda::SplitBlockRef news,
                  const uint64_t* keys, uint64_t n, unsigned long long* even, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  CollectNews<<<blocks, 256, 0, stream>>>(known, news, keys, n, even);
  return cudaGetLastError();
}
