// A processor with its own memory, such as a GPU, to which an Engine can pass lookups. Declared
// here and implemented by a backend, so that core does not depend on a particular backend.
#ifndef TAMIS_CORE_SRC_ENGINE_ACCELERATOR_H_
#define TAMIS_CORE_SRC_ENGINE_ACCELERATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "tamis/backend.h"
#include "tamis/filters/filter.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Thread-safe; calls may wait for each other. The constructor is cheap, and the first lookup does
// the expensive work.
class Accelerator {
 public:
  // Receives the bits of keys [begin, begin + n), in order. `n` is a multiple of 64 except in the
  // last call; bits past n and the bits of nulls are 0.
  using Deliver = std::function<void(const uint64_t* bits, size_t n, uint64_t begin)>;

  virtual ~Accelerator() = default;

  // Returns the backend that names the GPU in an Engine::CallPlan. The kernels of this backend are
  // the kernels of the best backend of the host, and do all work that is not passed to the GPU.
  virtual const Backend& backend() const noexcept = 0;
  // Returns false if the accelerator certainly cannot look up keys in this filter. If it returns
  // true, an attempt may still fail.
  virtual bool Takes(const Filter& filter) const noexcept = 0;
  // Returns whether the accelerator has a copy of the filter in its current state, from an earlier
  // call.
  virtual bool HasMirror(const Filter& filter) const noexcept = 0;
  // Returns whether any part of the keys is in device memory, which the host cannot read. Throws
  // Error(kDevice) if that cannot be determined.
  virtual bool Holds(const Keys& keys) const = 0;
  // Looks up the keys. Copies the filter first if HasMirror() is false. Throws Error(kOutOfMemory),
  // or Error(kDevice) if the device failed.
  virtual void ForEachBits(const Filter& filter, const Keys& keys, const Deliver& deliver) = 0;

  // These functions manage the mirrors: the copies of filters that the accelerator keeps.
  // LimitMirrors sets the maximum of their bytes, which takes effect at the next lookup; 0 stands
  // for half of the device memory. MirrorBytes returns the bytes of all mirrors. DropMirrors frees
  // all mirrors. When a filter is destroyed, its mirror is freed.
  virtual void LimitMirrors(uint64_t bytes) noexcept = 0;
  virtual uint64_t MirrorBytes() const noexcept = 0;
  virtual void DropMirrors() noexcept = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_ACCELERATOR_H_
