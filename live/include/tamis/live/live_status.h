// What a live filter says of itself.
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

// What ages are counted by. One that goes backwards makes nothing negative: ages are then 0. Called
// by several threads at a time, for as long as any of them has a Snapshot; must not throw.
using LiveClock = std::function<std::chrono::steady_clock::time_point()>;

// An exception, for those who were not there to catch it.
struct Failure {
  std::string text;
  std::optional<ErrorCode> code;  // none for exceptions that are not an Error; see FailureOf
};

// What an exception says: of an Error its code, of std::bad_alloc kOutOfMemory.
Failure FailureOf(const std::exception_ptr& exception);

// How far a rebuild is, as its source has told.
struct RebuildProgress {
  uint64_t done = 0;   // keys
  uint64_t total = 0;  // keys; 0 if that is not known
};

struct LiveStatus {
  uint64_t generation = 0;         // of the filter that serves; 0 if there is none yet
  std::chrono::nanoseconds age{};  // of what it knows, see Live::Publish; 0 if there is none yet
  bool rebuilding = false;
  RebuildProgress progress;        // of the rebuild that is running, else of the last one
  uint64_t recorded = 0;           // keys whose changes wait to be replayed by it
  uint64_t skipped_erases = 0;     // keys whose erasures it, or the last one, does not replay
  uint64_t failures = 0;           // attempts to get a new filter that came to nothing
  std::optional<Failure> failure;  // of the last attempt, if that did
};

}  // namespace tamis

#endif  // TAMIS_LIVE_LIVE_STATUS_H_
