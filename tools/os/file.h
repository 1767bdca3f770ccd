// Files and standard streams of the command, by descriptors. Functions that fail set errno.
#ifndef TAMIS_TOOLS_OS_FILE_H_
#define TAMIS_TOOLS_OS_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tamis::tools::os {

inline constexpr int kStandardInput = 0;
inline constexpr int kStandardOutput = 1;
inline constexpr int kStandardError = 2;

enum class FileType : uint8_t {
  kRegular,
  kFolder,
  kNull,  // the null device, which is known to be empty
  kOther,
};

struct FileStatus {
  FileType type = FileType::kOther;
  // These two distinguish a file from all others, whichever of its names is used. Volume 0 is an
  // unknown one: wine does not know the volume of a file that it inherits as standard output.
  uint64_t volume = 0;
  uint64_t number = 0;
  uint64_t bytes = 0;
  // The time of the last change, from an epoch of the system.
  int64_t changed_seconds = 0;
  int64_t changed_ns = 0;

  friend bool operator==(const FileStatus&, const FileStatus&) = default;
  // Returns whether the two may be the same file. If a volume is unknown, that is possible.
  bool IsSameFileAs(const FileStatus& other) const {
    const bool same_volume = volume == other.volume || volume == 0 || other.volume == 0;
    return same_volume && number == other.number;
  }
};

// Returns the status of the file to which `path` leads, or std::nullopt on failure. Follows links.
// A signal handler may call it.
std::optional<FileStatus> StatusOf(const std::string& path);
std::optional<FileStatus> StatusOf(int fd);
// Returns whether the process has the right to read the file.
bool IsReadable(const std::string& path);

// Opens a file that exists. Opening a named pipe waits for its other end. Returns the descriptor,
// which child processes do not inherit, or -1 on failure.
int OpenToRead(const std::string& path);
// Opens a file, or creates it. With `must_be_new` it is an error if the file exists.
int OpenToWrite(const std::string& path, bool must_be_new);

// Both return the number of bytes that were read or written, or -1 on failure. 0 is the end of the
// input. Terminals are read and written as UTF-8. Both wait even if another process has made a
// stream that it shares with this process non-blocking.
int64_t Read(int fd, char* to, size_t bytes);
int64_t Write(int fd, const char* from, size_t bytes);
// Returns whether Read would not wait, because bytes, the end or an error are there. Returns false
// if that is unknown.
bool HasInput(int fd);

// Both return false on failure, for example if the file is a pipe.
bool GetPosition(int fd, uint64_t& position);
bool SetPosition(int fd, uint64_t position);

bool IsTerminal(int fd);
// Removes the contents of the file. Returns false on failure.
bool Empty(int fd);
void Remove(const std::string& path);
// Waits until the bytes of the file are on the disk, if the file system can do that. Returns false
// on failure.
bool Sync(int fd);
// Returns another descriptor of the same file, or -1 on failure.
int Duplicate(int fd);
// Returns false if the file could not be written.
bool Close(int fd);

// Prepares the standard streams, when the command starts:
// - Opens those of the descriptors 0, 1 and 2 that are closed, so that their use fails. Without
//   this, the next file to be opened could become standard output, for example, and be overwritten.
// - Makes a terminal obey control characters, and bytes pass through unchanged.
void PrepareStandardStreams();

}  // namespace tamis::tools::os

#endif  // TAMIS_TOOLS_OS_FILE_H_
