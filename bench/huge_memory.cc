#include "bench/huge_memory.h"

#include <cstring>
#include <new>

#include "core/src/os/pages.h"

namespace tamis::bench {
namespace {

using tamis::os::kHugePageBytes;

size_t WholePages(size_t bytes) {
  return (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

}  // namespace

void* MapHuge(size_t bytes, bool huge_pages) {
  const size_t size = WholePages(bytes);
  void* const begin = tamis::os::ZeroedPages(size);
  if (begin == nullptr) throw std::bad_alloc();
  if (huge_pages) {
    tamis::os::AdviseHugePages(begin, size);
  } else {
    tamis::os::AdviseSmallPages(begin, size);
  }
  return begin;
}

void UnmapHuge(void* begin, size_t bytes) noexcept {
  tamis::os::ReleasePages(begin, WholePages(bytes));
}

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
