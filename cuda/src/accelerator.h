// The GPU of an Engine: keeps copies of filters, and streams keys to them.
#ifndef TAMIS_CUDA_SRC_ACCELERATOR_H_
#define TAMIS_CUDA_SRC_ACCELERATOR_H_

#include <atomic>
#include <list>
#include <mutex>
#include <optional>

#include "core/src/engine/accelerator.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/base/filter_observers.h"
#include "cuda/src/runtime.h"
#include "tamis/cuda/device_filter.h"
#include "tamis/cuda/host_pipeline.h"

namespace tamis::cuda {

class CudaAccelerator final : public tamis::detail::Accelerator,
                              private tamis::detail::FilterObserver {
 public:
  // `backend` must outlive the accelerator. A device number below 0 means device 0.
  explicit CudaAccelerator(const Backend& backend, const DeviceOptions& device = {},
                           const PipelineOptions& pipeline = {});
  ~CudaAccelerator() override;

  const Backend& backend() const noexcept override { return backend_; }
  bool Takes(const Filter& filter) const noexcept override;
  bool HasMirror(const Filter& filter) const noexcept override;
  bool Holds(const Keys& keys) const override;
  void ForEachBits(const Filter& filter, const Keys& keys, const Deliver& deliver) override;
  void LimitMirrors(uint64_t bytes) noexcept override { limit_ = bytes; }
  uint64_t MirrorBytes() const noexcept override;
  void DropMirrors() noexcept override;

 private:
  struct Mirror {
    tamis::detail::FilterAccess::Version version;
    DeviceFilter filter;
  };

  void Gone(uint64_t identity) noexcept override;

  std::list<Mirror>::const_iterator Find(
      const tamis::detail::FilterAccess::Version& version) const noexcept;
  void FreeRetired() noexcept;
  // Moves all mirrors of a filter to the end of `to`. The list must be locked.
  void TakeOf(uint64_t identity, std::list<Mirror>& to) noexcept;
  // Returns the mirror of the filter. Makes the mirror if it does not exist.
  const DeviceFilter& MirrorOf(const Filter& filter);
  // Copies a filter to the device. If there is too little memory, drops the least recently used
  // mirrors.
  DeviceFilter Copy(const Filter& filter);
  // Returns the limit in bytes: limit_, or half of the device's memory if that is 0. Unlimited if
  // the device does not report its memory.
  uint64_t Limit() const noexcept;
  // Returns whether the filter would fit if no other filter were in the device's memory.
  bool MayFit(const Filter& filter) const;

  const Backend& backend_;
  DeviceOptions device_;
  const PipelineOptions pipeline_options_;
  const Runtime& runtime_;
  std::mutex turn_;  // held by a lookup; protects pipeline_ and stream_
  std::optional<HostPipeline> pipeline_;
  // The stream for copies. This is not the default stream, which cannot be used while a stream that
  // the default stream waits for is captured.
  Stream stream_ = nullptr;
  mutable std::mutex list_mutex_;  // held briefly; protects the two lists
  std::list<Mirror> mirrors_;
  std::list<Mirror> retired_;  // mirrors of destroyed filters, to be freed after a capture
  std::atomic<uint64_t> limit_ = 0;
  mutable std::atomic<uint64_t> half_of_memory_ = 0;  // 0: not known yet
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_ACCELERATOR_H_
