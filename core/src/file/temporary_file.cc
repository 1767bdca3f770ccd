#include "core/src/file/temporary_file.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "tamis/detail/str_cat.h"
#include "tamis/file/saving.h"

namespace tamis {
namespace detail {

// The name of a temporary file, in a form that a signal handler can read.
class PendingName {
 public:
  // Returns nullptr if there are too many names, or if the name is too long.
  static PendingName* Add(int directory, const std::string& name) noexcept;
  // Only calls functions that a signal handler may call.
  static void RemoveAllFiles() noexcept;
  void Drop() noexcept {
    directory_.store(kNone);
    taken_.store(false);
  }

 private:
  static constexpr int kNone = -1;
  static PendingName all_[16];

  std::atomic<bool> taken_ = false;
  std::atomic<int> directory_ = kNone;  // if set, all other fields are complete
  pid_t process_ = 0;                   // a child of fork must not remove files of its parent
  char name_[64] = {};
};

constinit PendingName PendingName::all_[16];

PendingName* PendingName::Add(int directory, const std::string& name) noexcept {
  if (name.size() >= sizeof(name_)) return nullptr;
  for (PendingName& pending : all_) {
    if (pending.taken_.exchange(true)) continue;
    std::memcpy(pending.name_, name.c_str(), name.size() + 1);
    pending.process_ = getpid();
    pending.directory_.store(directory);
    return &pending;
  }
  return nullptr;
}

void PendingName::RemoveAllFiles() noexcept {
  const int error = errno;
  for (const PendingName& pending : all_) {
    const int directory = pending.directory_.load();
    if (directory != kNone && pending.process_ == getpid()) unlinkat(directory, pending.name_, 0);
  }
  errno = error;
}

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxWrite = size_t{1}
                             << 30;  // more than one call can write: INT_MAX on some systems

std::string DescriptorPath(int fd) { return StrCat("/proc/self/fd/", fd); }

}  // namespace

TemporaryFile::TemporaryFile(const SaveTarget& target, Name name)
    : target_(target), fd_(Create(name)) {
  if (fd() < 0) ThrowIoError(target.path(), "create a temporary file beside it");
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) unlinkat(target_.directory(), name_.c_str(), 0);
  Forget();
}

void TemporaryFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t wanted = std::min(bytes.size(), kMaxWrite);
    const ssize_t n = Retry([&] { return write(fd(), bytes.data(), wanted); });
    if (n < 0) ThrowIoError(target_.path(), "write");
    if (n == 0) ThrowIoError(target_.path(), "write", EIO);  // the loop would never end
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

fs::path TemporaryFile::readable_path() const {
  return name_.empty() ? fs::path(DescriptorPath(fd())) : target_.path().parent_path() / name_;
}

int TemporaryFile::Create([[maybe_unused]] Name name) {
#ifdef O_TMPFILE
  if (name == Name::kLater) {
    const int fd = Retry([&] {
      return openat(target_.directory(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC,
                    target_.mode_of_new_file());
    });
    if (fd >= 0 && access(DescriptorPath(fd).c_str(), F_OK) == 0) return fd;
    if (fd >= 0) close(fd);
  }
#endif
  return CreateNamed();
}

// Does not use mkostemp, which makes files that only the user can access.
int TemporaryFile::CreateNamed() {
  return WithNewName([&] {
    return openat(target_.directory(), name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  target_.mode_of_new_file());
  });
}

bool TemporaryFile::GiveName() {
  if (!name_.empty()) return true;
  const std::string path = DescriptorPath(fd());
  return WithNewName([&] {
           return linkat(AT_FDCWD, path.c_str(), target_.directory(), name_.c_str(),
                         AT_SYMLINK_FOLLOW);
         }) == 0;
}

void TemporaryFile::BecomeNewTarget() {
  const int directory = target_.directory();
  const char* const from = name_.c_str();
  const fs::path target = target_.name();
  const char* const to = target.c_str();
  // A link never replaces a file. Some file systems have no links, but can rename without
  // replacing. If neither works, another program may make the file between the check and the
  // rename.
  int result = linkat(directory, from, directory, to, 0);
  if (result == 0) unlinkat(directory, from, 0);
#ifdef RENAME_NOREPLACE
  if (result != 0 && errno != EEXIST) {
    result = renameat2(directory, from, directory, to, RENAME_NOREPLACE);
  }
#endif
  if (result != 0 && errno != EEXIST) {
    if (faccessat(directory, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
      errno = EEXIST;
    } else {
      result = renameat(directory, from, directory, to);
    }
  }
  if (result != 0 && errno == EEXIST) {
    throw Error(ErrorCode::kBusy,
                target_.path().string() + ": it has been made in the meantime; nothing was saved");
  }
  if (result != 0) ThrowIoError(target_.path(), "give its name to the temporary file");
  Forget();
}

void TemporaryFile::ReplaceTarget() {
  const int directory = target_.directory();
  if (renameat(directory, name_.c_str(), directory, target_.name().c_str()) != 0) {
    ThrowIoError(target_.path(), "rename the temporary file to it");
  }
  Forget();
}

// Calls `act` with a name that no other file has. The name does not contain the name of the target,
// which may have the maximum length.
template <typename Act>
int TemporaryFile::WithNewName(const Act& act) {
  int result = -1;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    name_ = StrCat(".tamis-", getpid(), "-", now, ".tmp");
    result = Retry(act);
    if (result >= 0 || errno != EEXIST) break;
  }
  if (result < 0) {
    name_.clear();
  } else {
    pending_ = PendingName::Add(target_.directory(), name_);
  }
  return result;
}

void TemporaryFile::Forget() noexcept {
  if (pending_ != nullptr) pending_->Drop();
  pending_ = nullptr;
  name_.clear();
}

}  // namespace detail

void RemoveTemporaryFiles() noexcept { detail::PendingName::RemoveAllFiles(); }

}  // namespace tamis
