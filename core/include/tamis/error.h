// The exception type of the library. docs/contracts.md lists which functions throw, with which
// code, and in which state they leave their objects.
#ifndef TAMIS_ERROR_H_
#define TAMIS_ERROR_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "tamis/cpp20.h"

namespace tamis {

// The reason of an Error.
enum class ErrorCode {
  kInvalidArgument,  // an argument or option is out of range, or does not fit the object
  kOutOfMemory,      // a filter would need more memory than is available
  kIncompatible,     // two filters cannot be combined
  kReadOnly,         // a change of an object that cannot be changed
  kUnknownBackend,   // the name of a backend is unknown, or unusable on this machine
  kIo,               // the operating system refused a file operation
  kCorrupt,          // a file, or a value on a server, fails a check
  kUnsupported,      // a file of another version or kind, or an operation that the object lacks
  kDevice,           // a GPU or its driver failed
  kNotDurable,       // saved, but a power cut or a lost server may still undo it
  kBusy,             // another process or thread is changing, or has replaced, the same object
  kCancelled,        // the caller cancelled the work
  kSecret,           // the secret of a keyed hash is missing, wrong, or given for another hash
  kUnavailable,      // a server cannot be reached, refuses, or lacks a part of the data
};

// Returns the name of a code without its prefix, such as "InvalidArgument".
const char* ErrorCodeName(ErrorCode code) noexcept;

// what() names the problem, the value, and the allowed range.
class Error : public std::runtime_error {
 public:
  // Makes an error with the text that what() returns.
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  // Returns the reason.
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

// Reports that a file failed a check. check() and offset() name the check and its place in the
// file.
class FormatError : public Error {
 public:
  // Makes an error with the text that what() returns.
  FormatError(ErrorCode code, std::string check, uint64_t offset, const std::string& message)
      : Error(code, message), check_(std::move(check)), offset_(offset) {}

  // A short stable name such as "magic" or "payload checksum".
  const std::string& check() const noexcept { return check_; }

  // The byte offset, from the start of the file, of the field that failed.
  uint64_t offset() const noexcept { return offset_; }

 private:
  std::string check_;
  uint64_t offset_;
};

}  // namespace tamis

#endif  // TAMIS_ERROR_H_
