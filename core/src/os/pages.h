// Memory from the operating system, without an allocator.
#ifndef TAMIS_CORE_SRC_OS_PAGES_H_
#define TAMIS_CORE_SRC_OS_PAGES_H_

#include <cstddef>

namespace tamis::os {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;

// Returns the size of a normal page.
size_t PageBytes() noexcept;

// Returns zeroed memory that starts at a multiple of kHugePageBytes, or nullptr if the system
// refuses. `bytes` must be a multiple of PageBytes(). The caller releases all of it at once.
void* ZeroedPages(size_t bytes) noexcept;
void ReleasePages(void* begin, size_t bytes) noexcept;

// Call these before the memory is first touched, because the system then chooses the size and the
// place of its pages. They are advice: if the system refuses, only the speed changes. Except for
// AdviseSmallPages, they accept memory of any allocator, and advise only about whole huge pages in
// it.
void AdviseHugePages(void* begin, size_t bytes) noexcept;
void AdviseSmallPages(void* begin, size_t bytes) noexcept;
// Spreads the pages over all memory nodes that the process may use.
void AdviseAllNodes(void* begin, size_t bytes) noexcept;

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_PAGES_H_
