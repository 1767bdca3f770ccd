// A kernel as a user of the library writes one: it asks one filter and fills another on the way.
#include <cuda_runtime.h>

#include "tamis/cuda/filter_ref.cuh"
#include "tests/cuda/example_kernel.h"

namespace {

// Of the keys that `known` does not have, counts the even ones and inserts all into `news`.
__global__ void CollectNews(tamis::cuda::SplitBlockRef known, tamis::cuda::SplitBlockRef news,
                            const uint64_t* keys, uint64_t n, unsigned long long* even) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n || known.Contains(keys[i])) return;
  news.Insert(keys[i]);
  if (keys[i] % 2 == 0) atomicAdd(even, 1ull);
}

}  // namespace

int LaunchExample(tamis::cuda::SplitBlockRef known, tamis::cuda::SplitBlockRef news,
                  const uint64_t* keys, uint64_t n, unsigned long long* even, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  CollectNews<<<blocks, 256, 0, stream>>>(known, news, keys, n, even);
  return cudaGetLastError();
}
