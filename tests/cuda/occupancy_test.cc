// The number of resident blocks, compared with the occupancy calculator of the CUDA toolkit.
#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include "cuda/src/launch.h"

namespace tamis::cuda::occupancy_test {

TEST(ResidentBlocks, EqualTheToolkits) {
  struct Capability {
    int major, minor, threads, blocks;
  };
  for (const Capability& c : {Capability{8, 0, 2048, 32},
                              {8, 6, 1536, 16},
                              {8, 9, 1536, 24},
                              {9, 0, 2048, 32},
                              {10, 0, 2048, 32},
                              {12, 0, 1536, 24}}) {
    cudaOccDeviceProp device = {};
    device.computeMajor = c.major;
    device.computeMinor = c.minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = c.threads;
    device.regsPerBlock = 65536;
    device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 48 << 10;
    device.sharedMemPerMultiprocessor = 100 << 10;
    device.numSms = 100;
    device.sharedMemPerBlockOptin = 99 << 10;
    device.reservedSharedMemPerBlock = 1 << 10;
    const cudaOccDeviceState state = {};
    for (uint32_t registers = 1; registers <= 255; ++registers) {
      cudaOccFuncAttributes kernel = {};
      kernel.maxThreadsPerBlock = kBlockThreads;
      kernel.numRegs = static_cast<int>(registers);
      kernel.sharedSizeBytes = sizeof(uint32_t) * kBlockWarps;  // used by BlockAdd
      kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
      cudaOccResult result = {};
      ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state,
                                                        kBlockThreads, 0),
                CUDA_OCC_SUCCESS);
      const Processors processors = {1, static_cast<uint32_t>(c.threads),
                                     static_cast<uint32_t>(c.blocks), 65536};
      ASSERT_EQ(ResidentBlocks(processors, registers),
                static_cast<uint64_t>(result.activeBlocksPerMultiprocessor))
          << registers << " registers on " << c.major << "." << c.minor;
    }
  }
}

}  // namespace tamis::cuda::occupancy_test
