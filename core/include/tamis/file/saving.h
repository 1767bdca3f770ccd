// Checks before a file is saved, and cleanup when a process ends during a save.
#ifndef TAMIS_FILE_SAVING_H_
#define TAMIS_FILE_SAVING_H_

#include <filesystem>

#include "tamis/file/file.h"

namespace tamis {

// Throws the errors of saving to `path` that can be found without writing. For jobs that run long
// before they save.
void RequireSavable(const std::filesystem::path& path, const SaveOptions& options = {});

// Removes the temporary files of saves that are in progress in this process. Only for a process
// that a signal is about to end: a signal handler may call it. If the file system supports files
// without names, Save uses them, and there is rarely anything to remove.
void RemoveTemporaryFiles() noexcept;

}  // namespace tamis

#endif  // TAMIS_FILE_SAVING_H_
