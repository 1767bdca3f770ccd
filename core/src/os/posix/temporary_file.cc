#include "core/src/os/temporary_file.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>

#include "core/src/os/io_error.h"
#include "core/src/os/path_text.h"
#include "core/src/os/posix/descriptor.h"
#include "core/src/os/posix/save_target_state.h"
#include "tamis/detail/str_cat.h"

namespace tamis::os {
namespace {

// The name of a temporary file, in a list that a signal handler can read. Objects are used again,
// and never destroyed.
class PendingName {
 public:
  // Returns nullptr if memory runs out, or if the name is too long.
  static PendingName* Add(int directory, const std::string& name) noexcept;
  // Only calls functions that a signal handler may call.
  static void RemoveAllFiles() noexcept;
  void Drop() noexcept {
    directory_.store(kNone);
    taken_.store(false);
  }

 private:
  static constexpr int kNone = -1;
  static std::atomic<PendingName*> first_;

  static PendingName* Take() noexcept;

  PendingName* next_ = nullptr;  // does not change once the object is in the list
  std::atomic<bool> taken_ = true;
  std::atomic<int> directory_ = kNone;  // if set, all other fields are complete
  pid_t process_ = 0;                   // a child of fork must not remove files of its parent
  char name_[64] = {};
};

constinit std::atomic<PendingName*> PendingName::first_ = nullptr;
static_assert(std::atomic<PendingName*>::is_always_lock_free);

PendingName* PendingName::Take() noexcept {
  for (PendingName* pending = first_.load(); pending != nullptr; pending = pending->next_) {
    if (!pending->taken_.load() && !pending->taken_.exchange(true)) return pending;
  }
  auto* const pending = new (std::nothrow) PendingName;
  if (pending == nullptr) return nullptr;
  pending->next_ = first_.load();
  while (!first_.compare_exchange_weak(pending->next_, pending)) {
  }
  return pending;
}

PendingName* PendingName::Add(int directory, const std::string& name) noexcept {
  if (name.size() >= sizeof(name_)) return nullptr;
  PendingName* const pending = Take();
  if (pending == nullptr) return nullptr;
  std::memcpy(pending->name_, name.c_str(), name.size() + 1);
  pending->process_ = getpid();
  pending->directory_.store(directory);
  return pending;
}

void PendingName::RemoveAllFiles() noexcept {
  const int error = errno;
  const pid_t process = getpid();
  for (const PendingName* pending = first_.load(); pending != nullptr; pending = pending->next_) {
    const int directory = pending->directory_.load();
    if (directory != kNone && pending->process_ == process) {
      unlinkat(directory, pending->name_, 0);
    }
  }
  errno = error;
}

namespace fs = std::filesystem;
using detail::StrCat;

constexpr size_t kMaxWrite = size_t{1} << 30;  // some systems refuse more than INT_MAX per call

std::string DescriptorPath(int fd) { return StrCat("/proc/self/fd/", fd); }

}  // namespace

struct TemporaryFile::State {
  State(const SaveTarget& save_target, Name when)
      : path(save_target.path()), target(save_target.state()), fd(Create(when)) {
    if (fd.get() < 0) ThrowIoError(path, "create a temporary file beside it");
  }
  ~State() {
    if (!name.empty()) unlinkat(target.directory(), name.c_str(), 0);
    Forget();
  }

  int Create(Name name);
  int CreateNamed();
  template <typename Act>
  int WithNewName(const Act& act);
  void Forget() noexcept;

  const fs::path& path;
  const SaveTarget::State& target;
  std::string name;  // empty if the file has no name yet
  PendingName* pending = nullptr;
  const Descriptor fd;
};

TemporaryFile::TemporaryFile(const SaveTarget& target, Name name)
    : state_(std::make_unique<State>(target, name)) {
  target.state().KeepPermissions(state_->fd.get());
}

TemporaryFile::~TemporaryFile() = default;

void TemporaryFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t wanted = std::min(bytes.size(), kMaxWrite);
    const ssize_t n = Retry([&] { return write(state_->fd.get(), bytes.data(), wanted); });
    if (n < 0) ThrowIoError(state_->path, "write");
    if (n == 0) ThrowIoError(state_->path, "write", EIO);  // the loop would never end
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

// A file without a name can only be opened and named through /proc.
fs::path TemporaryFile::readable_path() const {
  if (state_->name.empty()) return DescriptorPath(state_->fd.get());
  return state_->path.parent_path() / state_->name;
}

void TemporaryFile::Synchronize() {
  if (!SynchronizeDescriptor(state_->fd.get())) ThrowIoError(state_->path, "synchronize");
}

int TemporaryFile::State::Create([[maybe_unused]] Name when) {
#ifdef O_TMPFILE
  if (when == Name::kLater) {
    const int made = Retry([&] {
      return openat(target.directory(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC,
                    target.mode_of_new_file());
    });
    if (made >= 0 && access(DescriptorPath(made).c_str(), F_OK) == 0) return made;
    if (made >= 0) close(made);
  }
#endif
  return CreateNamed();
}

// Does not use mkostemp, which makes files that only the user can access.
int TemporaryFile::State::CreateNamed() {
  return WithNewName([&] {
    return openat(target.directory(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  target.mode_of_new_file());
  });
}

bool TemporaryFile::GiveName() {
  if (!state_->name.empty()) return true;
  const std::string path = DescriptorPath(state_->fd.get());
  return state_->WithNewName([&] {
    return linkat(AT_FDCWD, path.c_str(), state_->target.directory(), state_->name.c_str(),
                  AT_SYMLINK_FOLLOW);
  }) == 0;
}

void TemporaryFile::BecomeNewTarget() {
  const int directory = state_->target.directory();
  const char* const from = state_->name.c_str();
  const std::string target = state_->target.name();
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
  if (result != 0 && errno == EEXIST) ThrowTargetExists(state_->path);
  if (result != 0) ThrowIoError(state_->path, "give its name to the temporary file");
  state_->Forget();
}

void TemporaryFile::ReplaceTarget() {
  const int directory = state_->target.directory();
  if (renameat(directory, state_->name.c_str(), directory, state_->target.name().c_str()) != 0) {
    ThrowIoError(state_->path, "rename the temporary file to it");
  }
  state_->Forget();
}

void TemporaryFile::SynchronizeName() {
  if (state_->target.SynchronizeDirectory(state_->fd.get())) return;
  const int error = errno;
  throw Error(ErrorCode::kNotDurable,
              TextOf(state_->path) +
                  ": saved, but not known to be durable: cannot synchronize the directory: " +
                  std::generic_category().message(error));
}

// Calls `act` with a name that no other file has. The name does not contain the name of the target,
// which may have the maximum length.
template <typename Act>
int TemporaryFile::State::WithNewName(const Act& act) {
  int result = -1;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    name = StrCat(".tamis-", getpid(), "-", now, ".tmp");
    // Before the file has the name: a signal may come right after that.
    pending = PendingName::Add(target.directory(), name);
    result = Retry(act);
    if (result >= 0) break;
    Forget();
    if (errno != EEXIST) break;
  }
  return result;
}

void TemporaryFile::State::Forget() noexcept {
  if (pending != nullptr) pending->Drop();
  pending = nullptr;
  name.clear();
}

void RemoveTemporaryFiles() noexcept { PendingName::RemoveAllFiles(); }

}  // namespace tamis::os
