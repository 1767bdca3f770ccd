// The outcome of calls that neither throw nor wait.
#ifndef TAMIS_CUDA_STATUS_H_
#define TAMIS_CUDA_STATUS_H_

#include "tamis/cpp20.h"

// As in the CUDA headers, which are not needed here.
struct CUstream_st;
using cudaStream_t = CUstream_st*;

namespace tamis::cuda {

// A value of cudaError_t: 0 is success. Work that fails later is reported when its stream is
// waited for.
struct [[nodiscard]] Status {
  int code = 0;

  constexpr bool ok() const noexcept { return code == 0; }
  // English, of static lifetime.
  const char* message() const noexcept;
  // Throws Error unless ok(): kOutOfMemory, kInvalidArgument, kUnsupported for what cannot be done
  // while a stream is captured into a graph, or kDevice for all else. `what` is what was tried, for
  // the message.
  void ThrowIfFailed(const char* what) const;

  friend constexpr bool operator==(Status, Status) = default;
};

inline constexpr Status kSuccess{0};
inline constexpr Status kInvalidValue{1};         // cudaErrorInvalidValue
inline constexpr Status kMemoryAllocation{2};     // cudaErrorMemoryAllocation
inline constexpr Status kInsufficientDriver{35};  // cudaErrorInsufficientDriver
inline constexpr Status kNoDevice{100};           // cudaErrorNoDevice

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_STATUS_H_
