#include "bench/huge_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

namespace tamis::bench {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

size_t WholePages(size_t bytes) {
  return (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

}  // namespace

void* MapHuge(size_t bytes, bool huge_pages) {
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
  madvise(begin, size, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
  return begin;
}

void UnmapHuge(void* begin, size_t bytes) noexcept { munmap(begin, WholePages(bytes)); }

// Touches the memory, so that no measurement touches it first.
Arena::Arena(size_t bytes, bool huge_pages)
    : begin_(static_cast<std::byte*>(MapHuge(bytes, huge_pages))), bytes_(bytes) {
  std::memset(begin_, 0, bytes_);
}

void* Arena::do_allocate(size_t bytes, size_t alignment) {
  const size_t begin = (used_ + alignment - 1) / alignment * alignment;
  if (alignment > kHugePageBytes || begin > bytes_ || bytes > bytes_ - begin) {
    throw std::bad_alloc();
  }
  used_ = begin + bytes;
  ++pieces_;
  return begin_ + begin;
}

void Arena::do_deallocate(void*, size_t, size_t) {
  if (--pieces_ == 0) used_ = 0;
}

}  // namespace tamis::bench
