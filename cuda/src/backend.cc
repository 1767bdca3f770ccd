// Defines the function by which core finds the GPU backend.
#include <memory>
#include <string>
#include <vector>

#include "core/src/backend/providers.h"
#include "cuda/src/accelerator.h"
#include "cuda/src/device_check.h"
#include "cuda/src/runtime.h"
#include "tamis/backends.h"

namespace tamis::detail {
namespace {

constexpr const char* kName = "CUDA";

std::shared_ptr<Accelerator> MakeCudaAccelerator() {
  return std::make_shared<cuda::CudaAccelerator>(FindBackend(kName));
}

}  // namespace

std::vector<Backend> CudaBackends(const Kernels& host_kernels, std::string* why) {
  const auto device = cuda::DescribeFirstDevice(cuda::CudaRuntime(), why);
  if (!device) return {};
  static const std::string description = *device + "; lookups of large batches";
  return {{kName, description, &host_kernels, MakeCudaAccelerator}};
}

}  // namespace tamis::detail
