#include "tamis/live/detail/worker.h"

#include <cstddef>
#include <new>

#include "tamis/error.h"

namespace tamis::detail {

Worker& Worker::operator=(Worker&& other) noexcept {
  if (this == &other) return *this;
  LetGo();
  mark_ = other.mark_;
  stop_ = std::move(other.stop_);
  thread_ = std::move(other.thread_);
  return *this;
}

void Worker::Join() {
  if (!mark_.IsOfThisProcess()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a child of fork does not have its parent's threads, and cannot wait for them");
  }
  if (IsCaller()) {
    throw Error(ErrorCode::kInvalidArgument, "a rebuild cannot wait for its own end");
  }
  thread_.join();
}

void Worker::LetGo() noexcept {
  if (!thread_.joinable()) return;
  if (!mark_.IsOfThisProcess()) {
    // In a child of fork, the handle can neither be joined nor detached, and its destructor would
    // call std::terminate. So it is leaked.
    alignas(std::thread) static std::byte nowhere[sizeof(std::thread)];
    ::new (static_cast<void*>(nowhere)) std::thread(std::move(thread_));
    return;
  }
  stop_.request_stop();
  if (IsCaller()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace tamis::detail
