#include "tools/output/output_file.h"

#include <tamis/error.h>
#include <tamis/file/file_checks.h>
#include <tamis/file/saving.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "tools/options/parse.h"
#include "tools/os/file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

std::atomic<bool> output_is_saved = false;  // a signal handler may read it
static_assert(std::atomic<bool>::is_always_lock_free);

// Finds the inputs that are the same file as an output.
class InputFiles {
 public:
  // The paths must outlive the object. A file that does not exist is not an input. All shards of a
  // filter are inputs if the first is.
  explicit InputFiles(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      Add(path == "-" ? os::StatusOf(os::kStandardInput) : os::StatusOf(path), path);
      const std::vector<std::filesystem::path> files = ShardsOf(path);  // the first is `path`
      for (size_t i = 1; i < files.size(); ++i) Add(os::StatusOf(files[i].string()), path);
    }
  }

  // Returns the path of an input, or nullptr. A device or a pipe may be both input and output.
  const std::string* Find(const os::FileStatus& output) const {
    if (output.type != os::FileType::kRegular) return nullptr;
    const auto [begin, end] = files_.equal_range(output.number);
    for (auto i = begin; i != end; ++i) {
      if (i->second.first.IsSameFileAs(output)) return i->second.second;
    }
    return nullptr;
  }

 private:
  void Add(const std::optional<os::FileStatus>& status, const std::string& path) {
    if (status) files_.emplace(status->number, std::pair(*status, &path));
  }

  std::multimap<uint64_t, std::pair<os::FileStatus, const std::string*>> files_;  // by number
};

void RefuseAnInput(const std::string& name, const os::FileStatus& output,
                   const InputFiles& inputs) {
  if (const std::string* const path = inputs.Find(output)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the output " + name + " is also an input" + (*path == name ? "" : ", " + *path));
  }
}

}  // namespace

void AddShard(const CommandLine& command, SaveOptions& options) {
  command
      .Add("--shard", options.shard_bytes, ParseBytes,
           "save files of this size, such as 64G; FILE must be NAME.0000")
      .Type("SIZE");
}

void CheckOutputPath(const std::string& path, const SaveOptions& options, uint64_t bytes) {
  if (path.empty() || path == "-") {
    throw Error(ErrorCode::kInvalidArgument,
                (path.empty() ? "the name of a filter is empty"
                              : "a filter cannot be written to standard output (./- is a file)"));
  }
  RequireSavable(path, options, bytes);
}

void CheckNotAnInput(const std::string& path, const std::vector<std::string>& inputs) {
  CheckNoneIsAnInput({path}, inputs);
}

void CheckNoneIsAnInput(const std::vector<std::string>& paths,
                        const std::vector<std::string>& inputs) {
  const InputFiles files(inputs);
  for (const std::string& path : paths) {
    if (const auto output = os::StatusOf(path)) RefuseAnInput(path, *output, files);
  }
}

void CheckStandardOutputIsNoInput(const std::vector<std::string>& inputs) {
  const auto output = os::StatusOf(os::kStandardOutput);
  if (output) RefuseAnInput("(standard output)", *output, InputFiles(inputs));
}

void CheckStandardOutputIsNot(const std::string& path) {
  const auto output = os::StatusOf(os::kStandardOutput);
  if (output && InputFiles({path}).Find(*output) != nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "the output " + path + " is also standard output");
  }
}

std::unique_ptr<const FileLock> LockIfInput(const std::string& path,
                                            const std::vector<std::string>& inputs) {
  const auto output = os::StatusOf(path);
  if (!output || InputFiles(inputs).Find(*output) == nullptr) return nullptr;
  return std::make_unique<const FileLock>(path);
}

void OutputIsSaved() noexcept { output_is_saved = true; }
bool IsOutputSaved() noexcept { return output_is_saved; }

void SaveFilter(const Filter& filter, const std::string& path, bool quiet,
                const SaveOptions& options) {
  const Notice notice("saving " + path + " ...", quiet);
  filter.Save(path, options);
  OutputIsSaved();
}

}  // namespace tamis::tools
