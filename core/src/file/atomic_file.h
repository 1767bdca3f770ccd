// Files that are replaced as a whole or not at all.
#ifndef TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_
#define TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/src/base/function_ref.h"
#include "core/src/os/temporary_file.h"
#include "tamis/file/file.h"

namespace tamis::detail {

// Writes the parts, one after the other, to a temporary file beside `path`, waits until it is on
// the disk, and renames it. So at any time, even after a crash, `path` names the old file or the
// whole new one. SaveOptions documents the rules for links, permissions and shards, and the errors.
// Leaves no temporary file behind.
void WriteFileAtomically(const std::filesystem::path& path,
                         std::span<const std::span<const std::byte>> parts,
                         const SaveOptions& options = {});

// Does the same with the bytes that `write` puts into the file, for contents that are never in
// memory as a whole. `write` may read the file before it has its name. `write` is called again if
// the file system cannot name the file afterwards. If `write` throws, nothing is replaced. Throws
// Error(kInvalidArgument) if `options` request shards.
void WriteFileAtomicallyBy(const std::filesystem::path& path,
                           FunctionRef<void(os::TemporaryFile&)> write,
                           const SaveOptions& options = {});

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_ATOMIC_FILE_H_
