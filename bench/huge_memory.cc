#include "bench/huge_memory.h"

#include <sys/mman.h>

#include <cstdint>

namespace tamis::bench {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

size_t WholePages(size_t bytes) {
  return (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

}  // namespace

void* MapHuge(size_t bytes) {
  const size_t size = WholePages(bytes);
  void* const map = mmap(nullptr, size + kHugePageBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(map);
  const size_t head =
      WholePages(reinterpret_cast<uintptr_t>(map)) - reinterpret_cast<uintptr_t>(map);
  std::byte* const begin = first + head;
  if (head > 0) munmap(first, head);
  if (head < kHugePageBytes) munmap(begin + size, kHugePageBytes - head);
#ifdef MADV_HUGEPAGE
  madvise(begin, size, MADV_HUGEPAGE);
#endif
  return begin;
}

void UnmapHuge(void* begin, size_t bytes) noexcept { munmap(begin, WholePages(bytes)); }

void* Arena::do_allocate(size_t bytes, size_t alignment) {
  if (taken_ || bytes > memory_.size() || alignment > kHugePageBytes) throw std::bad_alloc();
  taken_ = true;
  return memory_.data();
}

void Arena::do_deallocate(void*, size_t, size_t) { taken_ = false; }

}  // namespace tamis::bench
