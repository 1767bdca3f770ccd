#include "core/src/os/temporary_file.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "core/src/os/io_error.h"
#include "core/src/os/path_text.h"
#include "core/src/os/windows/save_target_state.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::os {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxWrite = size_t{1} << 30;
constexpr int kMaxAttempts = 100;

// The files that RemoveTemporaryFiles removes. Windows calls handlers of signals and of the console
// in a thread of their own, so they may wait for the mutex.
struct PendingFiles {
  std::mutex mutex;
  std::vector<const fs::path*> names;
};

PendingFiles& Pending() {
  static auto* const pending = new PendingFiles;  // never destroyed: the handlers outlive main
  return *pending;
}

void Forget(const fs::path& name) noexcept {
  const std::lock_guard lock(Pending().mutex);
  std::erase(Pending().names, &name);
}

// Renames an open file, with the semantics of POSIX: an open target is replaced, and lives on
// without a name. Windows 10 has this for NTFS. Returns false, with the error in GetLastError().
bool RenamePosix(HANDLE file, const fs::path& to) {
  struct RenameInfo {  // FILE_RENAME_INFO, which older headers define without flags
    DWORD flags;
    HANDLE root;
    DWORD bytes;
    wchar_t name[1];
  };
  constexpr auto kRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
  constexpr DWORD kReplace = 0x1, kPosix = 0x2, kIgnoreReadOnly = 0x40;
  const std::wstring& name = to.native();
  const size_t name_bytes = name.size() * sizeof(wchar_t);
  const size_t bytes = sizeof(RenameInfo) + name_bytes;
  std::vector<HANDLE> room(bytes / sizeof(HANDLE) + 1);
  auto* const info = reinterpret_cast<RenameInfo*>(room.data());
  info->flags = kReplace | kPosix | kIgnoreReadOnly;
  info->root = nullptr;
  info->bytes = static_cast<DWORD>(name_bytes);
  std::memcpy(info->name, name.c_str(), name_bytes + sizeof(wchar_t));
  return SetFileInformationByHandle(file, kRenameInfoEx, info, static_cast<DWORD>(bytes));
}

// Whether the file could be replaced if nobody had it open or mapped.
bool MayBeReplaced(const fs::path& path) {
  const Handle handle(OpenExisting(path, DELETE));
  return handle || GetLastError() == ERROR_SHARING_VIOLATION;
}

// Returns the error, or ERROR_SUCCESS. Tries again for 50 ms if the target is in use: others may
// have it open for a moment, for example to read its status.
DWORD MoveOnto(const fs::path& from, const fs::path& to) {
  for (int tries = 1;; ++tries) {
    if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
      return ERROR_SUCCESS;
    }
    const DWORD error = GetLastError();
    const bool in_use = error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION;
    if (!in_use || tries > 5) return error;
    Sleep(10);
  }
}

}  // namespace

struct TemporaryFile::State {
  explicit State(const SaveTarget::State& save_target) : target(save_target), file(Create()) {
    if (!file) {
      SetErrno();
      ThrowIoError(target.path, "create a temporary file beside it");
    }
  }
  ~State() {
    Forget(name);
    if (pending) DeleteFileW(name.c_str());
  }

  // The name does not contain the name of the target, which may have the maximum length.
  fs::path NewName() const {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return target.folder / detail::StrCat(".tamis-", GetCurrentProcessId(), "-", now, ".tmp");
  }
  // Tries other names while files have the name: threads may read the same time of the clock. The
  // lock keeps RemoveTemporaryFiles from missing the new file.
  HANDLE Create() {
    const std::lock_guard lock(Pending().mutex);
    std::vector<const fs::path*>& names = Pending().names;
    names.reserve(names.size() + 1);  // adding the name below must not fail
    for (int attempt = 0;; ++attempt) {
      name = NewName();
      const HANDLE made =
          CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE | DELETE, kShareAll, nullptr,
                      CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
      if (made != INVALID_HANDLE_VALUE) {
        names.push_back(&name);
        return made;
      }
      if (GetLastError() != ERROR_FILE_EXISTS || attempt == kMaxAttempts) return made;
    }
  }
  void KeepPermissions() const {
    if (target.access.empty()) return;
    auto* const list = const_cast<std::byte*>(target.access.data());
    if (SetFileSecurityW(name.c_str(), DACL_SECURITY_INFORMATION, list)) return;
    SetErrno();
    ThrowIoError(target.path, "copy its permissions to the new file");
  }
  void Finish() {
    pending = false;
    Forget(name);
    if (target.read_only()) SetFileAttributesW(target.path.c_str(), target.attributes);
  }

  const SaveTarget::State& target;
  fs::path name;
  const Handle file;
  bool pending = true;
};

TemporaryFile::TemporaryFile(const SaveTarget& target, Name)
    : state_(std::make_unique<State>(target.state())) {
  state_->KeepPermissions();
}

TemporaryFile::~TemporaryFile() = default;

void TemporaryFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto wanted = static_cast<DWORD>(std::min(bytes.size(), kMaxWrite));
    DWORD n = 0;
    if (!WriteFile(state_->file.get(), bytes.data(), wanted, &n, nullptr)) {
      SetErrno();
      ThrowIoError(state_->target.path, "write");
    }
    if (n == 0) ThrowIoError(state_->target.path, "write", EIO);  // the loop would never end
    bytes = bytes.subspan(n);
  }
}

fs::path TemporaryFile::readable_path() const { return state_->name; }

void TemporaryFile::Synchronize() {
  if (FlushFileBuffers(state_->file.get())) return;
  SetErrno();
  ThrowIoError(state_->target.path, "synchronize");
}

bool TemporaryFile::GiveName() { return true; }

void TemporaryFile::ReplaceTarget() {
  const SaveTarget::State& target = state_->target;
  if (!RenamePosix(state_->file.get(), target.path)) {
    // Without those semantics, a read-only file cannot be replaced.
    if (target.read_only()) SetFileAttributesW(target.path.c_str(), FILE_ATTRIBUTE_NORMAL);
    if (const DWORD error = MoveOnto(state_->name, target.path); error != ERROR_SUCCESS) {
      if (target.read_only()) SetFileAttributesW(target.path.c_str(), target.attributes);
      if (error != ERROR_DISK_FULL && MayBeReplaced(target.path)) {
        throw Error(ErrorCode::kBusy, TextOf(target.path) +
                                          ": cannot replace it while it is open or mapped; "
                                          "nothing was saved");
      }
      SetErrno(error);
      ThrowIoError(target.path, "rename the temporary file to it");
    }
  }
  state_->Finish();
}

void TemporaryFile::BecomeNewTarget() {
  if (!MoveFileExW(state_->name.c_str(), state_->target.path.c_str(), MOVEFILE_WRITE_THROUGH)) {
    SetErrno();
    if (errno == EEXIST) ThrowTargetExists(state_->target.path);
    ThrowIoError(state_->target.path, "give its name to the temporary file");
  }
  state_->Finish();
}

// The directory cannot be synchronized. NTFS writes the new name to its journal.
void TemporaryFile::SynchronizeName() { FlushFileBuffers(state_->file.get()); }

void RemoveTemporaryFiles() noexcept {
  const std::lock_guard lock(Pending().mutex);
  for (const fs::path* const name : Pending().names) DeleteFileW(name->c_str());
}

}  // namespace tamis::os
