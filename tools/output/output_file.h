// Checks on what a job will write to, made before the job.
#ifndef TAMIS_TOOLS_OUTPUT_OUTPUT_FILE_H_
#define TAMIS_TOOLS_OUTPUT_OUTPUT_FILE_H_

#include <tamis/file/file.h>
#include <tamis/filters/filter.h>

#include <memory>
#include <string>
#include <vector>

namespace tamis::tools {

// The help of the flag --replace-read-only, which sets SaveOptions::replace_read_only.
inline constexpr char kReplaceReadOnlyHelp[] = "replace the output also if it is read-only";

// Throws Error(kIo) if a file cannot be saved at `path`, as far as can be told without trying.
void CheckOutputPath(const std::string& path, const SaveOptions& options = {});

// Throws Error(kInvalidArgument) if `path` is the same regular file as one of `inputs`, whatever
// its name; "-" among these is standard input.
void CheckNotAnInput(const std::string& path, const std::vector<std::string>& inputs);
// The same for standard output: a file that it is appended to would be read without end.
void CheckStandardOutputIsNoInput(const std::vector<std::string>& inputs);
// The same if standard output is the file at `path`, which the job replaces or writes to by itself.
void CheckStandardOutputIsNot(const std::string& path);

// The lock on the file at `path` if it is the same file as one of `inputs`, nullptr if not: to be
// taken before they are read. Throws Error(kBusy).
std::unique_ptr<const FileLock> LockIfInput(const std::string& path,
                                            const std::vector<std::string>& inputs);

// From now on what fails is the report on what this process has saved, and its exit status kSaved.
void OutputIsSaved() noexcept;
bool IsOutputSaved() noexcept;  // a signal handler may call it

// Saves, with a notice for those who watch a terminal. Then OutputIsSaved.
void SaveFilter(const Filter& filter, const std::string& path, bool quiet,
                const SaveOptions& options = {});

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_OUTPUT_FILE_H_
