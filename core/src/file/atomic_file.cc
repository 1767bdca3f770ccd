#include "core/src/file/atomic_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "core/src/file/posix_file.h"

namespace tamis::detail {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxWrite = size_t{1}
                             << 30;  // more than one call can write: INT_MAX on some systems

// Waits until the file is on the disk.
bool Synchronize(int fd) {
#ifdef F_FULLFSYNC
  // Where fsync leaves data in the cache of the drive; not every file system has this.
  if (fcntl(fd, F_FULLFSYNC) == 0) return true;
#endif
  return Retry([&] { return fsync(fd); }) == 0;
}

// A new file in a directory, removed on destruction unless it has been given its final name.
class TemporaryFile {
 public:
  TemporaryFile(int directory, const fs::path& target)
      : directory_(directory), target_(target), fd_(Create()) {
    if (fd_.get() < 0) ThrowIoError(target, "create a temporary file beside it");
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!name_.empty() && !renamed_) unlinkat(directory_, name_.c_str(), 0);
  }

  void Write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const size_t wanted = std::min(bytes.size(), kMaxWrite);
      const ssize_t n = Retry([&] { return write(fd_.get(), bytes.data(), wanted); });
      if (n < 0) ThrowIoError(target_, "write");
      bytes = bytes.subspan(static_cast<size_t>(n));
    }
  }

  void RenameToTarget() {
    if (!Synchronize(fd_.get())) ThrowIoError(target_, "synchronize");
    if (name_.empty() && !GiveName()) ThrowIoError(target_, "name the temporary file beside it");
    if (renameat(directory_, name_.c_str(), directory_, target_.filename().c_str()) != 0) {
      ThrowIoError(target_, "rename the temporary file to it");
    }
    renamed_ = true;
  }

 private:
  // Where there are files without names, one of these: of a process that is killed nothing remains.
  int Create() {
#ifdef O_TMPFILE
    const int fd =
        Retry([&] { return openat(directory_, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666); });
    // It can only be named through /proc, which need not be there.
    if (fd >= 0 && access(DescriptorPath(fd).c_str(), F_OK) == 0) return fd;
    if (fd >= 0) close(fd);
#endif
    return CreateNamed();
  }

  // Not mkostemp, whose files are private to the user: mode 0666 lets umask and the default ACL of
  // the directory decide, as for any new file.
  int CreateNamed() {
    return WithNewName([&] {
      return openat(directory_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    });
  }

  bool GiveName() {
    const std::string path = DescriptorPath(fd_.get());
    const bool done =
        WithNewName([&] {
          return linkat(AT_FDCWD, path.c_str(), directory_, name_.c_str(), AT_SYMLINK_FOLLOW);
        }) == 0;
    if (!done) name_.clear();
    return done;
  }

  // Acts with a name that no other file has. It does not contain that of the target, which may be
  // as long as names can be.
  template <typename Act>
  int WithNewName(const Act& act) {
    int result = -1;
    for (int attempt = 0; attempt < 100; ++attempt) {
      const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
      name_ = ".tamis-" + std::to_string(getpid()) + "-" + std::to_string(now) + ".tmp";
      result = Retry(act);
      if (result >= 0 || errno != EEXIST) break;
    }
    return result;
  }

  static std::string DescriptorPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

  int directory_;
  const fs::path& target_;
  std::string name_;  // empty: the file has none yet
  Descriptor fd_;
  bool renamed_ = false;
};

// Only a regular file is replaced: a rename would take the place of /dev/null, too.
void RequireReplaceable(int directory, const fs::path& path) {
  struct stat status;
  if (fstatat(directory, path.filename().c_str(), &status, 0) != 0) return;
  if (S_ISDIR(status.st_mode)) ThrowIoError(path, "write", EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kIo, path.string() + ": cannot write: not a regular file");
  }
}

}  // namespace

void WriteFileAtomically(const fs::path& path, std::span<const std::span<const std::byte>> parts) {
  if (!path.has_filename()) ThrowIoError(path, "write", path.empty() ? ENOENT : EISDIR);
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const Descriptor directory(
      Retry([&] { return open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (directory.get() < 0) ThrowIoError(parent, "open the directory");
  RequireReplaceable(directory.get(), path);

  TemporaryFile file(directory.get(), path);
  for (const std::span<const std::byte> part : parts) file.Write(part);
  file.RenameToTarget();
  // So that the new name outlives a power cut; some file systems cannot and need not.
  if (!Synchronize(directory.get()) && errno != EINVAL && errno != ENOTSUP) {
    ThrowIoError(parent, "synchronize the directory");
  }
}

}  // namespace tamis::detail
