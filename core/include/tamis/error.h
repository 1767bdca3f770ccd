// The one exception type of the library.
//
// Thrown by constructors, factories, file functions and set operations, and by bulk functions for
// an output that is too small. Functions of one key never throw; those of tamis/formats can.
#ifndef TAMIS_ERROR_H_
#define TAMIS_ERROR_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "tamis/cpp20.h"

namespace tamis {

enum class ErrorCode {
  kInvalidArgument,  // a value outside its range
  kOutOfMemory,      // more memory asked for than there is
  kIncompatible,     // two filters that cannot be combined
  kReadOnly,         // a change to a filter that is mapped from a file
  kUnknownBackend,   // a backend name that is unknown or unusable on this machine
  kIo,               // the operating system refused a file operation
  kCorrupt,          // a file that fails a check
  kUnsupported,      // a file of a newer version or another kind
  kDevice,           // a GPU, or its driver, that failed
  kNotDurable,       // a file that was saved, but that a power cut may still undo
  kBusy,             // a file that another process is changing, or has replaced meanwhile
  kCancelled,        // work that the caller has called off
  kSecret,           // the secret of a keyed hash: missing, wrong, or given where none is needed
  kUnavailable,      // a server that cannot be reached, refuses, or lacks a part of the data
};

// The name of a code without its prefix, e.g. "InvalidArgument".
const char* ErrorCodeName(ErrorCode code) noexcept;

// What was wrong, the value, and the allowed range, in `what()`.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

// A file that failed a check: which one, and at which byte offset of the file.
class FormatError : public Error {
 public:
  FormatError(ErrorCode code, std::string check, uint64_t offset, const std::string& message)
      : Error(code, message), check_(std::move(check)), offset_(offset) {}

  // A short stable name such as "magic" or "payload checksum".
  const std::string& check() const noexcept { return check_; }

  // Bytes from the start of the file to the field that failed.
  uint64_t offset() const noexcept { return offset_; }

 private:
  std::string check_;
  uint64_t offset_;
};

}  // namespace tamis

#endif  // TAMIS_ERROR_H_
