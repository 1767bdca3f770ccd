// Filters that are mapped from unverified files.
#ifndef TAMIS_CORE_SRC_FILE_MAPPED_FROM_H_
#define TAMIS_CORE_SRC_FILE_MAPPED_FROM_H_

#include <filesystem>

#include "core/src/file/file_format.h"
#include "tamis/detail/storage.h"

namespace tamis::detail {

struct MappedFrom {
  std::filesystem::path path;
  Extent extent;
};

// Marks `storage`, which is the payload of `extent` in a mapping of the whole file, as unverified.
// RequireIntact then verifies it before a copy or another file is made from it.
void SetUnverified(Storage& storage, const Extent& extent, const std::filesystem::path& path);

// Throws FormatError unless the mapped bytes have the checksums of their file. Must be called
// before they are copied, because the copy would be saved with new checksums. Reads all bytes,
// unless they have been verified before.
void RequireIntact(const Storage& storage);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_MAPPED_FROM_H_
