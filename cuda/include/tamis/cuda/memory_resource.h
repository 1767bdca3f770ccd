// A hook for device memory.
#ifndef TAMIS_CUDA_MEMORY_RESOURCE_H_
#define TAMIS_CUDA_MEMORY_RESOURCE_H_

#include <cstdint>

#include "tamis/cuda/status.h"

namespace tamis::cuda {

// Where device memory comes from. It must outlive what allocates from it, and be as thread-safe as
// its user needs.
class MemoryResource {
 public:
  virtual ~MemoryResource() = default;

  // Memory of the current device, aligned to at least 32 bytes, that may be used by work put on
  // `stream` from now on; nullptr if there is none.
  virtual void* Allocate(uint64_t bytes, cudaStream_t stream) noexcept = 0;
  // Takes back what Allocate gave, after the work that is on `stream` by now. For a filter that is
  // destroyed that is the default stream, which a resource must not use while a stream that it
  // waits for is captured into a graph.
  virtual void Free(void* memory, uint64_t bytes, cudaStream_t stream) noexcept = 0;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_MEMORY_RESOURCE_H_
