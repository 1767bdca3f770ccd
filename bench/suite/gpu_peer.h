// Filters of other libraries on a GPU, where their headers were handed in (TAMIS_CUDA_PEERS).
#ifndef TAMIS_BENCH_SUITE_GPU_PEER_H_
#define TAMIS_BENCH_SUITE_GPU_PEER_H_

#include <cstdint>
#include <span>

#include "bench/suite/gpu_schedule.h"
#include "tamis/cuda/status.h"

namespace tamis::bench {

// One on the current device, of 64-bit keys. All pointers are to device memory, all calls put work
// on a stream and may wait for it. They throw std::exception.
class GpuPeer {
 public:
  virtual ~GpuPeer() = default;

  virtual uint64_t bytes() const = 0;
  // That fill it.
  virtual uint64_t num_keys() const = 0;
  virtual void Clear(cudaStream_t stream) = 0;
  // How many went in, or n where the library does not say.
  virtual uint64_t Insert(const uint64_t* keys, uint64_t n, cudaStream_t stream) = 0;
  // out[i] is 0 or 1.
  virtual void Contains(const uint64_t* keys, uint64_t n, uint8_t* out,
                        cudaStream_t stream) const = 0;
  // Only of kinds that can be full.
  virtual void Erase(const uint64_t* keys, uint64_t n, cudaStream_t stream) = 0;
};

// Those of this build.
std::span<const GpuPeerKind> GpuPeerKinds() noexcept;

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_GPU_PEER_H_
