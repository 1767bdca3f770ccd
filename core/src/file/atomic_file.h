// Files that are replaced whole or not at all.
#ifndef TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_
#define TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_

#include <cstddef>
#include <filesystem>
#include <span>

namespace tamis::detail {

// Writes the parts, one after the other, to a temporary file beside `path`, waits until it is on
// the disk and renames it: under `path` there is the old file or the whole new one, also after a
// crash. A symbolic link is replaced, not followed. Throws Error(kIo), leaving no temporary file
// behind, also if at `path` there is something other than a regular file.
void WriteFileAtomically(const std::filesystem::path& path,
                         std::span<const std::span<const std::byte>> parts);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_
