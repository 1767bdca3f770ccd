#include "tamis/live/live_status.h"

#include <new>

namespace tamis {

Failure FailureOf(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return {error.what(), error.code()};
  } catch (const std::bad_alloc&) {
    return {"out of memory", ErrorCode::kOutOfMemory};
  } catch (const std::exception& error) {
    return {error.what(), {}};
  } catch (...) {
    return {"an exception that is not a std::exception was thrown", {}};
  }
}

}  // namespace tamis
