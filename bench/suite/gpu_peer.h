// Filters of other libraries on a GPU, if their headers were passed at configure time
// (TAMIS_CUDA_PEERS).
#ifndef TAMIS_BENCH_SUITE_GPU_PEER_H_
#define TAMIS_BENCH_SUITE_GPU_PEER_H_

#include <cstdint>
#include <span>

#include "bench/suite/gpu_schedule.h"
#include "tamis/cuda/status.h"

namespace tamis::bench {

// A filter on the current device with 64-bit keys. All pointers point to device memory. All calls
// put work on a stream and may wait for it. They throw std::exception.
class GpuPeer {
 public:
  virtual ~GpuPeer() = default;

  virtual uint64_t bytes() const = 0;
  // Returns the number of keys that fill the filter.
  virtual uint64_t num_keys() const = 0;
  virtual void Clear(cudaStream_t stream) = 0;
  // Returns the number of keys that were inserted, or `n` if the library does not return it.
  virtual uint64_t Insert(const uint64_t* keys, uint64_t n, cudaStream_t stream) = 0;
  // Sets out[i] to 0 or 1.
  virtual void Contains(const uint64_t* keys, uint64_t n, uint8_t* out,
                        cudaStream_t stream) const = 0;
  // Called only for kinds that can be full.
  virtual void Erase(const uint64_t* keys, uint64_t n, cudaStream_t stream) = 0;
};

// Returns the peers of this build.
std::span<const GpuPeerKind> GpuPeerKinds() noexcept;

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_GPU_PEER_H_
