// Checks before a file is saved, and the end of a process during a save.
#ifndef TAMIS_FILE_SAVING_H_
#define TAMIS_FILE_SAVING_H_

#include <filesystem>

#include "tamis/file/file.h"

namespace tamis {

// Throws the errors of saving to `path` that can be found without writing: for jobs that take long
// before they save.
void RequireSavable(const std::filesystem::path& path, const SaveOptions& options = {});

// Removes the temporary files of saves that are under way in this process. Only for a process that
// a signal is about to end: a signal handler may call it. There is rarely such a file if the file
// system has files without names, because Save then uses these.
void RemoveTemporaryFiles() noexcept;

}  // namespace tamis

#endif  // TAMIS_FILE_SAVING_H_
