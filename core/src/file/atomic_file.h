// Files that are replaced whole or not at all.
#ifndef TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_
#define TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_

#include <cstddef>
#include <filesystem>
#include <span>

#include "tamis/file.h"

namespace tamis::detail {

// Writes the parts, one after the other, to a temporary file beside `path`, waits until it is on
// the disk and renames it: under `path` there is the old file or the whole new one, also after a
// crash. SaveOptions says what becomes of links and permissions, and what is thrown; no temporary
// file is left behind.
void WriteFileAtomically(const std::filesystem::path& path,
                         std::span<const std::span<const std::byte>> parts,
                         const SaveOptions& options = {});

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_
