// Checks before a file is saved, and cleanup when a process ends during a save.
#ifndef TAMIS_FILE_SAVING_H_
#define TAMIS_FILE_SAVING_H_

#include <cstdint>
#include <filesystem>

#include "tamis/file/file.h"

namespace tamis {

// Throws the errors of saving to `path` that can be found without writing. Call this before a long
// job that ends with a save. `bytes`, at least 1, is a lower bound for the size of the file: with
// SaveOptions::shard_bytes, it shows whether there would be too many shards.
void RequireSavable(const std::filesystem::path& path, const SaveOptions& options = {},
                    uint64_t bytes = 1);

// Removes the temporary files of saves that are in progress in this process. Call this only when a
// signal is about to end the process; it is safe in a signal handler. On file systems that support
// files without names, Save writes to such a file, so there is rarely a file to remove.
void RemoveTemporaryFiles() noexcept;

}  // namespace tamis

#endif  // TAMIS_FILE_SAVING_H_
