#include "tools/os/file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "tools/os/windows/utf16.h"
#include "tools/os/windows/win32.h"

namespace tamis::tools::os {
namespace {

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

// The manifest of the command makes UTF-8 the encoding of narrow strings.
std::filesystem::path Wide(const std::string& path) { return path; }

bool IsConsole(HANDLE handle) {
  DWORD mode = 0;
  return GetConsoleMode(handle, &mode) != 0;
}

template <typename Info>
bool Get(HANDLE handle, FILE_INFO_BY_HANDLE_CLASS what, Info& info) {
  return GetFileInformationByHandleEx(handle, what, &info, sizeof(info)) != 0;
}

// Sets the members that distinguish the file from others. Only ReFS uses more than 64 of the 128
// bits of FileIdInfo. FAT and some network drives only have the older function.
bool Identify(HANDLE handle, FileStatus& status) {
  FILE_ID_INFO id;
  if (Get(handle, FileIdInfo, id)) {
    status.volume = id.VolumeSerialNumber;
    std::memcpy(&status.number, &id.FileId, sizeof(status.number));
    return true;
  }
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(handle, &info)) return false;
  status.volume = info.dwVolumeSerialNumber;
  status.number = uint64_t{info.nFileIndexHigh} << 32 | info.nFileIndexLow;
  return true;
}

std::optional<FileStatus> StatusFrom(HANDLE handle) {
  FileStatus status;
  const DWORD type = GetFileType(handle);
  if (type == FILE_TYPE_CHAR && !IsConsole(handle)) status.type = FileType::kNull;
  if (type != FILE_TYPE_DISK) return status;
  FILE_STANDARD_INFO size;
  FILE_BASIC_INFO times;
  if (!Get(handle, FileStandardInfo, size) || !Get(handle, FileBasicInfo, times) ||
      !Identify(handle, status)) {
    errno = EIO;
    return std::nullopt;
  }
  constexpr int64_t kTicksPerSecond = 10'000'000;
  status.type = size.Directory ? FileType::kFolder : FileType::kRegular;
  status.bytes = static_cast<uint64_t>(size.EndOfFile.QuadPart);
  status.changed_seconds = times.LastWriteTime.QuadPart / kTicksPerSecond;
  status.changed_ns = times.LastWriteTime.QuadPart % kTicksPerSecond * 100;
  return status;
}

// Sets errno to the number that stands for an error of Windows.
void SetErrno(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
      errno = ENOENT;
      return;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
      errno = EACCES;
      return;
    case ERROR_FILE_EXISTS:
      errno = EEXIST;
      return;
    case ERROR_TOO_MANY_OPEN_FILES:
      errno = EMFILE;
      return;
    case ERROR_FILENAME_EXCED_RANGE:
      errno = ENAMETOOLONG;
      return;
    case ERROR_DISK_FULL:
      errno = ENOSPC;
      return;
    case ERROR_WRITE_PROTECT:
      errno = EROFS;
      return;
    default:
      errno = EIO;
  }
}

// Others may read, write and remove the file while it is open. Returns -1 on failure.
int Open(const std::string& path, DWORD access, DWORD creation, DWORD attributes, int flags) {
  const HANDLE file =
      CreateFileW(Wide(path).c_str(), access, kShareAll, nullptr, creation, attributes, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    SetErrno(GetLastError());
    if (errno == EACCES && std::filesystem::is_directory(Wide(path))) errno = EISDIR;
    return -1;
  }
  const int fd =
      _open_osfhandle(reinterpret_cast<intptr_t>(file), flags | _O_BINARY | _O_NOINHERIT);
  if (fd < 0) CloseHandle(file);
  return fd;
}

// The console's own conversion to UTF-8 loses characters, so this reads UTF-16.
int64_t ReadConsole(HANDLE handle, char* to, size_t bytes) {
  constexpr char16_t kControlZ = 0x1A;  // at the beginning of a line: the end of the input
  // One thread reads the console. `text` was converted and is not read yet.
  static Utf16Decoder decoder;
  static std::string text;
  while (text.empty()) {
    // A unit becomes at most 3 bytes of UTF-8. The decoder may add a unit that it has kept.
    char16_t units[8192];
    const size_t most = std::clamp<size_t>(bytes / 3, 2, std::size(units) + 1) - 1;
    DWORD n = 0;
    SetLastError(ERROR_SUCCESS);
    if (!ReadConsoleW(handle, units, static_cast<DWORD>(most), &n, nullptr)) {
      errno = EIO;
      return -1;
    }
    // A request to end has interrupted the read, and is not the end of the input. It ends the
    // process in another thread, or stops the input.
    if (n == 0 && GetLastError() == ERROR_OPERATION_ABORTED) {
      AwaitStop();
      errno = EINTR;
      return -1;
    }
    if (n == 0 || units[0] == kControlZ) return 0;
    text = decoder.Decode({units, n});
  }
  const size_t given = std::min(bytes, text.size());
  std::copy_n(text.begin(), given, to);
  text.erase(0, given);
  return static_cast<int64_t>(given);
}

}  // namespace

