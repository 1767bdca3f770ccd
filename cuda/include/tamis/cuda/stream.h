// A stream parameter that also takes the stream types of other libraries.
#ifndef TAMIS_CUDA_STREAM_H_
#define TAMIS_CUDA_STREAM_H_

#include <concepts>

#include "tamis/cuda/status.h"

namespace tamis::cuda {

// A cudaStream_t, or an object of a type that converts to it, such as rmm::cuda_stream_view and
// c10::cuda::CUDAStream, or that has get(), such as cuda::stream_ref. nullptr is the default
// stream. A StreamRef does not own the stream, which must exist until the work on it has finished.
class StreamRef {
 public:
  // The default stream.
  constexpr StreamRef() noexcept = default;
  // Converts a stream of the CUDA runtime, or an object that refers to one.
  constexpr StreamRef(cudaStream_t stream) noexcept : stream_(stream) {}
  template <typename T>
  requires std::convertible_to<const T&, cudaStream_t>
  constexpr StreamRef(const T& stream) : stream_(stream) {}
  template <typename T>
  requires(!std::convertible_to<const T&, cudaStream_t>) && requires(const T& stream) {
    { stream.get() } -> std::convertible_to<cudaStream_t>;
  }
  constexpr StreamRef(const T& stream) : stream_(stream.get()) {}

  // Returns the stream.
  constexpr operator cudaStream_t() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_STREAM_H_
