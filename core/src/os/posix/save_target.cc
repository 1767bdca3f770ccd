#include "core/src/os/save_target.h"

#ifdef __linux__
#include <sys/xattr.h>
#endif

#include <string>
#include <vector>

#include "core/src/os/io_error.h"
#include "core/src/os/path_text.h"
#include "core/src/os/posix/save_target_state.h"

namespace tamis::os {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // the same number as in Linux
constexpr int kMaxTries = 100;

[[noreturn]] void Refuse(const fs::path& path, const std::string& why) {
  throw Error(ErrorCode::kIo, TextOf(path) + ": cannot write: " + why);
}

// Returns the status of the file at `path`. The system follows links, because it has rules about
// which links may be followed.
std::optional<struct stat> TargetStatus(const fs::path& path) {
  if (!path.has_filename()) ThrowIoError(path, "write", path.empty() ? ENOENT : EISDIR);
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) ThrowIoError(path, "write");
    return std::nullopt;
  }
  if (S_ISDIR(status.st_mode)) ThrowIoError(path, "write", EISDIR);
  if (!S_ISREG(status.st_mode)) Refuse(path, "not a regular file");
  return status;
}

// Returns the name at which the links end, or nothing if it is not the name of `found`, the file
// that the system found there.
std::optional<fs::path> FollowLinks(const fs::path& path, const std::optional<struct stat>& found) {
  fs::path target = path;
  struct stat status;
  int error = lstat(target.c_str(), &status);
  for (int links = 0; error == 0 && S_ISLNK(status.st_mode); ++links) {
    if (links == kMaxLinks) ThrowIoError(path, "write", ELOOP);
    std::error_code unread;
    const fs::path next = fs::read_symlink(target, unread);
    if (unread) ThrowIoError(target, "read the link", unread.value());
    target = target.parent_path() / next;
    error = lstat(target.c_str(), &status);
  }
  if (!target.has_filename()) ThrowIoError(path, "write", EISDIR);
  if (error != 0 && errno != ENOENT) ThrowIoError(path, "write");
  const bool same = error == 0
                        ? found && status.st_dev == found->st_dev && status.st_ino == found->st_ino
                        : !found;
  if (!same) return std::nullopt;
  return target;
}

fs::path TargetOf(const fs::path& path) {
  // Another program may save a file there between the two calls.
  for (int i = 0; i < kMaxTries; ++i) {
    if (const std::optional<fs::path> target = FollowLinks(path, TargetStatus(path)))
      return *target;
  }
  Refuse(path, "the target of its links keeps changing, or has no name");
}

bool IsReadOnly(const fs::path& path, const struct stat& status) {
  // Root may write whatever the mode is. So a mode without write permission was set on purpose.
  if ((status.st_mode & 0222) == 0) return true;
  return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0 &&
         (errno == EACCES || errno == EPERM);
}

fs::path DirectoryOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

int OpenDirectory(const fs::path& directory, bool& readable) {
  const auto open_for = [&](int access) {
    return Retry([&] { return open(directory.c_str(), access | O_DIRECTORY | O_CLOEXEC); });
  };
  int fd = open_for(O_RDONLY);
  readable = fd >= 0;
#ifdef O_PATH
  // Files can be made in a directory that cannot be listed.
  if (fd < 0 && errno == EACCES) fd = open_for(O_PATH);
#endif
  if (fd < 0) ThrowIoError(directory, "open the directory");
  return fd;
}

}  // namespace

mode_t KeptMode(mode_t mode, bool same_owner, bool same_group) {
  const mode_t owner = (mode >> 6) & 7;
  mode_t group = (mode >> 3) & 7, other = mode & 7;
  if (!same_group) group = other = group & other;  // members of one class are now in the other
  if (!same_owner) {                               // the old owner is now in one of the two
    group &= owner;
    other &= owner;
  }
  return (owner << 6) | (group << 3) | other;
}

Directory::Directory(const fs::path& path) : fd(OpenDirectory(path, readable)) {}

SaveTarget::State::State(const fs::path& target, bool replace_read_only, const State* beside)
    : path(TargetOf(target)),
      open_directory(beside != nullptr && DirectoryOf(beside->path) == DirectoryOf(path)
                         ? beside->open_directory
                         : std::make_shared<const Directory>(DirectoryOf(path))),
      old(TargetStatus(path)) {
  if (old && !replace_read_only && IsReadOnly(path, *old)) {
    Refuse(path, "it is read-only, and replaced only on request");
  }
}

void SaveTarget::State::RequireDirectoryWritable() const {
  const fs::path directory = DirectoryOf(path);
  if (faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    ThrowIoError(directory, "make a file in the directory");
  }
  struct stat status;
  if (!old || stat(directory.c_str(), &status) != 0 || (status.st_mode & S_ISVTX) == 0) return;
  const uid_t user = geteuid();
  if (user != 0 && user != old->st_uid && user != status.st_uid) {
    Refuse(path, "it belongs to another user, and its directory lets only the owner replace it");
  }
}

void SaveTarget::State::KeepPermissions(int fd) const {
  if (!old) return;
  struct stat now;
  if (fstat(fd, &now) != 0) ThrowIoError(path, "read the status of the file that replaces it");
  bool same_owner = now.st_uid == old->st_uid;
  bool same_group = now.st_gid == old->st_gid;
  if (!same_owner || !same_group) {
    if (fchown(fd, old->st_uid, old->st_gid) == 0) {
      same_owner = same_group = true;
    } else if (!same_group) {
      same_group = fchown(fd, static_cast<uid_t>(-1), old->st_gid) == 0;
    }
  }
  mode_t mode = KeptMode(old->st_mode, same_owner, same_group);
  // With an access list, the bits of the group limit the permissions that the list gives to others.
  if (!KeepAccessList(fd, same_owner && same_group)) mode &= 0700;
  if (fchmod(fd, mode) != 0) ThrowIoError(path, "copy its permissions to the new file");
}

bool SaveTarget::State::KeepAccessList([[maybe_unused]] int fd,
                                       [[maybe_unused]] bool same_owner_and_group) const {
#ifdef __linux__
  constexpr char kList[] = "system.posix_acl_access";
  const ssize_t bytes = getxattr(path.c_str(), kList, nullptr, 0);
  if (bytes < 0) {  // no list, so the list that the directory gave is removed
    return fremovexattr(fd, kList) == 0 || errno == ENODATA || errno == EOPNOTSUPP ||
           errno == ENOSYS;
  }
  std::vector<char> list(static_cast<size_t>(bytes));
  return same_owner_and_group && getxattr(path.c_str(), kList, list.data(), list.size()) == bytes &&
         fsetxattr(fd, kList, list.data(), list.size(), 0) == 0;
#else
  return true;
#endif
}

bool SaveTarget::State::SynchronizeDirectory([[maybe_unused]] int fd) const {
#ifdef __linux__
  // A directory that cannot be read cannot be synchronized alone.
  if (!open_directory->readable) return syncfs(fd) == 0;
#endif
  // Some file systems cannot synchronize directories, and do not need to.
  return SynchronizeDescriptor(directory()) || errno == EINVAL || errno == ENOTSUP;
}

SaveTarget::SaveTarget(const fs::path& path, bool replace_read_only, const SaveTarget* beside)
    : state_(std::make_unique<const State>(path, replace_read_only,
                                           beside == nullptr ? nullptr : &beside->state())) {}

SaveTarget::~SaveTarget() = default;

const fs::path& SaveTarget::path() const noexcept { return state_->path; }

void SaveTarget::RequireDirectoryWritable() const { state_->RequireDirectoryWritable(); }

}  // namespace tamis::os
