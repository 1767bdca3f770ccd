#include "tamis/cuda/status.h"

#include "cuda/src/runtime.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::cuda {

const char* Status::message() const noexcept { return CudaErrorText(code); }

namespace {

// cudaErrorStreamCaptureUnsupported to cudaErrorStreamCaptureWrongThread. The device stays usable
// after these errors.
constexpr int kFirstOfCapture = 900;
constexpr int kLastOfCapture = 908;

}  // namespace

void Status::ThrowIfFailed(const char* what) const {
  if (ok()) return;
  if (code >= kFirstOfCapture && code <= kLastOfCapture) {
    throw Error(ErrorCode::kUnsupported,
                tamis::detail::StrCat("CUDA: ", what,
                                      ": not while a stream is captured into a graph: ", message(),
                                      " (error ", code, ")"));
  }
  const ErrorCode error = *this == kMemoryAllocation ? ErrorCode::kOutOfMemory
                          : *this == kInvalidValue   ? ErrorCode::kInvalidArgument
                                                     : ErrorCode::kDevice;
  throw Error(error, tamis::detail::StrCat("CUDA: ", what, ": ", message(), " (error ", code, ")"));
}

}  // namespace tamis::cuda
