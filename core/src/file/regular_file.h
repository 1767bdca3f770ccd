// A regular file that is open for reading.
#ifndef TAMIS_CORE_SRC_FILE_REGULAR_FILE_H_
#define TAMIS_CORE_SRC_FILE_REGULAR_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/src/os/file.h"
#include "core/src/os/mapping.h"

namespace tamis::detail {

class RegularFile {
 public:
  // Throws Error(kIo) if the file cannot be opened or is not a regular file.
  explicit RegularFile(const std::filesystem::path& path)
      : file_(path), bytes_(file_.RegularBytes()) {}

  const std::filesystem::path& path() const noexcept { return file_.path(); }
  // Returns the number of bytes that the file had when it was opened.
  uint64_t bytes() const noexcept { return bytes_; }
  // Fills `out` from the file at `offset`. Throws Error(kIo), or FormatError if the file has become
  // shorter since it was opened. Thread-safe.
  void Read(std::span<std::byte> out, uint64_t offset) const;
  // Throws Error(kIo). The file must not be empty.
  os::Mapping Map() const { return {file_, bytes_}; }

 private:
  os::File file_;
  uint64_t bytes_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_REGULAR_FILE_H_
