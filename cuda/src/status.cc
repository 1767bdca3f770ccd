#include "tamis/cuda/status.h"

#include <string>

#include "cuda/src/runtime.h"
#include "tamis/error.h"

namespace tamis::cuda {

const char* Status::message() const noexcept { return CudaErrorText(code); }

void Status::ThrowIfFailed(const char* what) const {
  if (ok()) return;
  const ErrorCode error = *this == kMemoryAllocation ? ErrorCode::kOutOfMemory
                          : *this == kInvalidValue   ? ErrorCode::kInvalidArgument
                                                     : ErrorCode::kDevice;
  throw Error(error, std::string("CUDA: ") + what + ": " + message() + " (error " +
                         std::to_string(code) + ")");
}

}  // namespace tamis::cuda
