// A hook for device memory.
#ifndef TAMIS_CUDA_MEMORY_RESOURCE_H_
#define TAMIS_CUDA_MEMORY_RESOURCE_H_

#include <cstdint>

#include "tamis/cuda/status.h"

namespace tamis::cuda {

// The source of device memory. A resource must outlive the objects that allocate from it. If
// several threads use such objects, it must be thread-safe.
class MemoryResource {
 public:
  virtual ~MemoryResource() = default;

  // Returns memory of the current device, aligned to at least 32 bytes, for work put on `stream`
  // from now on. Returns nullptr if there is not enough memory.
  virtual void* Allocate(uint64_t bytes, cudaStream_t stream) noexcept = 0;
  // Frees memory of Allocate after the work that is now on `stream`. When a filter is destroyed,
  // `stream` is the default stream. A resource must not use the default stream while a stream that
  // the default stream waits for is captured into a graph.
  virtual void Free(void* memory, uint64_t bytes, cudaStream_t stream) noexcept = 0;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_MEMORY_RESOURCE_H_
