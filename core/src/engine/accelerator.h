// A processor beside this one, with memory of its own, that an Engine can hand lookups to. Declared
// here and made by a backend, so that core knows of no particular one.
#ifndef TAMIS_CORE_SRC_ENGINE_ACCELERATOR_H_
#define TAMIS_CORE_SRC_ENGINE_ACCELERATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "tamis/backend.h"
#include "tamis/filters/filter.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Thread-safe; calls may take turns. Cheap to make: what costs is done by the first lookup.
class Accelerator {
 public:
  // Receives the bits of keys [begin, begin + n), in order: n is a multiple of 64 but for the last
  // call, and bits past n and of nulls are 0.
  using Deliver = std::function<void(const uint64_t* bits, size_t n, uint64_t begin)>;

  virtual ~Accelerator() = default;

  // The name of the GPU in an Engine::CallPlan; its kernels, which are those of the best backend of
  // the host, do all that is not handed over.
  virtual const Backend& backend() const noexcept = 0;
  // Whether it can take this filter, as far as that is known before trying.
  virtual bool Takes(const Filter& filter) const noexcept = 0;
  // Whether a copy of the filter as it is now is there from an earlier call.
  virtual bool HasMirror(const Filter& filter) const noexcept = 0;
  // Whether any part of the keys is in its own memory, where the host cannot read it. Throws
  // Error(kDevice) if that cannot be found out.
  virtual bool Holds(const Keys& keys) const = 0;
  // Looks the keys up, after copying the filter unless HasMirror(). Throws Error: kOutOfMemory, or
  // kDevice if it failed.
  virtual void ForEachBits(const Filter& filter, const Keys& keys, const Deliver& deliver) = 0;

  // The copies of filters that are kept: no more than so many bytes from the next lookup on, 0
  // being half of its memory; how many there are; and gives all back. Those of a filter that is
  // destroyed go with it.
  virtual void LimitMirrors(uint64_t bytes) noexcept = 0;
  virtual uint64_t MirrorBytes() const noexcept = 0;
  virtual void DropMirrors() noexcept = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_ACCELERATOR_H_
