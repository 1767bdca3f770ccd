#include "core/src/file/atomic_file.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "core/src/file/shards.h"
#include "core/src/os/file.h"
#include "core/src/os/path_text.h"
#include "core/src/os/process.h"
#include "core/src/os/save_target.h"
#include "core/src/os/temporary_file.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/saving.h"

namespace tamis {
namespace detail {
namespace {

namespace fs = std::filesystem;

using Parts = std::span<const std::span<const std::byte>>;
// One file, or all shards of a file in order.
using Targets = std::deque<os::SaveTarget>;
// Writes the contents of target `i` to `file`.
using WriteTarget = FunctionRef<void(size_t i, os::TemporaryFile& file)>;

[[noreturn]] void Refuse(const fs::path& path, ErrorCode code, const std::string& problem) {
  throw Error(code, os::TextOf(path) + ": " + problem);
}

// Gives the files their names: the first file last, and the others in order, so that a later save
// finds what a crash leaves before it starts. Before it throws, it removes the files that already
// have their names.
void BecomeNewTargets(const Targets& targets, std::deque<os::TemporaryFile>& files) {
  size_t named = 1;
  try {
    for (; named < files.size(); ++named) files[named].BecomeNewTarget();
    files.front().BecomeNewTarget();
  } catch (...) {
    std::error_code ignored;
    for (size_t i = 1; i < named; ++i) fs::remove(targets[i].path(), ignored);
    throw;
  }
}

// Returns false, with nothing done, if a file was made without a name and cannot be given a name.
bool TryWrite(const Targets& targets, WriteTarget write, const SaveOptions& options,
              os::TemporaryFile::Name name) {
  std::deque<os::TemporaryFile> files;
  for (const os::SaveTarget& target : targets) {
    os::TemporaryFile& file = files.emplace_back(target, name);
    write(files.size() - 1, file);
    file.Synchronize();
  }
  for (os::TemporaryFile& file : files) {
    if (!file.GiveName()) return false;
  }
  if (options.lock != nullptr) options.lock->RequireUnchanged();
  if (options.only_new || options.shard_bytes != 0) {
    BecomeNewTargets(targets, files);
  } else {
    files.front().ReplaceTarget();
  }
  // The new names must survive a power failure.
  for (os::TemporaryFile& file : files) file.SynchronizeName();
  return true;
}

void Write(const Targets& targets, WriteTarget write, const SaveOptions& options) {
  if (TryWrite(targets, write, options, os::TemporaryFile::Name::kLater)) return;
  TryWrite(targets, write, options, os::TemporaryFile::Name::kNow);
}

// Throws if one file at `path` would damage a filter that is saved in shards.
void RequireOutsideShards(const fs::path& path) {
  if (const std::optional<ShardSet> set = FindShardSet(path)) {
    Refuse(path, ErrorCode::kInvalidArgument,
           StrCat("one file under this name would damage the ", set->count, " shards of ",
                  os::TextOf(set->first), "; save under another name"));
  }
}

// Files that a process has open besides the shards: standard streams, libraries, inputs.
constexpr uint64_t kOtherFiles = 16;

// Checks what SaveOptions requires of a file in `n` shards. Returns their paths.
std::vector<fs::path> RequireShardable(const fs::path& first, uint64_t n,
                                       const SaveOptions& options) {
  if (options.shard_bytes % kShardUnit != 0) {
    Refuse(first, ErrorCode::kInvalidArgument,
           StrCat("the length of a shard is ", options.shard_bytes,
                  " bytes, must be a multiple of ", kShardUnit));
  }
  if (!NamesFirstShard(first)) {
    Refuse(first, ErrorCode::kInvalidArgument,
           "the name of the first shard must have the form NAME.0000");
  }
  if (n > kMaxShards) {
    Refuse(first, ErrorCode::kInvalidArgument,
           StrCat("the filter would have ", n, " shards of ", options.shard_bytes,
                  " bytes; allowed: ", kMaxShards));
  }
  if (const uint64_t most = os::MaxOpenFiles(); n > 1 && n + kOtherFiles > most) {
    Refuse(first, ErrorCode::kInvalidArgument,
           StrCat("the filter would have ", n, " shards of ", options.shard_bytes,
                  " bytes, which are all open while it is saved or opened; this process may have ",
                  most, " files open (see `ulimit -n`), ", kOtherFiles, " of them for other uses"));
  }
  std::vector<fs::path> paths;
  for (uint64_t i = 0; i < n; ++i) paths.push_back(ShardPath(first, i));
  // A file after the last shard would be a surplus shard.
  for (uint64_t i = 0; i < std::min(n + 1, kMaxShards); ++i) {
    if (const fs::path path = ShardPath(first, i); os::StatusOf(path)) {
      Refuse(path, ErrorCode::kBusy, "it exists, and all shards must be new files");
    }
  }
  return paths;
}

// Writes bytes [begin, end) of the parts, which follow one another.
void WriteRange(os::TemporaryFile& file, Parts parts, uint64_t begin, uint64_t end) {
  for (const std::span<const std::byte> part : parts) {
    const uint64_t from = std::min<uint64_t>(begin, part.size());
    const uint64_t to = std::min<uint64_t>(end, part.size());
    file.Write(part.subspan(from, to - from));
    begin -= from;
    end -= to;
  }
}

}  // namespace

void WriteFileAtomicallyBy(const fs::path& path, FunctionRef<void(os::TemporaryFile&)> write,
                           const SaveOptions& options) {
  if (options.shard_bytes != 0) {
    Refuse(path, ErrorCode::kInvalidArgument, "only files of tamis can be saved in shards");
  }
  RequireOutsideShards(path);
  Targets targets;
  targets.emplace_back(path, options.replace_read_only);
  Write(
      targets, [&](size_t, os::TemporaryFile& file) { write(file); }, options);
}

void WriteFileAtomically(const fs::path& path, Parts parts, const SaveOptions& options) {
  uint64_t bytes = 0;
  for (const std::span<const std::byte> part : parts) bytes += part.size();
  std::vector<fs::path> paths = {path};
  uint64_t of_file = bytes;
  if (options.shard_bytes != 0) {
    of_file = options.shard_bytes;
    paths = RequireShardable(path, NumShards(bytes, of_file), options);
  } else {
    RequireOutsideShards(path);
  }
  Targets targets;
  for (const fs::path& name : paths) {
    const os::SaveTarget* const beside = targets.empty() ? nullptr : &targets.front();
    targets.emplace_back(name, options.replace_read_only, beside);
  }
  const auto write = [&](size_t i, os::TemporaryFile& file) {
    WriteRange(file, parts, i * of_file, std::min(bytes, (i + 1) * of_file));
  };
  Write(targets, write, options);
}

}  // namespace detail

void RemoveTemporaryFiles() noexcept { os::RemoveTemporaryFiles(); }

void RequireSavable(const std::filesystem::path& path, const SaveOptions& options, uint64_t bytes) {
  const os::SaveTarget target(path, options.replace_read_only);
  target.RequireDirectoryWritable();
  if (options.shard_bytes != 0) {
    detail::RequireShardable(path, detail::NumShards(bytes, options.shard_bytes), options);
  } else {
    detail::RequireOutsideShards(path);
  }
  if (options.only_new && os::StatusOf(target.path())) {
    throw Error(ErrorCode::kBusy, os::TextOf(path) + ": it exists, and must be a new file");
  }
  if (options.lock != nullptr) options.lock->RequireUnchanged();
}

}  // namespace tamis
