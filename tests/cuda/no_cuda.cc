// For builds without nvcc, which have no CUDA runtime: the functions that the host code of the
// backend needs.
#include <string>

#include "cuda/src/runtime.h"
#include "tests/cuda/fake_runtime.h"

namespace tamis::cuda {

const Runtime& CudaRuntime() {
  static FakeRuntime* const none = [] {
    auto* runtime = new FakeRuntime;
    runtime->RemoveDevices("this build has no CUDA");
    return runtime;
  }();
  return *none;
}

const char* CudaErrorText(int code) noexcept { return code == 0 ? "no error" : "an error"; }

}  // namespace tamis::cuda
