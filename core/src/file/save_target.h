// The place where a file is saved, and the properties of an older file there that are kept.
#ifndef TAMIS_CORE_SRC_FILE_SAVE_TARGET_H_
#define TAMIS_CORE_SRC_FILE_SAVE_TARGET_H_

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>

#include "core/src/file/posix_file.h"
#include "tamis/file/file.h"

namespace tamis::detail {

// Returns the permissions of a file that replaces a file of mode `mode`. If its owner or group
// differs from those of the old file, no user except the new owner gets permissions that the old
// file denied. Bits other than permissions are dropped, as writing into a file drops them.
mode_t KeptMode(mode_t mode, bool same_owner, bool same_group);

class SaveTarget {
 public:
  // Follows links, also to a file that does not exist yet, and opens the directory. Throws
  // Error(kIo) in these cases:
  // - The path names something other than a regular file: a rename would replace even /dev/null.
  // - The path names a read-only file, unless options.replace_read_only is set.
  SaveTarget(const std::filesystem::path& path, const SaveOptions& options);

  // Returns the path, which does not end in a link.
  const std::filesystem::path& path() const noexcept { return path_; }
  std::string name() const { return path_.filename(); }
  int directory() const noexcept { return directory_.get(); }

  // Throws Error(kIo) unless the process can make files in the directory.
  void RequireDirectoryWritable() const;

  // Returns the mode in which to make the new file. If it replaces a file, other users have no
  // access before it gets its permissions. Otherwise umask and the default access list of the
  // directory decide, as for any new file.
  mode_t mode_of_new_file() const noexcept { return old_ ? 0600 : 0666; }
  // Gives the new file the owner, group, mode and access list of the old file, if there was one.
  void KeepPermissions(int fd) const;

  // Waits until the directory, into which `fd` was moved, is on the disk. Returns false, with errno
  // set, if that failed.
  bool SynchronizeDirectory(int fd) const;

 private:
  bool KeepAccessList(int fd, bool same_owner_and_group) const;

  std::filesystem::path path_;
  bool directory_readable_ = true;
  Descriptor directory_;
  std::optional<struct stat> old_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_SAVE_TARGET_H_
