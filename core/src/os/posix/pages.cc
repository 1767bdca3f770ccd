#include "core/src/os/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace tamis::os {
namespace {

uintptr_t RoundUp(uintptr_t x) {
  return (x + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

}  // namespace

size_t PageBytes() noexcept { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// The end is not rounded up to a huge page, which would add up to half its size to a filter of
// 4 MiB.
void* ZeroedPages(size_t bytes) noexcept {
  const size_t total = bytes + kHugePageBytes;
  void* const map =
      mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<char*>(map);
  const auto address = reinterpret_cast<uintptr_t>(map);
  const size_t head = RoundUp(address) - address;
  if (head > 0) munmap(begin, head);
  if (head < kHugePageBytes) munmap(begin + head + bytes, kHugePageBytes - head);
  return begin + head;
}

void ReleasePages(void* begin, size_t bytes) noexcept { munmap(begin, bytes); }

void AdviseHugePages([[maybe_unused]] void* begin, [[maybe_unused]] size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  // Neighbors of the memory may belong to others.
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = RoundUp(address);
  const uintptr_t last = (address + bytes) / kHugePageBytes * kHugePageBytes;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

void AdviseSmallPages([[maybe_unused]] void* begin, [[maybe_unused]] size_t bytes) noexcept {
#ifdef MADV_NOHUGEPAGE
  madvise(begin, bytes, MADV_NOHUGEPAGE);
#endif
}

}  // namespace tamis::os
