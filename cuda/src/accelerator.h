// A GPU as an Engine sees it: copies of filters that are kept, and keys that are streamed to them.
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
  // The backend must outlive it. A device below 0 is device 0.
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
  // Moves all mirrors of a filter to the end of `to`. The list is locked.
  void TakeOf(uint64_t identity, std::list<Mirror>& to) noexcept;
  // Makes a mirror unless there is one.
  const DeviceFilter& MirrorOf(const Filter& filter);
  // Those mirrors that were not used for the longest time give way.
  DeviceFilter Copy(const Filter& filter);
  // What limit_ says, in bytes; no limit if the device does not say what 0 means.
  uint64_t Limit() const noexcept;
  // Whether the device has so much memory at all.
  bool MayFit(const Filter& filter) const;

  const Backend& backend_;
  DeviceOptions device_;
  const PipelineOptions pipeline_options_;
  const Runtime& runtime_;
  std::mutex turn_;  // held by the call that looks keys up, which alone changes what follows
  std::optional<HostPipeline> pipeline_;
  // That copies are made on: not the default one, which cannot be used while a stream that it waits
  // for is captured.
  Stream stream_ = nullptr;
  mutable std::mutex list_mutex_;  // for moments: others ask meanwhile what is there
  std::list<Mirror> mirrors_;
  std::list<Mirror> retired_;  // of filters that went when their memory could not be freed
  std::atomic<uint64_t> limit_ = 0;
  mutable std::atomic<uint64_t> half_of_memory_ = 0;  // 0: not asked for yet
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_SRC_ACCELERATOR_H_
