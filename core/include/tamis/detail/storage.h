// The memory of a filter: allocated, mapped from a file, or owned by the caller.
#ifndef TAMIS_DETAIL_STORAGE_H_
#define TAMIS_DETAIL_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>

#include "tamis/detail/compiler.h"
#include "tamis/memory.h"

namespace tamis::detail {

// Moved-from storage points at this many shared, read-only zero bytes.
inline constexpr uint32_t kMovedBytes = 64;

// The place of mapped bytes in their file, and the file's header. Private to the library's code for
// files.
struct MappedFrom;

// Owns bytes that begin at a multiple of 64. Move-only. The bytes stay in place when the owner is
// moved.
class Storage {
 public:
  Storage() = default;

  // Allocates `bytes` zero bytes. Throws Error(kOutOfMemory), if possible before it allocates.
  static Storage Allocate(uint64_t bytes, const MemoryOptions& options);

  // Throws Error(kOutOfMemory) if the process cannot have `bytes` of memory. For several
  // allocations, call it with their sum. Without this check, Linux would promise the memory and end
  // the process when it uses the memory.
  static void RequireFits(uint64_t bytes);

  // Takes over a read-only mapping of a file. The filter is at [offset, offset + bytes) of it.
  static Storage FromMapping(std::span<const std::byte> map, size_t offset, size_t bytes) noexcept;
  // Refers to read-only memory of the caller, which must outlive this object. The memory begins at
  // a multiple of 64.
  static Storage FromMemory(std::span<const std::byte> memory, size_t offset,
                            size_t bytes) noexcept;
  // Returns a view of a part of the memory of FromMapping or FromMemory. `offset` is counted from
  // the beginning of that memory. The view is valid while this object owns or refers to the memory.
  Storage Part(size_t offset, size_t bytes) const noexcept;

  Storage(Storage&& other) noexcept;
  Storage& operator=(Storage&& other) noexcept {
    Storage(std::move(other)).Swap(*this);
    return *this;
  }
  ~Storage();

  TAMIS_HD std::byte* data() const noexcept { return data_; }
  TAMIS_HD uint64_t size() const noexcept { return size_; }
  TAMIS_HD bool read_only() const noexcept { return read_only_; }
  bool moved_from() const noexcept;
  // Makes moved-from memory shorter, for a filter without keys that needs fewer bytes. Does nothing
  // to other memory.
  void ShortenMoved(uint64_t bytes) noexcept {
    if (moved_from()) size_ = bytes;
  }

  // Not nullptr if the bytes were mapped and never verified. Such bytes must be verified before
  // they are copied into a file or filter that gets a new checksum.
  const MappedFrom* unverified() const noexcept { return unverified_.get(); }
  void set_unverified(std::shared_ptr<const MappedFrom> from) noexcept {
    unverified_ = std::move(from);
  }

 private:
  void Swap(Storage& other) noexcept;

  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  // The memory to free, if base_bytes_ is not 0. `resource_` frees it if it is not nullptr.
  // Otherwise the memory is a mapping of a file if read_only_ is true, and pages of the operating
  // system if not.
  std::pmr::memory_resource* resource_ = nullptr;
  void* base_ = nullptr;
  size_t base_bytes_ = 0;
  bool read_only_ = false;
  std::shared_ptr<const MappedFrom> unverified_;
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_STORAGE_H_
