// A regular file that is open for reading.
#ifndef TAMIS_CORE_SRC_FILE_REGULAR_FILE_H_
#define TAMIS_CORE_SRC_FILE_REGULAR_FILE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <span>

#include "core/src/os/file.h"
#include "core/src/os/mapping.h"

namespace tamis::detail {

class RegularFile {
 public:
  // Throws Error(kIo) if the file cannot be opened or is not a regular file.
  explicit RegularFile(const std::filesystem::path& path);

  // If this is the first shard of a file of `bytes` bytes, opens the other shards. From then on,
  // offsets count from the start of the first shard. Does nothing if the file has `bytes` bytes or
  // more, or cannot be a shard by its name and length.
  // Throws FormatError for a shard of the wrong length, a surplus shard, or a file that only by its
  // name is not a first shard. Throws Error(kIo) for a
  // missing shard, or one that is not a regular file. Throws Error(kBusy) if the first shard was
  // replaced in the meantime.
  void OpenShards(uint64_t bytes);

  const std::filesystem::path& path() const noexcept { return files_.front().path(); }
  // Returns the number of bytes that the file, or all shards, had when they were opened.
  uint64_t bytes() const noexcept { return bytes_; }
  // Fills `out` from the file at `offset`. Throws Error(kIo), or FormatError if the file has become
  // shorter since it was opened. Thread-safe.
  void Read(std::span<std::byte> out, uint64_t offset) const;
  // Throws Error(kIo), or Error(kUnsupported) for shards on Windows. The file must not be empty.
  os::Mapping Map() const { return {files_, shard_bytes_, bytes_}; }

 private:
  std::deque<os::File> files_;  // one, or all shards in order
  uint64_t bytes_;
  uint64_t shard_bytes_;  // length of each file but the last; `bytes_` for a single file
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_REGULAR_FILE_H_
