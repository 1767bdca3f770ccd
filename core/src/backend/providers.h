// Where backends come from: functions that are declared here and defined in simd/, a promise to the
// linker. There is no self-registration, which an archive would drop.
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

// Those of Backends() that are no GPU, best first: what asks no driver. Thread-safe.
std::span<const Backend> HostBackends();

struct ProvidedBackend {
  std::string_view name;
  std::string_view description;
  Kernels kernels;
};

// Those Highway backends that run on this machine, best first. Defined where TAMIS_HAVE_SIMD is 1.
std::vector<ProvidedBackend> SimdBackends();

// The GPU, if one works, with these kernels for what it does not do; else nothing, and why. Defined
// where TAMIS_HAVE_CUDA is 1.
std::vector<Backend> CudaBackends(const Kernels& host_kernels, std::string* why);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BACKEND_PROVIDERS_H_
