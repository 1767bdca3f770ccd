#include "bindings/c/src/guard.h"

#include <exception>
#include <iterator>
#include <new>

namespace tamis::c {
namespace {

// The numbers of codes may change from version to version, those of statuses may not.
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

}  // namespace

tamis_status StatusOf(ErrorCode code) noexcept {
  for (const auto& row : kStatuses) {
    if (row.code == code) return row.status;
  }
  return TAMIS_INTERNAL;
}

std::optional<ErrorCode> CodeOf(tamis_status status) noexcept {
  for (const auto& row : kStatuses) {
    if (row.status == status) return row.code;
  }
  return std::nullopt;
}

tamis_status Caught() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    tamis_set_last_error(error.what());
    return StatusOf(error.code());
  } catch (const std::bad_alloc&) {
    tamis_set_last_error("out of memory");
    return TAMIS_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    tamis_set_last_error(error.what());
    return TAMIS_INTERNAL;
  } catch (...) {
    tamis_set_last_error("an unknown exception");
    return TAMIS_INTERNAL;
  }
}

}  // namespace tamis::c
