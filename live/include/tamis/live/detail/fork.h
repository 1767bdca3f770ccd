// Helpers for a child of fork. The child has a copy of everything in its parent, but only the
// thread that forked.
#ifndef TAMIS_LIVE_DETAIL_FORK_H_
#define TAMIS_LIVE_DETAIL_FORK_H_

#include <condition_variable>
#include <memory>

#include "tamis/cpp20.h"

namespace tamis::detail {

// Remembers which process constructed an object.
class ForkMark {
 public:
  ForkMark() noexcept;
  bool IsOfThisProcess() const noexcept;

 private:
  int process_;
};

// A condition variable that a child of fork may destroy. In the child, the destructor of a standard
// condition variable would wait for threads that wait in the parent.
class ForkableCondition {
 public:
  ForkableCondition() : condition_(std::make_unique<std::condition_variable_any>()) {}
  ForkableCondition(const ForkableCondition&) = delete;
  ForkableCondition& operator=(const ForkableCondition&) = delete;
  ~ForkableCondition() {
    if (!mark_.IsOfThisProcess()) static_cast<void>(condition_.release());
  }

  const ForkMark& mark() const noexcept { return mark_; }
  std::condition_variable_any* operator->() const noexcept { return condition_.get(); }

 private:
  ForkMark mark_;
  std::unique_ptr<std::condition_variable_any> condition_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_FORK_H_
