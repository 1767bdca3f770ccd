// The checksums of a payload by pages (core/FORMAT.md, "Pages"): each page can be verified by
// itself, and damage has an address.
#ifndef TAMIS_CORE_SRC_FILE_PAGE_TABLE_H_
#define TAMIS_CORE_SRC_FILE_PAGE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tamis::detail {

inline constexpr int kLog2PageBytes = 16;
inline constexpr size_t kPageBytes = size_t{1} << kLog2PageBytes;

constexpr uint64_t NumPages(uint64_t payload_bytes) {
  return payload_bytes / kPageBytes + (payload_bytes % kPageBytes != 0);
}
constexpr uint64_t PageTableBytes(uint64_t payload_bytes) {
  return NumPages(payload_bytes) * sizeof(uint64_t);
}

// XXH3-64 of each page, the last of which may be shorter.
std::vector<uint64_t> PageTable(std::span<const std::byte> payload);

// XXH3-128 of the table: low half, high half.
std::array<uint64_t, 2> TableChecksum(std::span<const uint64_t> table) noexcept;

// The first page of `bytes`, which begin with one, that `table` says to be another.
std::optional<size_t> FindDamage(std::span<const std::byte> bytes,
                                 std::span<const uint64_t> table) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_PAGE_TABLE_H_
