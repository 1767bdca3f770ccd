#include "core/src/file/atomic_file.h"

#include "core/src/os/file.h"
#include "core/src/os/path_text.h"
#include "core/src/os/save_target.h"
#include "core/src/os/temporary_file.h"
#include "tamis/error.h"
#include "tamis/file/saving.h"

namespace tamis {
namespace detail {
namespace {

namespace fs = std::filesystem;

// Returns false, with nothing done, if the file was made without a name and cannot be given a name.
bool TryWrite(const os::SaveTarget& target, FunctionRef<void(os::TemporaryFile&)> write,
              const SaveOptions& options, os::TemporaryFile::Name name) {
  os::TemporaryFile file(target, name);
  write(file);
  file.Synchronize();
  if (!file.GiveName()) return false;
  if (options.lock != nullptr) options.lock->RequireUnchanged();
  if (options.only_new) {
    file.BecomeNewTarget();
  } else {
    file.ReplaceTarget();
  }
  file.SynchronizeName();  // so that the new name survives a power failure
  return true;
}

}  // namespace

void WriteFileAtomicallyBy(const fs::path& path, FunctionRef<void(os::TemporaryFile&)> write,
                           const SaveOptions& options) {
  const os::SaveTarget target(path, options.replace_read_only);
  if (TryWrite(target, write, options, os::TemporaryFile::Name::kLater)) return;
  TryWrite(target, write, options, os::TemporaryFile::Name::kNow);
}

void WriteFileAtomically(const fs::path& path, std::span<const std::span<const std::byte>> parts,
                         const SaveOptions& options) {
  const auto write = [&](os::TemporaryFile& file) {
    for (const std::span<const std::byte> part : parts) file.Write(part);
  };
  WriteFileAtomicallyBy(path, write, options);
}

}  // namespace detail

void RemoveTemporaryFiles() noexcept { os::RemoveTemporaryFiles(); }

void RequireSavable(const std::filesystem::path& path, const SaveOptions& options) {
  const os::SaveTarget target(path, options.replace_read_only);
  target.RequireDirectoryWritable();
  if (options.only_new && os::StatusOf(target.path())) {
    throw Error(ErrorCode::kBusy, os::TextOf(path) + ": it exists, and must be a new file");
  }
  if (options.lock != nullptr) options.lock->RequireUnchanged();
}

}  // namespace tamis
