// Checks the outputs of a job before the job runs.
#ifndef TAMIS_TOOLS_OUTPUT_OUTPUT_FILE_H_
#define TAMIS_TOOLS_OUTPUT_OUTPUT_FILE_H_

#include <tamis/file/file.h>
#include <tamis/filters/filter.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/options/command_line.h"

namespace tamis::tools {

// The help of the flag --replace-read-only, which sets SaveOptions::replace_read_only.
inline constexpr char kReplaceReadOnlyHelp[] = "replace the output even if it is read-only";

// Adds --shard, which sets SaveOptions::shard_bytes.
void AddShard(const CommandLine& command, SaveOptions& options);

// Throws the errors of RequireSavable, and Error(kInvalidArgument) if `path` is "" or "-".
void CheckOutputPath(const std::string& path, const SaveOptions& options = {}, uint64_t bytes = 1);

// Throws Error(kInvalidArgument) if `path` is the same regular file as one of `inputs`, whatever
// its name. "-" among `inputs` is standard input.
void CheckNotAnInput(const std::string& path, const std::vector<std::string>& inputs);
// Makes the same check for each of `paths`. Takes O(paths + inputs) calls of the system.
void CheckNoneIsAnInput(const std::vector<std::string>& paths,
                        const std::vector<std::string>& inputs);
// Makes the same check for standard output, because a job that reads the file it appends to would
// never end.
void CheckStandardOutputIsNoInput(const std::vector<std::string>& inputs);
// Throws Error(kInvalidArgument) if standard output is the file at `path`, which the job replaces
// or writes itself.
void CheckStandardOutputIsNot(const std::string& path);

// Locks the file at `path` if it is the same file as one of `inputs`, and returns nullptr
// otherwise. Must be called before the inputs are read. Throws Error(kBusy).
std::unique_ptr<const FileLock> LockIfInput(const std::string& path,
                                            const std::vector<std::string>& inputs);

// Records that the output is saved. If the process fails from now on, its exit status is kSaved.
void OutputIsSaved() noexcept;
bool IsOutputSaved() noexcept;  // a signal handler may call it

// Saves the filter, with a notice on a terminal. Then calls OutputIsSaved.
void SaveFilter(const Filter& filter, const std::string& path, bool quiet,
                const SaveOptions& options = {});

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OUTPUT_OUTPUT_FILE_H_
