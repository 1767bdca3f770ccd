#include "tamis/error.h"

namespace tamis {

const char* ErrorCodeName(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kOutOfMemory:
      return "OutOfMemory";
    case ErrorCode::kIncompatible:
      return "Incompatible";
    case ErrorCode::kReadOnly:
      return "ReadOnly";
    case ErrorCode::kUnknownBackend:
      return "UnknownBackend";
    case ErrorCode::kIo:
      return "Io";
    case ErrorCode::kCorrupt:
      return "Corrupt";
    case ErrorCode::kUnsupported:
      return "Unsupported";
    case ErrorCode::kDevice:
      return "Device";
    case ErrorCode::kNotDurable:
      return "NotDurable";
    case ErrorCode::kBusy:
      return "Busy";
    case ErrorCode::kCancelled:
      return "Cancelled";
    case ErrorCode::kSecret:
      return "Secret";
    case ErrorCode::kUnavailable:
      return "Unavailable";
  }
  return "Unknown";
}

}  // namespace tamis
