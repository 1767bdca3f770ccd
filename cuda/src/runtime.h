// The seam to the CUDA runtime: every call that the library makes. Tests replace it by a runtime
// that needs no GPU and fails on demand.
#ifndef TAMIS_CUDA_SRC_RUNTIME_H_
#define TAMIS_CUDA_SRC_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda/src/kernel_calls.h"
#include "tamis/cuda/status.h"

struct CUevent_st;

namespace tamis::cuda {

using Stream = cudaStream_t;
using Event = CUevent_st*;

struct DeviceProperties {
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  int processors = 0;
  uint64_t memory_bytes = 0;
  uint64_t l2_bytes = 0;
};

// The kind of memory that a pointer points to.
enum class Place : uint8_t { kPageable, kPinned, kDevice };
struct Location {
  Place place = Place::kPageable;
  int device = -1;  // the device whose memory it is; -1: none, or managed memory
};

// Mirrors cudaStreamCaptureMode. A mode determines when calls that cannot be captured, such as
// allocations, fail: while any thread captures a stream, while this thread captures a stream, or
// never.
enum class CaptureMode : uint8_t { kGlobal, kThreadLocal, kRelaxed };

// Thread-safe, like the CUDA runtime. A failed call does not change its outputs.
class Runtime {
 public:
  virtual ~Runtime() = default;

  // Returns 0 and sets `why` to the reason if there is no driver, or one that is too old.
  virtual int DeviceCount(std::string* why) const = 0;
  virtual Status Properties(int device, DeviceProperties* properties) const = 0;
  virtual Status CurrentDevice(int* device) const noexcept = 0;
  virtual Status SetDevice(int device) const noexcept = 0;
  virtual Status FreeMemory(uint64_t* bytes) const noexcept = 0;

  virtual Status Allocate(void** memory, uint64_t bytes, Stream stream) const noexcept = 0;
  virtual Status Free(void* memory, Stream stream) const noexcept = 0;
  // Frees memory that no work uses any more, without a stream.
  virtual Status FreeIdle(void* memory) const noexcept = 0;
  virtual Status AllocatePinned(void** memory, uint64_t bytes) const noexcept = 0;
  virtual Status FreePinned(void* memory) const noexcept = 0;
  virtual Status Locate(const void* memory, Location* location) const noexcept = 0;
  // Whether kernels of a device can use kPageable memory.
  virtual Status UsesPageable(int device, bool* uses) const noexcept = 0;

  virtual Status Copy(void* to, const void* from, uint64_t bytes, Stream stream) const noexcept = 0;
  virtual Status Zero(void* memory, uint64_t bytes, Stream stream) const noexcept = 0;
  virtual Status Launch(const KernelCall& call, Stream stream) const noexcept = 0;
  // Sets `bytes` to the local memory that the kernel of a call needs on the current device, for all
  // threads that run at a time. This number does not depend on the size of the call. Fails if the
  // device cannot run the kernel, so this call also checks that. Creates the context of the device.
  virtual Status LocalBytes(const KernelCall& call, uint64_t* bytes) const noexcept = 0;
  // Makes the device reserve that memory, for this and all later kernels, by running the kernel
  // without work: `call` must have no keys.
  virtual Status Reserve(const KernelCall& call, Stream stream) const noexcept = 0;

  virtual Status CreateStream(Stream* stream) const noexcept = 0;
  virtual Status DestroyStream(Stream stream) const noexcept = 0;
  virtual Status Wait(Stream stream) const noexcept = 0;  // returns when the work is done
  // Whether the stream is being captured into a graph, which may run any number of times. Fails for
  // the default stream while a stream that the default stream waits for is captured.
  virtual Status IsCapturing(Stream stream, bool* capturing) const noexcept = 0;
  // Exchanges the capture mode of the calling thread and `*mode`.
  virtual Status ExchangeCaptureMode(CaptureMode* mode) const noexcept = 0;
  virtual Status CreateEvent(Event* event) const noexcept = 0;
  virtual Status DestroyEvent(Event event) const noexcept = 0;
  virtual Status Record(Event event, Stream stream) const noexcept = 0;
  virtual Status StreamWait(Stream stream, Event event) const noexcept = 0;
  virtual Status Wait(Event event) const noexcept = 0;
};

// The runtime of the CUDA toolkit, and its text for a cudaError_t.
const Runtime& CudaRuntime();
const char* CudaErrorText(int code) noexcept;

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_RUNTIME_H_
