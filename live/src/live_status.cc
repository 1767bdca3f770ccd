#include "tamis/live/live_status.h"

#include <new>

namespace tamis {

Failure FailureOf(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return {error.what(), error.code()};
  } catch (const std::bad_alloc&) {
    return {"there is no memory left", ErrorCode::kOutOfMemory};
  } catch (const std::exception& error) {
    return {error.what(), {}};
  } catch (...) {
    return {"something that is no std::exception was thrown", {}};
  }
}

}  // namespace tamis
