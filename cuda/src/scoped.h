// Changes that are undone at the end of a scope.
#ifndef TAMIS_CUDA_SRC_SCOPED_H_
#define TAMIS_CUDA_SRC_SCOPED_H_

#include <cstdint>
#include <utility>

#include "cuda/src/runtime.h"
#include "tamis/cuda/memory_resource.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::cuda {

// Makes a device the current one.
class ScopedDevice {
 public:
  ScopedDevice(const Runtime& runtime, int device) noexcept : runtime_(runtime) {
    status_ = runtime.CurrentDevice(&before_);
    if (!status_.ok() || before_ == device) return;
    status_ = runtime.SetDevice(device);
    changed_ = status_.ok();
  }
  ScopedDevice(const ScopedDevice&) = delete;
  ScopedDevice& operator=(const ScopedDevice&) = delete;
  ~ScopedDevice() {
    if (changed_) (void)runtime_.SetDevice(before_);
  }

  Status status() const noexcept { return status_; }

 private:
  const Runtime& runtime_;
  Status status_;
  int before_ = 0;
  bool changed_ = false;
};

// Lets this thread allocate, wait and free while streams are captured into CUDA graphs. Otherwise,
// while any thread captures in the global mode, which is the default, such calls of all threads
// fail and invalidate the capture. The calls are safe here, because they are not part of a graph:
// they use streams of the library, and streams of callers that are not captured
// (RequireNotCaptured).
class OutsideCaptures {
 public:
  explicit OutsideCaptures(const Runtime& runtime) noexcept
      : runtime_(runtime), changed_(runtime.ExchangeCaptureMode(&mode_).ok()) {}
  OutsideCaptures(const OutsideCaptures&) = delete;
  OutsideCaptures& operator=(const OutsideCaptures&) = delete;
  ~OutsideCaptures() {
    if (changed_) (void)runtime_.ExchangeCaptureMode(&mode_);
  }

 private:
  const Runtime& runtime_;
  CaptureMode mode_ = CaptureMode::kRelaxed;
  const bool changed_;
};

// Throws Error(kInvalidArgument) if the stream is captured. Calls that wait make this check before
// they put work on the stream, because the work would be captured, and the wait would invalidate
// the capture.
inline void RequireNotCaptured(const Runtime& runtime, Stream stream) {
  bool capturing = false;
  runtime.IsCapturing(stream, &capturing).ThrowIfFailed("asking whether a stream is captured");
  if (!capturing) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the stream is being captured into a CUDA graph, which cannot contain a call that "
              "waits; allowed: calls whose names end in Async, and other streams");
}

inline Status AllocateFrom(const Runtime& runtime, MemoryResource* memory, uint64_t bytes,
                           Stream stream, void** out) noexcept {
  if (memory == nullptr) return runtime.Allocate(out, bytes, stream);
  *out = memory->Allocate(bytes, stream);
  return *out != nullptr ? kSuccess : kMemoryAllocation;
}

// Throws Error, with the purpose and size of the memory, if the allocation fails.
inline void* AllocateOrThrow(const Runtime& runtime, MemoryResource* memory, uint64_t bytes,
                             Stream stream, const char* what = "") {
  void* data = nullptr;
  const Status status = AllocateFrom(runtime, memory, bytes, stream, &data);
  // Makes the message only after a failure. If the host had no memory for it, `data` would be lost.
  if (!status.ok()) {
    status.ThrowIfFailed(tamis::detail::StrCat("allocating ", what, bytes, " bytes").c_str());
  }
  return data;
}

inline void FreeTo(const Runtime& runtime, MemoryResource* memory, void* data, uint64_t bytes,
                   Stream stream) noexcept {
  if (data == nullptr) return;
  if (memory != nullptr) {
    memory->Free(data, bytes, stream);
  } else {
    (void)runtime.Free(data, stream);
  }
}

// Device memory for the work of one stream.
class ScopedMemory {
 public:
  ScopedMemory(const Runtime& runtime, MemoryResource* memory, uint64_t bytes, Stream stream)
      : runtime_(runtime),
        memory_(memory),
        bytes_(bytes),
        stream_(stream),
        data_(AllocateOrThrow(runtime, memory, bytes, stream)) {}
  ScopedMemory(const ScopedMemory&) = delete;
  ScopedMemory& operator=(const ScopedMemory&) = delete;
  ~ScopedMemory() { FreeTo(runtime_, memory_, data_, bytes_, stream_); }

  template <typename T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  const Runtime& runtime_;
  MemoryResource* memory_;
  uint64_t bytes_;
  Stream stream_;
  void* data_;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_SCOPED_H_
