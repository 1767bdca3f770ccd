// Keys in host memory, streamed through a GPU.
#ifndef TAMIS_CUDA_HOST_PIPELINE_H_
#define TAMIS_CUDA_HOST_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/stream.h"
#include "tamis/keys.h"

namespace tamis::cuda {

// Options of a HostPipeline.
struct PipelineOptions {
  uint64_t chunk_keys = uint64_t{2} << 20;  // keys of a chunk: a multiple of 64, in [64, 2^30]
  int chunks = 4;                           // chunks in flight at a time, in [3, 64]
  // Threads that copy pageable memory and hashes of strings into pinned memory, in [0,
  // kMaxThreads]. 0: one per processor, at most 16.
  unsigned threads = 0;
};

// A ring of chunks in pinned memory, each with a place on the device. While one chunk is copied to
// the device, the keys of another are looked up, and the bits of a third are copied back. Keys in
// pinned memory (of cudaHostAlloc or cudaHostRegister) are copied directly. Other keys are first
// copied to pinned memory by several threads, which also hash strings. Integers and hashes may also
// be in device memory. A validity bitmap is in the same memory as its keys, host or device. For
// each of chunk_keys * chunks keys, the pipeline allocates 8 bytes and a bit in pinned memory, and
// the same in device memory. By default, this is 65 MiB of each.
//
// Runs one call at a time: a call during another call, from another thread or from a callback,
// throws Error(kInvalidArgument). A moved-from pipeline can only be destroyed or assigned to.
// Functions throw Error like the calls of DeviceFilter that wait. When they return or throw, they
// no longer use their arguments. They use the pipeline's own streams. So earlier work on another
// stream, such as an InsertAsync of this filter or the kernel that makes the keys, must have
// finished. If such work may still run, pass its stream as `after`.
class HostPipeline {
 public:
  // Receives the bits of keys [begin, begin + n), in order. The bits are valid until the function
  // returns. n is a multiple of 64 except in the last call, and bits past n are 0. An exception
  // ends the call.
  using Deliver = std::function<void(const uint64_t* bits, size_t n, uint64_t begin)>;
  // Receives the number of keys that are done, after each chunk. An exception ends the call.
  using Progress = std::function<void(uint64_t keys)>;
  // A stream of the pipeline's device, or nullptr for its default stream. The call starts on the
  // device when all work now on that stream has finished. Without a value, the call starts at once.
  using After = std::optional<StreamRef>;

  // Makes a pipeline for the filters of one device. Throws Error(kInvalidArgument) for options out
  // of range.
  explicit HostPipeline(const DeviceOptions& device = {}, const PipelineOptions& options = {});
  HostPipeline(HostPipeline&&) noexcept;
  HostPipeline& operator=(HostPipeline&&) noexcept;
  ~HostPipeline();

  // Like Filter::Contains. `out` is in host memory. `progress` may call any function of CUDA even
  // while streams are captured, because the calling thread then has the mode
  // cudaStreamCaptureModeRelaxed.
  size_t Contains(const DeviceFilter& filter, Keys keys, Bitmap out, const Progress& progress = {},
                  After after = {});
  // Passes the bits of all keys to `deliver`, for other outputs.
  void ForEachBits(const DeviceFilter& filter, Keys keys, const Deliver& deliver, After after = {});
  // Inserts all keys except nulls into a split-block filter, and returns the number of inserted
  // keys. Throws Error(kUnsupported) for cuckoo filters, and Error(kReadOnly) for fuse filters.
  size_t Insert(DeviceFilter& filter, Keys keys, const Progress& progress = {}, After after = {});
  // Does the same as DeviceFilter::Upload, and throws the same errors. Several threads copy through
  // the pinned memory, in pieces of 8 * chunk_keys bytes. A driver copies pageable memory with one
  // thread.
  void Upload(DeviceFilter& filter, const Filter& host, After after = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_HOST_PIPELINE_H_
