#include "cuda/src/accelerator.h"

#include <algorithm>
#include <utility>

#include "cuda/src/geometry.h"
#include "tamis/error.h"

namespace tamis::cuda {

CudaAccelerator::CudaAccelerator(const Backend& backend, const DeviceOptions& device,
                                 const PipelineOptions& pipeline)
    : backend_(backend),
      device_(device),
      pipeline_options_(pipeline),
      runtime_(device.runtime != nullptr ? *device.runtime : CudaRuntime()) {
  if (device_.device < 0) device_.device = 0;
}

CudaAccelerator::~CudaAccelerator() = default;

bool CudaAccelerator::Takes(const Filter& filter) const noexcept {
  return HasKernels(filter.kind());
}

bool CudaAccelerator::HasMirror(const Filter& filter) const noexcept {
  const std::lock_guard lock(mutex_);
  return Find(FilterAccess::VersionOf(filter)) != mirrors_.end();
}

bool CudaAccelerator::Holds(const Keys& keys) const noexcept {
  Place place = Place::kPageable;
  return !keys.empty() && runtime_.Locate(keys.data<void>(), &place).ok() &&
         place == Place::kDevice;
}

std::list<CudaAccelerator::Mirror>::const_iterator CudaAccelerator::Find(
    const FilterAccess::Version& version) const noexcept {
  return std::find_if(mirrors_.begin(), mirrors_.end(),
                      [&](const Mirror& mirror) { return mirror.version == version; });
}

// The most recently used mirror is the first.
const DeviceFilter& CudaAccelerator::MirrorOf(const Filter& filter) {
  const FilterAccess::Version version = FilterAccess::VersionOf(filter);
  const auto found = Find(version);
  if (found != mirrors_.end()) {
    mirrors_.splice(mirrors_.begin(), mirrors_, found);
    return mirrors_.front().filter;
  }
  // One that shows the filter as it was is of no use any more.
  mirrors_.remove_if(
      [&](const Mirror& mirror) { return mirror.version.identity == version.identity; });
  while (true) {
    try {
      mirrors_.push_front({version, DeviceFilter(filter, device_)});
      return mirrors_.front().filter;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory || mirrors_.empty()) throw;
      mirrors_.pop_back();
    }
  }
}

void CudaAccelerator::ForEachBits(const Filter& filter, const Keys& keys, const Deliver& deliver) {
  const std::lock_guard lock(mutex_);
  if (!pipeline_) pipeline_.emplace(device_, pipeline_options_);
  pipeline_->ForEachBits(MirrorOf(filter), keys, deliver);
}

}  // namespace tamis::cuda
