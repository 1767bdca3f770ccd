#include "tamis/detail/storage.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/physical_memory.h"

namespace tamis::detail {
namespace {

constexpr size_t kAlignment = 64;
alignas(kAlignment) constexpr std::byte kZeros[kMovedBytes] = {};
constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
// Smaller filters stay with operator new: a second-level TLB covers them with small pages.
constexpr uint64_t kLargeBytes = uint64_t{4} << 20;

[[noreturn]] void ThrowOutOfMemory(uint64_t bytes, const std::string& why) {
  throw Error(ErrorCode::kOutOfMemory,
              StrCat("cannot allocate ", bytes, " bytes for a filter: ", why));
}

constexpr size_t RoundUp(size_t x, size_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

// Must be called before the pages are first touched, when the kernel chooses their size. This is
// advice: if a kernel without huge pages refuses it, only the speed changes.
void AdviseHugePages([[maybe_unused]] void* begin, [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
  // Only whole huge pages in the range: memory of a resource may have neighbors of other owners.
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = RoundUp(address, kHugePageBytes);
  const uintptr_t last = (address + bytes) / kHugePageBytes * kHugePageBytes;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

// Returns zeroed memory from the operating system, aligned to a huge page, or nullptr if that
// fails. `bytes` must be a multiple of the page size. The end is not rounded up to a huge page,
// which would add up to half its size to a filter of 4 MiB.
void* MapZeroed(size_t bytes) {
  const size_t total = bytes + kHugePageBytes;
  void* const map =
      mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(map);
  const auto address = reinterpret_cast<uintptr_t>(map);
  const size_t head = RoundUp(address, kHugePageBytes) - address;
  if (head > 0) munmap(begin, head);
  if (head < kHugePageBytes) munmap(begin + head + bytes, kHugePageBytes - head);
  return begin + head;
}

}  // namespace

void Storage::RequireFits(uint64_t bytes) {
  const uint64_t limit = PhysicalMemory();
  if (limit != 0 && bytes > limit) {
    ThrowOutOfMemory(bytes, StrCat("this process may use ", limit, " bytes of physical memory"));
  }
  // Leaves room for the rounding in Allocate.
  constexpr uint64_t kMax = std::numeric_limits<size_t>::max() - 2 * kHugePageBytes;
  if (bytes > kMax) {
    ThrowOutOfMemory(bytes, StrCat("the address space allows ", kMax, " bytes"));
  }
}

Storage Storage::Allocate(uint64_t bytes, const MemoryOptions& options) {
  Storage storage;
  if (bytes == 0) return storage;
  const bool large = bytes >= kLargeBytes;
  const bool huge = large && options.huge_pages;
  if (large) RequireFits(bytes);

  if (large && options.resource == nullptr) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t mapped = RoundUp(bytes, page);
    void* const base = MapZeroed(mapped);
    if (base == nullptr) ThrowOutOfMemory(bytes, "the operating system refused");
    storage.base_ = base;
    storage.base_bytes_ = mapped;
    if (huge) {
      AdviseHugePages(base, mapped);
    } else {
#ifdef MADV_NOHUGEPAGE
      madvise(base, mapped, MADV_NOHUGEPAGE);  // for systems that give huge pages unasked
#endif
    }
  } else {
    storage.resource_ =
        options.resource != nullptr ? options.resource : std::pmr::new_delete_resource();
    try {
      storage.base_ = storage.resource_->allocate(bytes, kAlignment);
    } catch (const std::bad_alloc&) {
      ThrowOutOfMemory(bytes, "the memory resource has none left");
    }
    storage.base_bytes_ = bytes;
    if (huge) AdviseHugePages(storage.base_, bytes);
    std::memset(storage.base_, 0, bytes);
  }
  storage.data_ = static_cast<std::byte*>(storage.base_);
  storage.size_ = bytes;
  return storage;
}

Storage Storage::FromMapping(void* map, size_t map_bytes, size_t offset, size_t bytes) noexcept {
  Storage storage;
  storage.base_ = map;
  storage.base_bytes_ = map_bytes;
  storage.data_ = static_cast<std::byte*>(map) + offset;
  storage.size_ = bytes;
  storage.read_only_ = true;
  return storage;
}

Storage Storage::FromMemory(std::span<const std::byte> memory, size_t offset,
                            size_t bytes) noexcept {
  return FromMapping(const_cast<std::byte*>(memory.data()), 0, offset, bytes);
}

Storage::Storage(Storage&& other) noexcept {
  Swap(other);
  other.data_ = const_cast<std::byte*>(kZeros);
  other.size_ = kMovedBytes;
  other.read_only_ = true;
}

bool Storage::moved_from() const noexcept { return data_ == kZeros; }

Storage Storage::Part(size_t offset, size_t bytes) const noexcept {
  Storage part;
  part.data_ = static_cast<std::byte*>(base_) + offset;
  part.size_ = bytes;
  part.read_only_ = true;
  return part;
}

Storage::~Storage() {
  if (base_bytes_ == 0) return;
  if (resource_ != nullptr) {
    resource_->deallocate(base_, base_bytes_, kAlignment);
  } else {
    munmap(base_, base_bytes_);
  }
}

void Storage::Swap(Storage& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(resource_, other.resource_);
  std::swap(base_, other.base_);
  std::swap(base_bytes_, other.base_bytes_);
  std::swap(read_only_, other.read_only_);
  std::swap(unverified_, other.unverified_);
}

}  // namespace tamis::detail
