#ifndef TAMIS_TESTS_CUDA_EXAMPLE_KERNEL_H_
#define TAMIS_TESTS_CUDA_EXAMPLE_KERNEL_H_

#include <cstdint>

#include "tamis/cuda/filter_ref.cuh"
#include "tamis/cuda/status.h"

// Returns a cudaError_t. All pointers must be to device memory.
int LaunchExample(tamis::cuda::SplitBlockRef known, tamis::cuda::SplitBlockRef news,
                  const uint64_t* keys, uint64_t n, unsigned long long* even, cudaStream_t stream);

#endif  // TAMIS_TESTS_CUDA_EXAMPLE_KERNEL_H_
