// Files that are open for reading, and the identities of files.
#ifndef TAMIS_CORE_SRC_OS_FILE_H_
#define TAMIS_CORE_SRC_OS_FILE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace tamis::os {

// Distinguishes a file from all others, whichever of its names is used.
struct FileIdentity {
  uint64_t volume = 0;
  uint64_t number = 0;

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

enum class FileType : uint8_t { kRegular, kFolder, kOther };

struct FileStatus {
  FileType type = FileType::kOther;
  FileIdentity identity;
  uint64_t bytes = 0;
  // Since 1970, clamped to the range of nanoseconds, which ends in the year 2262.
  std::chrono::nanoseconds written{};

  friend bool operator==(const FileStatus&, const FileStatus&) = default;
};

// Returns the status of the file to which `path` leads. Follows links. Returns nothing if the file
// does not exist. Throws Error(kIo).
std::optional<FileStatus> StatusOf(const std::filesystem::path& path);

// A file that is open for reading. Thread-safe.
class File {
 public:
  // Does not wait for a writer if the file is a named pipe. Throws Error(kIo).
  explicit File(std::filesystem::path path);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  const std::filesystem::path& path() const noexcept { return path_; }
  // Throws Error(kIo).
  FileStatus Status() const;
  // Returns the number of bytes. Throws Error(kIo) if this is not a regular file.
  uint64_t RegularBytes() const;
  // Reads until `out` is full or the file ends. Returns how many bytes were read. Throws
  // Error(kIo).
  size_t Read(std::span<std::byte> out, uint64_t offset) const;

  // The descriptor or handle of the system.
  intptr_t handle() const noexcept { return handle_; }

 private:
  // Reads at least one byte, unless `out` is empty or the file ends at `offset`.
  size_t ReadSome(std::span<std::byte> out, uint64_t offset) const;

  std::filesystem::path path_;
  intptr_t handle_;
};

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_FILE_H_
