// The outcome of calls that neither throw nor wait.
#ifndef TAMIS_CUDA_STATUS_H_
#define TAMIS_CUDA_STATUS_H_

#include "tamis/cpp20.h"

// Declares cudaStream_t as the CUDA headers do, so that users need not include those headers.
struct CUstream_st;
using cudaStream_t = CUstream_st*;

namespace tamis::cuda {

// A value of cudaError_t: 0 is success. Failures of work that runs later are reported by the call
// that waits for its stream.
struct [[nodiscard]] Status {
  int code = 0;  // a cudaError_t; 0: success

  // Returns true for success.
  constexpr bool ok() const noexcept { return code == 0; }
  // Returns an English text with static lifetime.
  const char* message() const noexcept;
  // If ok() is false, throws Error. Its code is kOutOfMemory, kInvalidArgument, kUnsupported for
  // calls that are not possible while a stream is captured into a graph, or kDevice for all other
  // failures. `what` is the failed action, for the message.
  void ThrowIfFailed(const char* what) const;

  friend constexpr bool operator==(Status, Status) = default;
};

inline constexpr Status kSuccess{0};              // the status of a call that succeeded
inline constexpr Status kInvalidValue{1};         // cudaErrorInvalidValue
inline constexpr Status kMemoryAllocation{2};     // cudaErrorMemoryAllocation
inline constexpr Status kInsufficientDriver{35};  // cudaErrorInsufficientDriver
inline constexpr Status kNoDevice{100};           // cudaErrorNoDevice

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_STATUS_H_
