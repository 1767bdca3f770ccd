// The memory of one filter: allocated, mapped from a file, or that of somebody else.
#ifndef TAMIS_DETAIL_STORAGE_H_
#define TAMIS_DETAIL_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>

#include "tamis/detail/hd.h"
#include "tamis/memory.h"

namespace tamis::detail {

// What storage that was moved from has: so many zeros, read-only, that many share.
inline constexpr uint32_t kMovedBytes = 64;

// Where bytes are in the file that they are mapped from, and what it says of them: private to the
// rooms of files.
struct MappedFrom;

// Move-only owner of bytes that begin at a multiple of 64. The bytes stay where they are when the
// owner is moved.
class Storage {
 public:
  Storage() = default;

  // `bytes` zero bytes. Throws Error(kOutOfMemory), before allocating where it can tell.
  static Storage Allocate(uint64_t bytes, const MemoryOptions& options);

  // Throws Error(kOutOfMemory) for bytes that the process cannot have: for the sum, where several
  // are to be allocated. Linux would promise them, and end the process when they are used.
  static void RequireFits(uint64_t bytes);

  // Takes over a read-only mapping of `map_bytes` at `map`, of which the filter is
  // [offset, offset + bytes).
  static Storage FromMapping(void* map, size_t map_bytes, size_t offset, size_t bytes) noexcept;
  // The same of memory that stays its owner's, and has to outlive this; it begins at a multiple of
  // 64.
  static Storage FromMemory(std::span<const std::byte> memory, size_t offset,
                            size_t bytes) noexcept;
  // A part of what FromMapping or FromMemory was given, counted from its beginning; only as long as
  // that is there.
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

  // Of bytes that were mapped and that nobody has verified: what they must be found to have before
  // anything is made of them that has a checksum of its own. Else nullptr.
  const MappedFrom* unverified() const noexcept { return unverified_.get(); }
  void set_unverified(std::shared_ptr<const MappedFrom> from) noexcept {
    unverified_ = std::move(from);
  }

 private:
  void Swap(Storage& other) noexcept;

  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  // What is to be given back, unless it has 0 bytes: to `resource_` if there is one, else to the
  // operating system.
  std::pmr::memory_resource* resource_ = nullptr;
  void* base_ = nullptr;
  size_t base_bytes_ = 0;
  bool read_only_ = false;
  std::shared_ptr<const MappedFrom> unverified_;
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_STORAGE_H_
