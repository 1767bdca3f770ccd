#include "core/src/os/file.h"

#include "core/src/os/io_error.h"
#include "core/src/os/path_text.h"

namespace tamis::os {

uint64_t File::RegularBytes() const {
  const FileStatus status = Status();
  if (status.type == FileType::kFolder) ThrowIoError(path_, "read", EISDIR);
  if (status.type != FileType::kRegular) {
    throw Error(ErrorCode::kIo, TextOf(path_) + ": cannot read: not a regular file");
  }
  return status.bytes;
}

size_t File::Read(std::span<std::byte> out, uint64_t offset) const {
  size_t size = 0;
  while (size < out.size()) {
    const size_t n = ReadSome(out.subspan(size), offset + size);
    if (n == 0) break;
    size += n;
  }
  return size;
}

}  // namespace tamis::os
