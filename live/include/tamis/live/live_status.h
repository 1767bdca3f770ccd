// The status of a live filter.
#ifndef TAMIS_LIVE_LIVE_STATUS_H_
#define TAMIS_LIVE_LIVE_STATUS_H_

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "tamis/error.h"

namespace tamis {

// A clock for ages. If the clock goes backwards, ages are 0, never negative. Several threads may
// call it at the same time. It must not throw, and must work until the Live and all its Snapshots
// are destroyed.
using LiveClock = std::function<std::chrono::steady_clock::time_point()>;

// The text and the code of an exception, for code that did not catch the exception.
struct Failure {
  std::string text;               // the message of the error
  std::optional<ErrorCode> code;  // empty if the exception is not an Error; see FailureOf
};

// Describes an exception. The code is the code of the Error, or kOutOfMemory for std::bad_alloc.
Failure FailureOf(const std::exception_ptr& exception);

// Progress of a rebuild, as reported by its source.
struct RebuildProgress {
  uint64_t done = 0;   // keys
  uint64_t total = 0;  // keys; 0 if unknown
};

// The current state of a Live.
struct LiveStatus {
  uint64_t generation = 0;         // number of the current filter; 0 before the first
  std::chrono::nanoseconds age{};  // age of that filter, see Live::Publish; 0 before the first
  bool rebuilding = false;         // whether a rebuild is running
  RebuildProgress progress;        // progress of the running rebuild, or of the last one
  uint64_t recorded = 0;           // changes that the running rebuild still has to replay
  uint64_t skipped_erases = 0;  // keys whose erasures the running or last rebuild does not replay
  uint64_t failures = 0;        // failed rebuilds and calls of Live::NoteFailure
  std::optional<Failure> failure;  // the failure of the last attempt, if it failed
};

}  // namespace tamis

#endif  // TAMIS_LIVE_LIVE_STATUS_H_
