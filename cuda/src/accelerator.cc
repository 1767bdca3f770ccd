#include "cuda/src/accelerator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cuda/src/geometry.h"
#include "cuda/src/scoped.h"
#include "tamis/detail/str_cat.h"
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
  tamis::detail::AddFilterObserver(*this);
}

CudaAccelerator::~CudaAccelerator() {
  tamis::detail::RemoveFilterObserver(*this);
  if (stream_ == nullptr) return;
  const OutsideCaptures outside(runtime_);
  (void)runtime_.DestroyStream(stream_);
}

bool CudaAccelerator::Takes(const Filter& filter) const noexcept {
  return HasKernels(filter.kind(), filter.bytes()) && filter.bytes() <= Limit();
}

uint64_t CudaAccelerator::Limit() const noexcept {
  if (const uint64_t limit = limit_; limit != 0) return limit;
  if (half_of_memory_ == 0) {
    const OutsideCaptures outside(runtime_);
    DeviceProperties properties;
    if (!runtime_.Properties(device_.device, &properties).ok()) return ~uint64_t{0};
    half_of_memory_ = std::max<uint64_t>(properties.memory_bytes / 2, 1);
  }
  return half_of_memory_;
}

uint64_t CudaAccelerator::MirrorBytes() const noexcept {
  const std::lock_guard lock(list_mutex_);
  uint64_t sum = 0;
  for (const auto* list : {&mirrors_, &retired_}) {
    for (const Mirror& mirror : *list) sum += mirror.filter.bytes();
  }
  return sum;
}

void CudaAccelerator::DropMirrors() noexcept {
  const std::lock_guard lock(turn_);
  std::list<Mirror> dropped;  // freed after the list is unlocked
  const std::lock_guard list_lock(list_mutex_);
  dropped.splice(dropped.end(), mirrors_);
  dropped.splice(dropped.end(), retired_);
}

// The thread that destroys a filter may be capturing a graph. Calls of the runtime would invalidate
// the capture.
void CudaAccelerator::Gone(uint64_t identity) noexcept {
  std::list<Mirror> gone;
  {
    const std::lock_guard lock(list_mutex_);
    TakeOf(identity, gone);
  }
  if (gone.empty()) return;
  bool capturing = false;
  if (runtime_.IsCapturing(nullptr, &capturing).ok() && !capturing) return;
  const std::lock_guard lock(list_mutex_);
  retired_.splice(retired_.end(), gone);
}

void CudaAccelerator::FreeRetired() noexcept {
  std::list<Mirror> retired;
  const std::lock_guard lock(list_mutex_);
  retired.splice(retired.end(), retired_);
}

void CudaAccelerator::TakeOf(uint64_t identity, std::list<Mirror>& to) noexcept {
  for (auto mirror = mirrors_.begin(); mirror != mirrors_.end();) {
    const auto next = std::next(mirror);
    if (mirror->version.identity == identity) to.splice(to.end(), mirrors_, mirror);
    mirror = next;
  }
}

bool CudaAccelerator::HasMirror(const Filter& filter) const noexcept {
  const std::lock_guard lock(list_mutex_);
  return Find(tamis::detail::FilterAccess::VersionOf(filter)) != mirrors_.end();
}

bool CudaAccelerator::Holds(const Keys& keys) const {
  if (keys.empty()) return false;
  const OutsideCaptures outside(runtime_);
  // The bytes of strings, their offsets and the validity bitmap may be in different memory.
  const void* const nulls =
      keys.validity() == nullptr ? nullptr : keys.validity() + keys.first_bit() / 8;
  for (const void* memory : {keys.data<void>(), static_cast<const void*>(keys.bytes()), nulls}) {
    if (memory == nullptr) continue;
    Location at;
    runtime_.Locate(memory, &at).ThrowIfFailed("asking where the keys are");
    if (at.place == Place::kDevice) return true;
  }
  return false;
}

std::list<CudaAccelerator::Mirror>::const_iterator CudaAccelerator::Find(
    const tamis::detail::FilterAccess::Version& version) const noexcept {
  return std::find_if(mirrors_.begin(), mirrors_.end(),
                      [&](const Mirror& mirror) { return mirror.version == version; });
}

// The most recently used mirror comes first. The list is not locked while filters are copied and
// copies are freed.
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
    // A mirror of an earlier version is useless.
    TakeOf(version.identity, outdated);
  }
  outdated.clear();
  std::list<Mirror> made;
  made.push_front({version, Copy(filter)});
  const std::lock_guard lock(list_mutex_);
  mirrors_.splice(mirrors_.begin(), made);
  return mirrors_.front().filter;
}

DeviceFilter CudaAccelerator::Copy(const Filter& filter) {
  const uint64_t limit = Limit();
  if (filter.bytes() > limit) {
    throw Error(
        ErrorCode::kOutOfMemory,
        tamis::detail::StrCat(
            "a filter of ", filter.bytes(),
            " bytes cannot be kept on the device; EngineOptions::device_filter_bytes: ", limit));
  }
  std::list<Mirror> dropped;
  const auto drop_last = [&] {
    const std::lock_guard lock(list_mutex_);
    if (mirrors_.empty()) return false;
    dropped.splice(dropped.end(), mirrors_, std::prev(mirrors_.end()));
    return true;
  };
  while (MirrorBytes() > limit - filter.bytes() && drop_last()) {
  }
  while (true) {
    dropped.clear();
    try {
      DeviceFilter copy(filter.Header(), device_, stream_);
      pipeline_->Upload(copy, filter);
      return copy;
    } catch (const Error& error) {
      // A filter that could never fit does not displace others.
      if (error.code() != ErrorCode::kOutOfMemory || !MayFit(filter) || !drop_last()) throw;
    }
  }
}

bool CudaAccelerator::MayFit(const Filter& filter) const {
  DeviceProperties properties;
  const Status status = runtime_.Properties(device_.device, &properties);
  return !status.ok() || filter.bytes() <= properties.memory_bytes;
}

void CudaAccelerator::ForEachBits(const Filter& filter, const Keys& keys, const Deliver& deliver) {
  const std::lock_guard lock(turn_);
  const OutsideCaptures outside(runtime_);
  FreeRetired();
  if (!pipeline_) pipeline_.emplace(device_, pipeline_options_);
  if (stream_ == nullptr) {
    const ScopedDevice current(runtime_, device_.device);
    current.status().ThrowIfFailed("choosing the device");
    runtime_.CreateStream(&stream_).ThrowIfFailed("creating a stream");
  }
  if (tamis::detail::FilterAccess::IsShared(filter)) {
    // Nothing shows whether an earlier copy of this filter is still up to date.
    pipeline_->ForEachBits(Copy(filter), keys, deliver);
  } else {
    pipeline_->ForEachBits(MirrorOf(filter), keys, deliver);
  }
}

}  // namespace tamis::cuda
