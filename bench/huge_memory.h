// Memory of huge pages, so that measurements show the cache or the memory and not the TLB.
#ifndef TAMIS_BENCH_HUGE_MEMORY_H_
#define TAMIS_BENCH_HUGE_MEMORY_H_

#include <cstddef>
#include <memory_resource>
#include <new>
#include <span>
#include <vector>

namespace tamis::bench {

// Returns `bytes` zero bytes, aligned to a huge page. Advises the kernel to use huge pages for any
// size or, if `huge_pages` is false, no huge pages. Throws std::bad_alloc.
void* MapHuge(size_t bytes, bool huge_pages = true);
void UnmapHuge(void* begin, size_t bytes) noexcept;

template <typename T>
struct HugeAllocator {
  using value_type = T;

  HugeAllocator() = default;
  template <typename U>
  HugeAllocator(const HugeAllocator<U>&) noexcept {}

  T* allocate(size_t n) { return static_cast<T*>(MapHuge(n * sizeof(T))); }
  void deallocate(T* begin, size_t n) noexcept { UnmapHuge(begin, n * sizeof(T)); }
  friend bool operator==(const HugeAllocator&, const HugeAllocator&) { return true; }
};

template <typename T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

// A piece of memory that the filters under test use in turns. On a virtual machine, the choice of
// physical pages can change the speed of a filter by a factor of two, so filters are compared in
// the same pages.
class Arena final : public std::pmr::memory_resource {
 public:
  explicit Arena(size_t bytes, bool huge_pages = true);
  ~Arena() override { UnmapHuge(begin_, bytes_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::span<const std::byte> memory() const noexcept { return {begin_, bytes_}; }

 private:
  // Returns consecutive pieces of the memory. When all pieces have been given back, begins again at
  // the start. Throws std::bad_alloc.
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* begin, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::byte* begin_;
  size_t bytes_;
  size_t used_ = 0;
  size_t pieces_ = 0;
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_HUGE_MEMORY_H_
