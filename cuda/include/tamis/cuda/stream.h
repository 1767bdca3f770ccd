// Streams, as the types of other libraries have them.
#ifndef TAMIS_CUDA_STREAM_H_
#define TAMIS_CUDA_STREAM_H_

#include <concepts>

#include "tamis/cuda/status.h"

namespace tamis::cuda {

// A cudaStream_t, given as it is or in a type that gives it: by conversion, as those of rmm
// (cuda_stream_view) and of torch (c10::cuda::CUDAStream), or by get(), as cuda::stream_ref.
// nullptr is the default stream. The stream is its owner's: it has to be there until the work on it
// is done.
class StreamRef {
 public:
  constexpr StreamRef() noexcept = default;
  constexpr StreamRef(cudaStream_t stream) noexcept : stream_(stream) {}
  template <typename T>
  requires std::convertible_to<const T&, cudaStream_t>
  constexpr StreamRef(const T& stream) : stream_(stream) {}
  template <typename T>
  requires(!std::convertible_to<const T&, cudaStream_t>) && requires(const T& stream) {
    { stream.get() } -> std::convertible_to<cudaStream_t>;
  }
  constexpr StreamRef(const T& stream) : stream_(stream.get()) {}

  constexpr operator cudaStream_t() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_STREAM_H_
