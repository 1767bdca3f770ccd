// The directory of a SaveTarget, and the properties of the file that is replaced.
#ifndef TAMIS_CORE_SRC_OS_POSIX_SAVE_TARGET_STATE_H_
#define TAMIS_CORE_SRC_OS_POSIX_SAVE_TARGET_STATE_H_

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/src/os/posix/descriptor.h"
#include "core/src/os/save_target.h"

namespace tamis::os {

// Returns the permissions of a file that replaces a file of mode `mode`. If its owner or group
// differs from those of the old file, no user except the new owner gets permissions that the old
// file denied. Bits other than permissions are dropped, as writing into a file drops them.
mode_t KeptMode(mode_t mode, bool same_owner, bool same_group);

// An open directory, to make files in it.
struct Directory {
  // Throws Error(kIo).
  explicit Directory(const std::filesystem::path& path);

  bool readable = true;  // whether its files can be listed
  const Descriptor fd;
};

struct SaveTarget::State {
  State(const std::filesystem::path& target, bool replace_read_only, const State* beside);

  std::string name() const { return path.filename(); }
  int directory() const noexcept { return open_directory->fd.get(); }
  void RequireDirectoryWritable() const;

  // Returns the mode in which to make the new file. If it replaces a file, other users have no
  // access before it gets its permissions. Otherwise umask and the default access list of the
  // directory decide, as for any new file.
  mode_t mode_of_new_file() const noexcept { return old ? 0600 : 0666; }
  // Gives the new file the owner, group, mode and access list of the old file, if there was one.
  void KeepPermissions(int fd) const;

  // Waits until the directory, into which `fd` was moved, is on the disk. Returns false, with errno
  // set, if that failed.
  bool SynchronizeDirectory(int fd) const;

  bool KeepAccessList(int fd, bool same_owner_and_group) const;

  const std::filesystem::path path;
  const std::shared_ptr<const Directory> open_directory;
  const std::optional<struct stat> old;
};

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_POSIX_SAVE_TARGET_STATE_H_
