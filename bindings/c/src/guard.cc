#include "bindings/c/src/guard.h"

#include <cstring>
#include <exception>
#include <iterator>
#include <new>

namespace tamis::c {
namespace {

// The numbers of codes may change between versions. The numbers of statuses may not.
constexpr struct {
  ErrorCode code;
  tamis_status status;
} kStatuses[] = {
    {ErrorCode::kInvalidArgument, TAMIS_INVALID_ARGUMENT},
    {ErrorCode::kOutOfMemory, TAMIS_OUT_OF_MEMORY},
    {ErrorCode::kIncompatible, TAMIS_INCOMPATIBLE},
    {ErrorCode::kReadOnly, TAMIS_READ_ONLY},
    {ErrorCode::kUnknownBackend, TAMIS_UNKNOWN_BACKEND},
    {ErrorCode::kIo, TAMIS_IO},
    {ErrorCode::kCorrupt, TAMIS_CORRUPT},
    {ErrorCode::kUnsupported, TAMIS_UNSUPPORTED},
    {ErrorCode::kDevice, TAMIS_DEVICE},
    {ErrorCode::kNotDurable, TAMIS_NOT_DURABLE},
    {ErrorCode::kBusy, TAMIS_BUSY},
    {ErrorCode::kCancelled, TAMIS_CANCELLED},
    {ErrorCode::kSecret, TAMIS_SECRET},
    {ErrorCode::kUnavailable, TAMIS_UNAVAILABLE},
};
static_assert(std::size(kStatuses) == static_cast<size_t>(ErrorCode::kUnavailable) + 1);

// The message of the last failed call. The array has a fixed size, so that storing a message
// allocates no memory. It has room for the longest path and a sentence.
constexpr size_t kMessageBytes = 5 * 1024;
thread_local char last_error[kMessageBytes] = {};

void KeepMessage(const char* text) noexcept {
  const size_t bytes = strnlen(text, kMessageBytes - 1);
  std::memcpy(last_error, text, bytes);
  last_error[bytes] = '\0';
}

tamis_status StatusOf(ErrorCode code) noexcept {
  for (const auto& row : kStatuses) {
    if (row.code == code) return row.status;
  }
  return TAMIS_INTERNAL;
}

}  // namespace

tamis_status Caught() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    KeepMessage(error.what());
    return StatusOf(error.code());
  } catch (const std::bad_alloc&) {
    KeepMessage("out of memory");
    return TAMIS_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    KeepMessage(error.what());
    return TAMIS_INTERNAL;
  } catch (...) {
    KeepMessage("an unknown exception");
    return TAMIS_INTERNAL;
  }
}

}  // namespace tamis::c

using namespace tamis;

const char* tamis_last_error(void) { return c::last_error; }

const char* tamis_status_name(tamis_status status) {
  for (const auto& row : c::kStatuses) {
    if (row.status == status) return ErrorCodeName(row.code);
  }
  if (status == TAMIS_OK) return "Ok";
  return status == TAMIS_INTERNAL ? "Internal" : "unknown";
}
