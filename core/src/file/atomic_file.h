// Files that are replaced whole or not at all.
#ifndef TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_
#define TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/src/base/function_ref.h"
#include "core/src/file/temporary_file.h"
#include "tamis/file/file.h"

namespace tamis::detail {

// Writes the parts, one after the other, to a temporary file beside `path`, waits until it is on
// the disk and renames it: under `path` there is the old file or the whole new one, also after a
// crash. SaveOptions says what becomes of links and permissions, and what is thrown; no temporary
// file is left behind.
void WriteFileAtomically(const std::filesystem::path& path,
                         std::span<const std::span<const std::byte>> parts,
                         const SaveOptions& options = {});

// The same with what `write` puts into the file, for contents that are never in memory as a whole.
// It may read the file before it gets its name, and is called again where the file system cannot
// name a file afterwards. What it throws leaves everything as it was.
void WriteFileAtomicallyBy(const std::filesystem::path& path,
                           FunctionRef<void(TemporaryFile&)> write,
                           const SaveOptions& options = {});

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_
