#include "tamis/cuda/status.h"

#include <string>

#include "cuda/src/runtime.h"
#include "tamis/error.h"

namespace tamis::cuda {

const char* Status::message() const noexcept { return CudaErrorText(code); }

namespace {

// cudaErrorStreamCaptureUnsupported to cudaErrorStreamCaptureWrongThread: nothing that a device
// would not get over.
constexpr int kFirstOfCapture = 900;
constexpr int kLastOfCapture = 908;

}  // namespace

void Status::ThrowIfFailed(const char* what) const {
  if (ok()) return;
  if (code >= kFirstOfCapture && code <= kLastOfCapture) {
    throw Error(ErrorCode::kUnsupported, std::string("CUDA: ") + what +
                                             ": not while a stream is captured into a graph: " +
                                             message() + " (error " + std::to_string(code) + ")");
  }
  const ErrorCode error = *this == kMemoryAllocation ? ErrorCode::kOutOfMemory
                          : *this == kInvalidValue   ? ErrorCode::kInvalidArgument
                                                     : ErrorCode::kDevice;
  throw Error(error, std::string("CUDA: ") + what + ": " + message() + " (error " +
                         std::to_string(code) + ")");
}

}  // namespace tamis::cuda
