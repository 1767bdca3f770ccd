// The checksums of the pages of a payload (core/FORMAT.md, "Pages"). Each page can be verified
// alone, and damage can be located.
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

// Returns the XXH3-64 of each page; the last page may be shorter.
std::vector<uint64_t> PageTable(std::span<const std::byte> payload);

// Returns the XXH3-128 of the table: low half, high half.
std::array<uint64_t, 2> TableChecksum(std::span<const uint64_t> table) noexcept;

// Returns the first page of `bytes` that does not match its checksum in `table`. `bytes` must begin
// with a page.
std::optional<size_t> FindDamage(std::span<const std::byte> bytes,
                                 std::span<const uint64_t> table) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_PAGE_TABLE_H_
