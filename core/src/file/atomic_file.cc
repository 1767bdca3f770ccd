#include "core/src/file/atomic_file.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "core/src/file/posix_file.h"
#include "core/src/file/save_target.h"
#include "core/src/file/temporary_file.h"
#include "tamis/file/saving.h"

namespace tamis {
namespace detail {
namespace {

namespace fs = std::filesystem;

// Returns false, with nothing done, if the file was made without a name and cannot be given one.
bool TryWrite(const SaveTarget& target, FunctionRef<void(TemporaryFile&)> write,
              const SaveOptions& options, TemporaryFile::Name name) {
  TemporaryFile file(target, name);
  target.KeepPermissions(file.fd());
  write(file);
  if (!Synchronize(file.fd())) ThrowIoError(target.path(), "synchronize");
  if (!file.GiveName()) return false;
  if (options.lock != nullptr) options.lock->RequireUnchanged();
  if (options.only_new) {
    file.BecomeNewTarget();
  } else {
    file.ReplaceTarget();
  }
  // Synchronized so that the new name survives a power failure.
  if (!target.SynchronizeDirectory(file.fd())) {
    const int error = errno;
    throw Error(ErrorCode::kNotDurable,
                target.path().string() +
                    ": saved, but not known to be durable: cannot synchronize the directory: " +
                    std::generic_category().message(error));
  }
  return true;
}

}  // namespace

void WriteFileAtomicallyBy(const fs::path& path, FunctionRef<void(TemporaryFile&)> write,
                           const SaveOptions& options) {
  const SaveTarget target(path, options);
  if (TryWrite(target, write, options, TemporaryFile::Name::kLater)) return;
  TryWrite(target, write, options, TemporaryFile::Name::kNow);
}

void WriteFileAtomically(const fs::path& path, std::span<const std::span<const std::byte>> parts,
                         const SaveOptions& options) {
  const auto write = [&](TemporaryFile& file) {
    for (const std::span<const std::byte> part : parts) file.Write(part);
  };
  WriteFileAtomicallyBy(path, write, options);
}

}  // namespace detail

void RequireSavable(const std::filesystem::path& path, const SaveOptions& options) {
  detail::SaveTarget(path, options).RequireDirectoryWritable();
}

}  // namespace tamis
