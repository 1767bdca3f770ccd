// The GPU of this machine for the suite.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/suite/gpu.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/error.h"

namespace tamis::bench {
namespace {

constexpr uint32_t kBlock = 256;

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();
  throw Error(error == cudaErrorMemoryAllocation ? ErrorCode::kOutOfMemory : ErrorCode::kDevice,
              std::string("CUDA: ") + cudaGetErrorString(error));
}

// Equals KeyAt of bench/workload.h.
__device__ uint64_t Mix(uint64_t i) {
  uint64_t z = (i + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

__device__ uint64_t Thread() { return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

__global__ void KeysKernel(uint64_t* keys, uint64_t n, uint64_t first) {
  const uint64_t i = Thread();
  if (i < n) keys[i] = Mix(first + i);
}

__global__ void QueriesKernel(uint64_t* keys, uint64_t n, uint64_t inserted, uint64_t hit_percent) {
  const uint64_t i = Thread();
  if (i >= n) return;
  const uint64_t random = Mix(i ^ 0x5851F42D4C957F2D);
  const bool hit = random % 100 < hit_percent;
  keys[i] = Mix(hit ? __umul64hi(Mix(random), inserted) : (uint64_t{1} << 48) + i);
}

// Reads a sector by two loads of 16 bytes, like queries. The index of the sector is computed, so
// that nothing else is read.
template <int kPerThread>
__global__ void __launch_bounds__(kBlock)
    ReadKernel(const uint4* memory, uint64_t sectors, uint64_t n, uint32_t* sink) {
  const uint64_t thread = Thread();
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  uint4 low[kPerThread];
  uint4 high[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const uint64_t sector = __umul64hi(Mix(thread + k * step), sectors);
    low[k] = memory[2 * sector];
    high[k] = memory[2 * sector + 1];
  }
  uint32_t all = 0;
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    all ^=
        low[k].x ^ low[k].y ^ low[k].z ^ low[k].w ^ high[k].x ^ high[k].y ^ high[k].z ^ high[k].w;
  }
  if (all == 0x12345678 && thread < n) *sink = all;  // so that the compiler keeps the reads
}

// Eight threads each set a bit of one sector.
__global__ void __launch_bounds__(kBlock)
    SetKernel(uint32_t* memory, uint64_t sectors, uint64_t n) {
  const uint64_t i = Thread() / 8;
  if (i >= n) return;
  const uint64_t random = Mix(i);
  atomicOr(memory + 8 * __umul64hi(random, sectors) + threadIdx.x % 8, 1u << (random % 32));
}

__global__ void CountKernel(const uint8_t* bytes, uint64_t n, unsigned long long* count) {
  const uint64_t i = Thread();
  const unsigned ones = __popc(__ballot_sync(0xFFFFFFFF, i < n && bytes[i] != 0));
  if (threadIdx.x % 32 == 0 && ones != 0) atomicAdd(count, ones);
}

uint32_t Blocks(uint64_t threads) { return static_cast<uint32_t>((threads + kBlock - 1) / kBlock); }

class CudaDevice final : public GpuDevice {
 public:
  CudaDevice() {
    cudaDeviceProp properties;
    Check(cudaGetDeviceProperties(&properties, 0));
    Check(cudaSetDevice(0));
    memory_bytes_ = properties.totalGlobalMem;
    Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    Check(cudaEventCreate(&begin_));
    Check(cudaEventCreate(&end_));
    Check(cudaMalloc(&sink_, sizeof(*sink_)));
    Check(cudaMalloc(&count_, sizeof(*count_)));
  }
  ~CudaDevice() override {
    for (const auto& [begin, end] : pieces_) {
      cudaEventDestroy(begin);
      cudaEventDestroy(end);
    }
    cudaFree(count_);
    cudaFree(sink_);
    cudaEventDestroy(end_);
    cudaEventDestroy(begin_);
    cudaStreamDestroy(stream_);
  }

  uint64_t memory_bytes() const override { return memory_bytes_; }
  cuda::DeviceOptions options() const override { return {.device = 0}; }
  void* Allocate(uint64_t bytes) override {
    void* memory = nullptr;
    Check(cudaMalloc(&memory, bytes));
    return memory;
  }
  void Free(void* memory) noexcept override { cudaFree(memory); }
  void* AllocatePinned(uint64_t bytes) override {
    void* memory = nullptr;
    Check(cudaMallocHost(&memory, bytes));
    return memory;
  }
  void FreePinned(void* memory) noexcept override { cudaFreeHost(memory); }
  void Copy(void* to, const void* from, uint64_t bytes) override {
    Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
    Check(cudaStreamSynchronize(stream_));
  }

  void MakeKeys(uint64_t* keys, uint64_t n, uint64_t first) override {
    Time([&](cudaStream_t stream) {
      KeysKernel<<<Blocks(n), kBlock, 0, stream>>>(keys, n, first);
      Check(cudaGetLastError());
    });
  }
  void MakeQueries(uint64_t* keys, uint64_t n, uint64_t inserted, int hit_percent) override {
    Time([&](cudaStream_t stream) {
      QueriesKernel<<<Blocks(n), kBlock, 0, stream>>>(keys, n, inserted,
                                                      static_cast<uint64_t>(hit_percent));
      Check(cudaGetLastError());
    });
  }

  double Time(const std::function<void(cudaStream_t)>& work) override {
    Check(cudaEventRecord(begin_, stream_));
    work(stream_);
    Check(cudaEventRecord(end_, stream_));
    Check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * milliseconds;
  }
  double TimeEach(uint64_t times, const Piece& before, const Piece& work) override {
    while (pieces_.size() < times) {
      cudaEvent_t begin = nullptr;
      cudaEvent_t end = nullptr;
      Check(cudaEventCreate(&begin));
      Check(cudaEventCreate(&end));
      pieces_.emplace_back(begin, end);
    }
    for (uint64_t i = 0; i < times; ++i) {
      before(i, stream_);
      Check(cudaEventRecord(pieces_[i].first, stream_));
      work(i, stream_);
      Check(cudaEventRecord(pieces_[i].second, stream_));
    }
    Check(cudaStreamSynchronize(stream_));
    double seconds = 0;
    for (uint64_t i = 0; i < times; ++i) {
      float milliseconds = 0;
      Check(cudaEventElapsedTime(&milliseconds, pieces_[i].first, pieces_[i].second));
      seconds += 1e-3 * milliseconds;
    }
    return seconds;
  }
  uint64_t CountBytes(const uint8_t* bytes, uint64_t n) override {
    Check(cudaMemsetAsync(count_, 0, sizeof(*count_), stream_));
    CountKernel<<<Blocks(n), kBlock, 0, stream_>>>(bytes, n, count_);
    Check(cudaGetLastError());
    unsigned long long count = 0;
    Copy(&count, count_, sizeof(count));
    return count;
  }
  double ReadSectors(const void* memory, uint64_t bytes, uint64_t n, int per_thread) override {
    const auto* const from = static_cast<const uint4*>(memory);
    const uint64_t sectors = bytes / 32;
    return Time([&](cudaStream_t stream) {
      const uint32_t blocks = Blocks(n / static_cast<uint64_t>(per_thread));
      if (per_thread == 1) {
        ReadKernel<1><<<blocks, kBlock, 0, stream>>>(from, sectors, n, sink_);
      } else if (per_thread == 2) {
        ReadKernel<2><<<blocks, kBlock, 0, stream>>>(from, sectors, n, sink_);
      } else {
        ReadKernel<4><<<blocks, kBlock, 0, stream>>>(from, sectors, n, sink_);
      }
      Check(cudaGetLastError());
    });
  }
  double SetSectors(void* memory, uint64_t bytes, uint64_t n) override {
    return Time([&](cudaStream_t stream) {
      SetKernel<<<Blocks(8 * n), kBlock, 0, stream>>>(static_cast<uint32_t*>(memory), bytes / 32,
                                                      n);
      Check(cudaGetLastError());
    });
  }

 private:
  uint64_t memory_bytes_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  uint32_t* sink_ = nullptr;
  unsigned long long* count_ = nullptr;
  std::vector<std::pair<cudaEvent_t, cudaEvent_t>> pieces_;  // begin and end of each piece
};

}  // namespace

std::unique_ptr<GpuDevice> OpenGpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return std::make_unique<CudaDevice>();
}

}  // namespace tamis::bench
