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

struct PipelineOptions {
  uint64_t chunk_keys = uint64_t{2} << 20;  // a multiple of 64, in [64, 2^30]
  int chunks = 4;                           // under way at a time, in [3, 64]
  // Threads that copy pageable memory and strings into pinned memory, in [1, kMaxThreads]; 0: one
  // per processor, at most 16.
  unsigned threads = 0;
};

// A ring of chunks in pinned memory, each with its place on the device: while one is copied there,
// keys of another are looked up and the bits of a third come back. Keys in pinned memory (of
// cudaHostAlloc or cudaHostRegister) are copied from where they are, others are staged by several
// threads; strings are hashed on the way. Integers and hashes may be in device memory, too. Their
// validity bitmap is where the keys are: in memory of the host, or of the device. Takes 8 bytes and
// a bit for each of chunk_keys * chunks keys of pinned memory, and as many of the device's,
// allocated once: 65 MiB of each, unless the options say otherwise.
//
// For one call at a time: another one, of another thread or of a callback, is an
// Error(kInvalidArgument) while it goes on. One that was moved from can be destroyed and assigned
// to, and nothing else. Functions throw Error, as those of DeviceFilter that wait; when they
// return or throw, nothing that they were given is in use any more. They use streams of their own:
// what is under way on another one, such as an InsertAsync of this filter or the kernel that makes
// the keys, has to be over when they are called, or its stream named as `after`.
class HostPipeline {
 public:
  // Receives the bits of keys [begin, begin + n), in order, which are there until it returns: n is
  // a multiple of 64 but for the last call, and bits past n are 0. What it throws ends the call.
  using Deliver = std::function<void(const uint64_t* bits, size_t n, uint64_t begin)>;
  // Told how many keys are done, after each chunk. What it throws ends the call.
  using Progress = std::function<void(uint64_t keys)>;
  // A stream of the pipeline's device, or nullptr for its default stream: the call begins on the
  // device when what is on that stream is done. None: at once.
  using After = std::optional<StreamRef>;

  // For the filters of one device. Throws Error(kInvalidArgument) for options out of range.
  explicit HostPipeline(const DeviceOptions& device = {}, const PipelineOptions& options = {});
  HostPipeline(HostPipeline&&) noexcept;
  HostPipeline& operator=(HostPipeline&&) noexcept;
  ~HostPipeline();

  // As the function of Filter of this name: `out` is in memory of the host.
  // `progress` is called while the calling thread may use all of CUDA beside captures
  // (cudaStreamCaptureModeRelaxed).
  size_t Contains(const DeviceFilter& filter, Keys keys, Bitmap out, const Progress& progress = {},
                  After after = {});
  // The bits of all keys, for outputs of other forms.
  void ForEachBits(const DeviceFilter& filter, Keys keys, const Deliver& deliver, After after = {});
  // Split-block filters only, or Error(kUnsupported). Returns how many were inserted: all but
  // nulls.
  size_t Insert(DeviceFilter& filter, Keys keys, const Progress& progress = {}, After after = {});
  // As DeviceFilter::Upload, and throws as that; by way of the pinned memory, which several threads
  // fill, in pieces of 8 * chunk_keys bytes. A driver copies pageable memory by one thread.
  void Upload(DeviceFilter& filter, const Filter& host, After after = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_HOST_PIPELINE_H_
