#include "core/src/os/pages.h"

#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <cstdint>

namespace tamis::os {
namespace {

uintptr_t RoundUp(uintptr_t x) {
  return (x + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

// Calls act(begin, bytes) for the whole huge pages in the memory, if there are any. Its neighbors
// may belong to others.
template <typename Act>
void OnWholeHugePages(void* begin, size_t bytes, const Act& act) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = RoundUp(address);
  const uintptr_t last = (address + bytes) / kHugePageBytes * kHugePageBytes;
  if (first < last) act(reinterpret_cast<void*>(first), last - first);
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
  OnWholeHugePages(begin, bytes, [](void* at, size_t n) { madvise(at, n, MADV_HUGEPAGE); });
#endif
}

void AdviseSmallPages([[maybe_unused]] void* begin, [[maybe_unused]] size_t bytes) noexcept {
#ifdef MADV_NOHUGEPAGE
  madvise(begin, bytes, MADV_NOHUGEPAGE);
#endif
}

// Calls the system directly, because only libnuma has functions for these calls.
void AdviseAllNodes([[maybe_unused]] void* begin, [[maybe_unused]] size_t bytes) noexcept {
#if defined(SYS_mbind) && defined(SYS_get_mempolicy)
  constexpr int kInterleave = 3;              // MPOL_INTERLEAVE
  constexpr unsigned long kAllowedNodes = 4;  // MPOL_F_MEMS_ALLOWED
  constexpr unsigned long kMaxNodes = 4096;   // Linux has at most 1,024
  unsigned long nodes[kMaxNodes / (8 * sizeof(unsigned long))] = {};
  if (syscall(SYS_get_mempolicy, nullptr, nodes, kMaxNodes, nullptr, kAllowedNodes) != 0) return;
  OnWholeHugePages(begin, bytes, [&](void* at, size_t n) {
    syscall(SYS_mbind, at, static_cast<unsigned long>(n), kInterleave, nodes, kMaxNodes, 0U);
  });
#endif
}

}  // namespace tamis::os
