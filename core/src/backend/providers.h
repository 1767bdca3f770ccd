// Declares the functions that provide backends, which are defined in other folders such as simd/.
// Backends do not register themselves: a linker would drop such code from an archive.
#ifndef TAMIS_CORE_SRC_BACKEND_PROVIDERS_H_
#define TAMIS_CORE_SRC_BACKEND_PROVIDERS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/backend.h"
#include "tamis/detail/kernels.h"

namespace tamis::detail {

Kernels PortableKernels();

// Returns the backends of Backends() that are not GPUs, best first. Calls no GPU driver.
// Thread-safe.
std::span<const Backend> HostBackends();

struct ProvidedBackend {
  std::string_view name;
  std::string_view description;
  Kernels kernels;
};

// Returns the Highway backends that run on this machine, best first. Defined if TAMIS_HAVE_SIMD.
std::vector<ProvidedBackend> SimdBackends();

// Returns the GPU backend if it works. This backend uses `host_kernels` for all operations without
// a GPU kernel. Otherwise returns nothing and sets `why` to the reason. Defined if TAMIS_HAVE_CUDA.
std::vector<Backend> CudaBackends(const Kernels& host_kernels, std::string* why);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BACKEND_PROVIDERS_H_
