#include "tamis/detail/storage.h"

#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "core/src/os/mapping.h"
#include "core/src/os/pages.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/physical_memory.h"

namespace tamis::detail {
namespace {

constexpr size_t kAlignment = 64;
alignas(kAlignment) constexpr std::byte kZeros[kMovedBytes] = {};
// Smaller filters use operator new: a second-level TLB covers them with small pages.
constexpr uint64_t kLargeBytes = uint64_t{4} << 20;

[[noreturn]] void ThrowOutOfMemory(uint64_t bytes, const std::string& why) {
  throw Error(ErrorCode::kOutOfMemory,
              StrCat("cannot allocate ", bytes, " bytes for a filter: ", why));
}

}  // namespace

void Storage::RequireFits(uint64_t bytes) {
  const uint64_t limit = PhysicalMemory();
  if (limit != 0 && bytes > limit) {
    ThrowOutOfMemory(bytes, StrCat("this process may use ", limit, " bytes of physical memory"));
  }
  // Leaves room for the rounding in Allocate.
  constexpr uint64_t kMax = std::numeric_limits<size_t>::max() - 2 * os::kHugePageBytes;
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
    const size_t page = os::PageBytes();
    const size_t mapped = (bytes + page - 1) / page * page;
    void* const base = os::ZeroedPages(mapped);
    if (base == nullptr) ThrowOutOfMemory(bytes, "the operating system refused");
    storage.base_ = base;
    storage.base_bytes_ = mapped;
    if (huge) {
      os::AdviseHugePages(base, mapped);
    } else {
      os::AdviseSmallPages(base, mapped);  // some systems use huge pages by default
    }
    if (options.interleave) os::AdviseAllNodes(base, mapped);
  } else {
    storage.resource_ =
        options.resource != nullptr ? options.resource : std::pmr::new_delete_resource();
    try {
      storage.base_ = storage.resource_->allocate(bytes, kAlignment);
    } catch (const std::bad_alloc&) {
      ThrowOutOfMemory(bytes, "the memory resource has none left");
    }
    storage.base_bytes_ = bytes;
    if (huge) os::AdviseHugePages(storage.base_, bytes);
    if (large && options.interleave) os::AdviseAllNodes(storage.base_, bytes);
    std::memset(storage.base_, 0, bytes);
  }
  storage.data_ = static_cast<std::byte*>(storage.base_);
  storage.size_ = bytes;
  return storage;
}

Storage Storage::FromMapping(std::span<const std::byte> map, size_t offset, size_t bytes) noexcept {
  Storage storage = FromMemory(map, offset, bytes);
  storage.base_bytes_ = map.size();
  return storage;
}

Storage Storage::FromMemory(std::span<const std::byte> memory, size_t offset,
                            size_t bytes) noexcept {
  Storage storage;
  storage.base_ = const_cast<std::byte*>(memory.data());
  storage.data_ = static_cast<std::byte*>(storage.base_) + offset;
  storage.size_ = bytes;
  storage.read_only_ = true;
  return storage;
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
  } else if (read_only_) {
    os::Mapping::Unmap({static_cast<const std::byte*>(base_), base_bytes_});
  } else {
    os::ReleasePages(base_, base_bytes_);
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
