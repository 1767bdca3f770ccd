#include "core/src/os/save_target.h"

#include <optional>
#include <string>

#include "core/src/os/file.h"
#include "core/src/os/io_error.h"
#include "core/src/os/path_text.h"
#include "core/src/os/windows/save_target_state.h"

namespace tamis::os {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;

[[noreturn]] void Refuse(const fs::path& path, const std::string& why) {
  throw Error(ErrorCode::kIo, TextOf(path) + ": cannot write: " + why);
}

// Returns the absolute path at which the links end.
fs::path TargetOf(const fs::path& path) {
  if (!path.has_filename()) ThrowIoError(path, "write", path.empty() ? ENOENT : EISDIR);
  fs::path target = fs::absolute(path);
  std::error_code ignored;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, ignored)); ++links) {
    if (links == kMaxLinks) ThrowIoError(path, "write", ELOOP);
    std::error_code unread;
    const fs::path next = fs::read_symlink(target, unread);
    if (unread) ThrowIoError(target, "read the link", EIO);
    target = target.parent_path() / next;
  }
  if (!target.has_filename()) ThrowIoError(path, "write", EISDIR);
  return target;
}

std::vector<std::byte> AccessListOf(const fs::path& path) {
  DWORD bytes = 0;
  GetFileSecurityW(path.c_str(), DACL_SECURITY_INFORMATION, nullptr, 0, &bytes);
  std::vector<std::byte> list(bytes);
  if (bytes == 0 ||
      !GetFileSecurityW(path.c_str(), DACL_SECURITY_INFORMATION, list.data(), bytes, &bytes)) {
    return {};
  }
  return list;
}

bool MayWrite(const fs::path& path) {
  const Handle handle(OpenExisting(path, GENERIC_WRITE));
  return handle || GetLastError() != ERROR_ACCESS_DENIED;
}

}  // namespace

SaveTarget::State::State(const fs::path& target, bool replace_read_only)
    : path(TargetOf(target)),
      folder(path.parent_path()),
      attributes(GetFileAttributesW(path.c_str())) {
  const std::optional<FileStatus> status = StatusOf(path);
  if (!status) {
    if (const std::optional<FileStatus> of_folder = StatusOf(folder);
        !of_folder || of_folder->type != FileType::kFolder) {
      ThrowIoError(folder, "open the directory", ENOENT);
    }
    attributes = INVALID_FILE_ATTRIBUTES;
    return;
  }
  if (status->type == FileType::kFolder) ThrowIoError(path, "write", EISDIR);
  if (status->type != FileType::kRegular) Refuse(path, "not a regular file");
  if (!replace_read_only && (read_only() || !MayWrite(path))) {
    Refuse(path, "it is read-only, and replaced only on request");
  }
  access = AccessListOf(path);
}

// Opens no directory.
SaveTarget::SaveTarget(const fs::path& path, bool replace_read_only, const SaveTarget*)
    : state_(std::make_unique<const State>(path, replace_read_only)) {}

SaveTarget::~SaveTarget() = default;

const fs::path& SaveTarget::path() const noexcept { return state_->path; }

void SaveTarget::RequireDirectoryWritable() const {
  const Handle handle(OpenExisting(state_->folder, FILE_ADD_FILE));
  if (handle) return;
  SetErrno();
  ThrowIoError(state_->folder, "make a file in the directory");
}

}  // namespace tamis::os
