#include "core/src/os/pages.h"

#include <cstdint>

#include "core/src/os/windows/win32.h"

namespace tamis::os {

size_t PageBytes() noexcept {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

// Windows cannot release a part of a reservation. So a larger reservation finds an aligned address
// and is released. Another thread may then take the address before this thread does.
void* ZeroedPages(size_t bytes) noexcept {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    void* const found = VirtualAlloc(nullptr, bytes + kHugePageBytes, MEM_RESERVE, PAGE_NOACCESS);
    if (found == nullptr) return nullptr;
    VirtualFree(found, 0, MEM_RELEASE);
    const uintptr_t aligned =
        (reinterpret_cast<uintptr_t>(found) + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    void* const pages = VirtualAlloc(reinterpret_cast<void*>(aligned), bytes,
                                     MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (pages != nullptr) return pages;
    if (GetLastError() != ERROR_INVALID_ADDRESS) return nullptr;
  }
  return nullptr;
}

void ReleasePages(void* begin, size_t) noexcept { VirtualFree(begin, 0, MEM_RELEASE); }

// Large pages of Windows need a privilege that users do not have.
void AdviseHugePages(void*, size_t) noexcept {}

void AdviseSmallPages(void*, size_t) noexcept {}

// VirtualAllocExNuma chooses a single node for all pages.
void AdviseAllNodes(void*, size_t) noexcept {}

}  // namespace tamis::os
