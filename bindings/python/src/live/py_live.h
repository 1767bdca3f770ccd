// A live filter as a Python object.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_LIVE_PY_LIVE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_LIVE_PY_LIVE_H_

#include <tamis/live/live.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bindings/python/src/live/any_concurrent.h"

namespace tamis::python {

using LiveFilter = Live<AnyConcurrent>;

// The threads that have opened a change of a Live. A rebuild on such a thread would wait for
// itself.
class OpenScopes {
 public:
  void Add() {
    const std::lock_guard lock(mutex_);
    threads_.push_back(std::this_thread::get_id());
  }
  void Remove(std::thread::id thread) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(threads_, thread);
    if (found != threads_.end()) threads_.erase(found);
  }
  bool HasOfCaller() const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(threads_, std::this_thread::get_id()) != threads_.end();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::thread::id> threads_;
};

// Registers one change of this thread during its lifetime. Another thread may destroy the mark.
class ScopeMark {
 public:
  explicit ScopeMark(OpenScopes& scopes) : scopes_(scopes) { scopes_.Add(); }
  ScopeMark(const ScopeMark&) = delete;
  ScopeMark& operator=(const ScopeMark&) = delete;
  ~ScopeMark() { scopes_.Remove(thread_); }

 private:
  OpenScopes& scopes_;
  const std::thread::id thread_ = std::this_thread::get_id();
};

struct PyLive {
  explicit PyLive(LiveOptions options) : live(std::move(options)) {}

  OpenScopes scopes;
  LiveFilter live;
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_LIVE_PY_LIVE_H_
