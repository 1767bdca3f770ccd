// Filters that are mapped from files which nobody has verified.
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

// Has `storage`, which is the payload of `extent` in a mapping of the whole file, verified before
// anything is made of it.
void SetUnverified(Storage& storage, const Extent& extent, const std::filesystem::path& path);

// Throws FormatError unless what is mapped has the checksums of its file: to be called before it is
// copied into what would be saved with new ones. Reads all of it, unless it has been verified.
void RequireIntact(const Storage& storage);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_MAPPED_FROM_H_
