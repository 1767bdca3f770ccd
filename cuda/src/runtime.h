// The seam under the CUDA runtime: every call that the library makes, so that tests put a runtime
// of their own in its place, which needs no GPU and fails when it is told to.
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

// Where a pointer leads.
enum class Place : uint8_t { kPageable, kPinned, kDevice };
struct Location {
  Place place = Place::kPageable;
  int device = -1;  // of kDevice, if it is the memory of one; else -1
};

// As cudaStreamCaptureMode. Calls that might be meant for a graph and cannot be captured, such as
// allocations, are refused while streams are captured: by any thread, by this one, or not at all.
enum class CaptureMode : uint8_t { kGlobal, kThreadLocal, kRelaxed };

// Thread-safe, as the CUDA runtime is. A failed call leaves its outputs alone.
class Runtime {
 public:
  virtual ~Runtime() = default;

  // 0 where there is no driver, or one that is too old; then `why` says so.
  virtual int DeviceCount(std::string* why) const = 0;
  virtual Status Properties(int device, DeviceProperties* properties) const = 0;
  virtual Status CurrentDevice(int* device) const noexcept = 0;
  virtual Status SetDevice(int device) const noexcept = 0;
  virtual Status FreeMemory(uint64_t* bytes) const noexcept = 0;

  virtual Status Allocate(void** memory, uint64_t bytes, Stream stream) const noexcept = 0;
  virtual Status Free(void* memory, Stream stream) const noexcept = 0;
  // The same for memory that no work uses any more: on no stream.
  virtual Status FreeIdle(void* memory) const noexcept = 0;
  virtual Status AllocatePinned(void** memory, uint64_t bytes) const noexcept = 0;
  virtual Status FreePinned(void* memory) const noexcept = 0;
  virtual Status Locate(const void* memory, Location* location) const noexcept = 0;
  // Whether kernels of a device can use kPageable memory.
  virtual Status UsesPageable(int device, bool* uses) const noexcept = 0;

  virtual Status Copy(void* to, const void* from, uint64_t bytes, Stream stream) const noexcept = 0;
  virtual Status Zero(void* memory, uint64_t bytes, Stream stream) const noexcept = 0;
  virtual Status Launch(const KernelCall& call, Stream stream) const noexcept = 0;
  // The bytes of local memory that the kernel of a call takes on the current device: for all
  // threads that it can run at a time, whatever the call asks for. Fails if the device cannot run
  // that kernel, for which alone it may be asked. Makes the context of the device.
  virtual Status LocalBytes(const KernelCall& call, uint64_t* bytes) const noexcept = 0;
  // Has the device set that memory aside, for this and all later kernels, by running the kernel
  // over nothing: `call` has no keys.
  virtual Status Reserve(const KernelCall& call, Stream stream) const noexcept = 0;

  virtual Status CreateStream(Stream* stream) const noexcept = 0;
  virtual Status DestroyStream(Stream stream) const noexcept = 0;
  virtual Status Wait(Stream stream) const noexcept = 0;  // until all of it is done
  // Whether what is put on the stream goes into a graph, which may run it any number of times.
  // Fails for the default stream if that cannot be used because another one is captured.
  virtual Status IsCapturing(Stream stream, bool* capturing) const noexcept = 0;
  // Sets that of the calling thread to `*mode`, and `*mode` to what it was.
  virtual Status ExchangeCaptureMode(CaptureMode* mode) const noexcept = 0;
  virtual Status CreateEvent(Event* event) const noexcept = 0;
  virtual Status DestroyEvent(Event event) const noexcept = 0;
  virtual Status Record(Event event, Stream stream) const noexcept = 0;
  virtual Status StreamWait(Stream stream, Event event) const noexcept = 0;
  virtual Status Wait(Event event) const noexcept = 0;
};

// The one of the CUDA toolkit, and its words for a cudaError_t.
const Runtime& CudaRuntime();
const char* CudaErrorText(int code) noexcept;

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_RUNTIME_H_
