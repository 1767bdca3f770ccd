// The memory of one filter: allocated, or mapped from a file.
#ifndef TAMIS_DETAIL_STORAGE_H_
#define TAMIS_DETAIL_STORAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <utility>

#include "tamis/hd.h"
#include "tamis/memory.h"

namespace tamis::detail {

// What storage that was moved from has: so many zeros, read-only, that many share.
inline constexpr uint32_t kMovedBytes = 64;

// What a file says of bytes that are mapped from it.
struct StoredChecksum {
  std::array<uint64_t, 2> value{};  // as FileHeader has it
  uint64_t at = 0;                  // where it is, in bytes from the start of the file
};

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
  // A part of what FromMapping took over, counted from its beginning; only as long as that is
  // there.
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

  // Of bytes that were mapped and that nobody has verified: what they must be found to have before
  // anything is made of them that has a checksum of its own.
  const std::optional<StoredChecksum>& unverified() const noexcept { return unverified_; }
  void set_unverified(const StoredChecksum& checksum) noexcept { unverified_ = checksum; }

 private:
  void Swap(Storage& other) noexcept;

  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  // What is to be given back: to `resource_` if there is one, else to the operating system.
  std::pmr::memory_resource* resource_ = nullptr;
  void* base_ = nullptr;
  size_t base_bytes_ = 0;
  bool read_only_ = false;
  std::optional<StoredChecksum> unverified_;
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_STORAGE_H_
