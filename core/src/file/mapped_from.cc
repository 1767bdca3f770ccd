#include "core/src/file/mapped_from.h"

#include <cstdint>
#include <memory>
#include <span>

#include "core/src/file/checksum.h"
#include "core/src/file/page_table.h"

namespace tamis::detail {

void SetUnverified(Storage& storage, const Extent& extent, const std::filesystem::path& path) {
  storage.set_unverified(std::make_shared<const MappedFrom>(MappedFrom{path, extent}));
}

void RequireIntact(const Storage& storage) {
  if (storage.unverified() == nullptr) return;
  const auto& [path, extent] = *storage.unverified();
  // For a filter made of other filters, the payload is larger than storage.bytes().
  const std::span<const std::byte> payload(storage.data(), extent.header.payload_bytes);
  if (!extent.paged()) {
    Checksum checksum;
    checksum.Update(payload);
    if (checksum.Value() != extent.header.payload_checksum) {
      ThrowFormatError(path, ErrorCode::kCorrupt, "payload checksum",
                       extent.header_at + offset::kPayloadChecksum,
                       "does not match: a damaged filter is neither copied nor saved");
    }
    return;
  }
  // The table is in the mapping as well, and aligned, because payloads and tables begin at
  // multiples of 64.
  const std::byte* const table = storage.data() + (extent.pages_at() - extent.payload_at());
  const std::span pages(reinterpret_cast<const uint64_t*>(table), NumPages(payload.size()));
  if (TableChecksum(pages) != extent.header.payload_checksum) FailPageTable(extent, path);
  if (const auto page = FindDamage(payload, pages)) FailPage(extent, *page, path);
}

}  // namespace tamis::detail
