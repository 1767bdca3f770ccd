#include "core/src/file/temporary_file.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace tamis::detail {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxWrite = size_t{1}
                             << 30;  // more than one call can write: INT_MAX on some systems

std::string DescriptorPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace

TemporaryFile::TemporaryFile(const SaveTarget& target) : target_(target), fd_(Create()) {
  if (fd() < 0) ThrowIoError(target.path(), "create a temporary file beside it");
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) unlinkat(target_.directory(), name_.c_str(), 0);
}

void TemporaryFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t wanted = std::min(bytes.size(), kMaxWrite);
    const ssize_t n = Retry([&] { return write(fd(), bytes.data(), wanted); });
    if (n < 0) ThrowIoError(target_.path(), "write");
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

// Where there are files without names, one of these, of which nothing remains when the process is
// killed. It can only be named through /proc, which need not be there.
int TemporaryFile::Create() {
#ifdef O_TMPFILE
  const int fd = Retry([&] {
    return openat(target_.directory(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC,
                  target_.mode_of_new_file());
  });
  if (fd >= 0 && access(DescriptorPath(fd).c_str(), F_OK) == 0) return fd;
  if (fd >= 0) close(fd);
#endif
  return CreateNamed();
}

// Not mkostemp, whose files are private to the user.
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

void TemporaryFile::RenameToTarget() {
  const int directory = target_.directory();
  if (renameat(directory, name_.c_str(), directory, target_.name().c_str()) != 0) {
    ThrowIoError(target_.path(), "rename the temporary file to it");
  }
  name_.clear();
}

// Acts with a name that no other file has. It does not contain that of the target, which may be as
// long as names can be.
template <typename Act>
int TemporaryFile::WithNewName(const Act& act) {
  int result = -1;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    name_ = ".tamis-" + std::to_string(getpid()) + "-" + std::to_string(now) + ".tmp";
    result = Retry(act);
    if (result >= 0 || errno != EEXIST) break;
  }
  if (result < 0) name_.clear();
  return result;
}

}  // namespace tamis::detail