std::optional<FileStatus> StatusOf(const std::string& path) {
  const HANDLE handle = CreateFileW(Wide(path).c_str(), FILE_READ_ATTRIBUTES, kShareAll, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    SetErrno(GetLastError());
    return std::nullopt;
  }
  std::optional<FileStatus> status = StatusFrom(handle);
  CloseHandle(handle);
  return status;
}

std::optional<FileStatus> StatusOf(int fd) {
  const HANDLE handle = HandleOf(fd);
  if (handle != INVALID_HANDLE_VALUE) return StatusFrom(handle);
  errno = EBADF;
  return std::nullopt;
}

// _waccess ignores permissions, so this opens regular files. It does not open pipes and devices:
// the other end of a pipe would notice.
bool IsReadable(const std::string& path) {
  const std::optional<FileStatus> status = StatusOf(path);
  if (!status || status->type != FileType::kRegular) return status.has_value();
  const int fd = OpenToRead(path);
  if (fd >= 0) Close(fd);
  return fd >= 0;
}

int OpenToRead(const std::string& path) {
  return Open(path, GENERIC_READ, OPEN_EXISTING, FILE_FLAG_SEQUENTIAL_SCAN, _O_RDONLY);
}

int OpenToWrite(const std::string& path, bool must_be_new) {
  return Open(path, GENERIC_WRITE, must_be_new ? CREATE_NEW : OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL,
              _O_WRONLY);
}

int64_t Read(int fd, char* to, size_t bytes) {
  const HANDLE handle = HandleOf(fd);
  if (IsConsole(handle)) return ReadConsole(handle, to, bytes);
  return _read(fd, to, static_cast<unsigned>(std::min<size_t>(bytes, INT_MAX)));
}

int64_t Write(int fd, const char* from, size_t bytes) {
  const int written = _write(fd, from, static_cast<unsigned>(std::min<size_t>(bytes, INT_MAX)));
  // A pipe without a reader has this error, or one that the C runtime calls EPIPE already.
  if (written < 0 && _doserrno == ERROR_PIPE_NOT_CONNECTED) errno = EPIPE;
  return written;
}

bool HasInput(int fd) {
  const HANDLE handle = HandleOf(fd);
  if (IsConsole(handle)) return false;  // not known: a part of a line does not count
  return GetFileType(handle) != FILE_TYPE_PIPE || StateOfPipe(handle) == PipeState::kReadable;
}

PipeState StateOfPipe(HANDLE pipe) {
  DWORD bytes = 0;
  if (PeekNamedPipe(pipe, nullptr, 0, nullptr, &bytes, nullptr)) {
    return bytes > 0 ? PipeState::kReadable : PipeState::kEmpty;
  }
  return GetLastError() == ERROR_BROKEN_PIPE ? PipeState::kReadable : PipeState::kUnknown;
}

bool GetPosition(int fd, uint64_t& position) {
  const int64_t offset = _lseeki64(fd, 0, SEEK_CUR);
  position = static_cast<uint64_t>(offset);
  return offset >= 0;
}

bool SetPosition(int fd, uint64_t position) {
  return _lseeki64(fd, static_cast<int64_t>(position), SEEK_SET) >= 0;
}

bool IsTerminal(int fd) { return IsConsole(HandleOf(fd)); }

bool Empty(int fd) { return _chsize_s(fd, 0) == 0; }

void Remove(const std::string& path) { _wunlink(Wide(path).c_str()); }

bool Sync(int fd) { return _commit(fd) == 0; }

int Duplicate(int fd) { return _dup(fd); }

bool Close(int fd) { return _close(fd) == 0; }

void PrepareStandardStreams() {
  for (const int fd : {kStandardInput, kStandardOutput, kStandardError}) {
    const HANDLE handle = HandleOf(fd);
    // The C runtime also has a value below 0 for a program without a console.
    if (handle == INVALID_HANDLE_VALUE || reinterpret_cast<intptr_t>(handle) < 0) {
      const int null = _wopen(L"NUL", fd == kStandardInput ? _O_WRONLY : _O_RDONLY);
      if (null == fd) continue;
      if (null < 0 || _dup2(null, fd) != 0) return;
      _close(null);
    }
    _setmode(fd, _O_BINARY);
    DWORD mode = 0;
    if (fd != kStandardInput && GetConsoleMode(handle, &mode)) {
      SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
      SetConsoleOutputCP(CP_UTF8);
    }
  }
}

}  // namespace tamis::tools::os
