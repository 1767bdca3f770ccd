#include "core/src/file/page_table.h"

#include <xxhash.h>

#include <algorithm>

namespace tamis::detail {
namespace {

std::span<const std::byte> Page(std::span<const std::byte> bytes, size_t page) {
  const size_t begin = page * kPageBytes;
  return bytes.subspan(begin, std::min(kPageBytes, bytes.size() - begin));
}

uint64_t PageChecksum(std::span<const std::byte> page) {
  return XXH3_64bits(page.data(), page.size());
}

}  // namespace

std::vector<uint64_t> PageTable(std::span<const std::byte> payload) {
  std::vector<uint64_t> table(NumPages(payload.size()));
  for (size_t page = 0; page < table.size(); ++page) {
    table[page] = PageChecksum(Page(payload, page));
  }
  return table;
}

std::array<uint64_t, 2> TableChecksum(std::span<const uint64_t> table) noexcept {
  const XXH128_hash_t checksum = XXH3_128bits(table.data(), table.size_bytes());
  return {checksum.low64, checksum.high64};
}

std::optional<size_t> FindDamage(std::span<const std::byte> bytes,
                                 std::span<const uint64_t> table) noexcept {
  for (size_t page = 0; page < NumPages(bytes.size()); ++page) {
    if (PageChecksum(Page(bytes, page)) != table[page]) return page;
  }
  return std::nullopt;
}

}  // namespace tamis::detail
