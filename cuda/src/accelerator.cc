#include "cuda/src/accelerator.h"

#include <algorithm>
#include <iterator>
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
  device_.insertions = false;
}

CudaAccelerator::~CudaAccelerator() = default;

bool CudaAccelerator::Takes(const Filter& filter) const noexcept {
  return HasKernels(filter.kind());
}

bool CudaAccelerator::HasMirror(const Filter& filter) const noexcept {
  const std::lock_guard lock(list_mutex_);
  return Find(tamis::detail::FilterAccess::VersionOf(filter)) != mirrors_.end();
}

bool CudaAccelerator::Holds(const Keys& keys) const noexcept {
  Location at;
  return !keys.empty() && runtime_.Locate(keys.data<void>(), &at).ok() &&
         at.place == Place::kDevice;
}

std::list<CudaAccelerator::Mirror>::const_iterator CudaAccelerator::Find(
    const tamis::detail::FilterAccess::Version& version) const noexcept {
  return std::find_if(mirrors_.begin(), mirrors_.end(),
                      [&](const Mirror& mirror) { return mirror.version == version; });
}

// The most recently used mirror is the first. Filters are copied, and their copies freed, while the
// list is not locked.
const DeviceFilter& CudaAccelerator::MirrorOf(const Filter& filter) {
  const tamis::detail::FilterAccess::Version version =
      tamis::detail::FilterAccess::VersionOf(filter);
  std::list<Mirror> outdated;
  {
    const std::lock_guard lock(list_mutex_);
    if (const auto found = Find(version); found != mirrors_.end()) {
      mirrors_.splice(mirrors_.begin(), mirrors_, found);
      return mirrors_.front().filter;
    }
    // One that shows the filter as it was is of no use any more.
    for (auto mirror = mirrors_.begin(); mirror != mirrors_.end();) {
      const auto next = std::next(mirror);
      if (mirror->version.identity == version.identity) {
        outdated.splice(outdated.end(), mirrors_, mirror);
      }
      mirror = next;
    }
  }
  outdated.clear();
  while (true) {
    try {
      std::list<Mirror> made;
      made.push_front({version, DeviceFilter(filter, device_)});
      const std::lock_guard lock(list_mutex_);
      mirrors_.splice(mirrors_.begin(), made);
      return mirrors_.front().filter;
    } catch (const Error& error) {
      // One that could never fit drives no others out.
      if (error.code() != ErrorCode::kOutOfMemory || !MayFit(filter)) throw;
      const std::lock_guard lock(list_mutex_);
      if (mirrors_.empty()) throw;
      outdated.splice(outdated.end(), mirrors_, std::prev(mirrors_.end()));
    }
    outdated.clear();
  }
}

bool CudaAccelerator::MayFit(const Filter& filter) const {
  DeviceProperties properties;
  const Status status = runtime_.Properties(device_.device, &properties);
  return !status.ok() || filter.bytes() <= properties.memory_bytes;
}

void CudaAccelerator::ForEachBits(const Filter& filter, const Keys& keys, const Deliver& deliver) {
  const std::lock_guard lock(turn_);
  if (!pipeline_) pipeline_.emplace(device_, pipeline_options_);
  pipeline_->ForEachBits(MirrorOf(filter), keys, deliver);
}

}  // namespace tamis::cuda
