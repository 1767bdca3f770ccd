#include "tests/core/no_memory/failing_new.h"

#include <cstdlib>
#include <new>

namespace tamis {

thread_local int allocations_left = -1;
thread_local bool later_ones_fail = false;
thread_local int failures = 0;
thread_local size_t allocated_bytes = 0;

namespace {

bool Fails() {
  if (allocations_left < 0) return false;
  if (allocations_left > 0) {
    --allocations_left;
    return false;
  }
  if (!later_ones_fail) allocations_left = -1;
  ++failures;
  return true;
}

void* Allocate(size_t bytes, size_t alignment) {
  if (Fails()) throw std::bad_alloc();
  allocated_bytes += bytes;
  void* const p = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace
}  // namespace tamis

using tamis::Allocate;

// All other forms of new and delete call one of these, except for those that sanitizers define
// themselves. So the two that do not throw are here as well. If they are inlined, g++ 12 takes free
// for a mismatch.
[[gnu::noinline]] void* operator new(size_t bytes) {
  return Allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept try {
  return operator new(bytes);
} catch (const std::bad_alloc&) {
  return nullptr;
}
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept try {
  return operator new(bytes, alignment);
} catch (const std::bad_alloc&) {
  return nullptr;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
