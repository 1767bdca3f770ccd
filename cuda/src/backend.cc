// What core asks of this folder: the GPU as a backend.
#include <memory>
#include <string>
#include <vector>

#include "core/src/backend/providers.h"
#include "cuda/src/accelerator.h"
#include "cuda/src/runtime.h"

namespace tamis::detail {
namespace {

constexpr const char* kName = "CUDA";

std::shared_ptr<Accelerator> MakeCudaAccelerator() {
  return std::make_shared<cuda::CudaAccelerator>(FindBackend(kName));
}

std::string Gibibytes(uint64_t bytes) { return std::to_string(bytes >> 30) + " GiB"; }

}  // namespace

std::vector<Backend> CudaBackends(const Kernels& host_kernels, std::string* why) {
  const cuda::Runtime& runtime = cuda::CudaRuntime();
  if (runtime.DeviceCount(why) == 0) return {};
  cuda::DeviceProperties device;
  const cuda::Status status = runtime.Properties(0, &device);
  if (!status.ok()) {
    *why = std::string("device 0 does not answer: ") + status.message();
    return {};
  }
  static const std::string description =
      device.name + ", " + Gibibytes(device.memory_bytes) + "; lookups of large batches";
  return {{kName, description, &host_kernels, MakeCudaAccelerator}};
}

}  // namespace tamis::detail
