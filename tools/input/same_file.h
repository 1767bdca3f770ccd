// Whether a file is still the same, by its status.
#ifndef TAMIS_TOOLS_INPUT_SAME_FILE_H_
#define TAMIS_TOOLS_INPUT_SAME_FILE_H_

#include <sys/stat.h>

namespace tamis::tools {

// Returns when the file was changed last.
inline timespec ModifiedAt(const struct stat& status) {
#ifdef __APPLE__
  return status.st_mtimespec;
#else
  return status.st_mtim;
#endif
}

// Returns whether the two are the status of one file that has not changed in between. A signal
// handler may call it.
inline bool IsSameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         ModifiedAt(a).tv_sec == ModifiedAt(b).tv_sec &&
         ModifiedAt(a).tv_nsec == ModifiedAt(b).tv_nsec;
}

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_SAME_FILE_H_
