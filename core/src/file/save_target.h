// Where a file is to be saved, and what of an older one there it keeps.
#ifndef TAMIS_CORE_SRC_FILE_SAVE_TARGET_H_
#define TAMIS_CORE_SRC_FILE_SAVE_TARGET_H_

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>

#include "core/src/file/posix_file.h"
#include "tamis/file/file.h"

namespace tamis::detail {

// The permissions of a file that takes the place of one with these. Owner and group may be others
// than those of the old file: then no user may do with the new one what the old one denied, but for
// its owner. The bits past the permissions are dropped, as they are by writing into a file.
mode_t KeptMode(mode_t mode, bool same_owner, bool same_group);

class SaveTarget {
 public:
  // Follows links, also to a file that is yet to be made, and opens the directory. Throws
  // Error(kIo) where there is something other than a regular file: a rename would take the place of
  // /dev/null, too. And where there is a file that is not to be written, unless
  // options.replace_read_only.
  SaveTarget(const std::filesystem::path& path, const SaveOptions& options);

  // With no link at its end.
  const std::filesystem::path& path() const noexcept { return path_; }
  std::string name() const { return path_.filename(); }
  int directory() const noexcept { return directory_.get(); }

  // Throws Error(kIo) unless files can be made in the directory.
  void RequireDirectoryWritable() const;

  // Of a file that is made to go there: nobody else's until it has its permissions. Where there was
  // none, umask and the default access list of the directory decide, as for any new file.
  mode_t mode_of_new_file() const noexcept { return old_ ? 0600 : 0666; }
  // Gives a file what the old one had of owner, group, mode and access list, if there was one.
  void KeepPermissions(int fd) const;

  // Waits until the directory is on the disk, to which `fd` was moved. False, with errno, if that
  // failed.
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
