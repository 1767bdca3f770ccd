// How often something begins anew as a rebuild came between.
#ifndef TAMIS_REDIS_SRC_PATIENCE_H_
#define TAMIS_REDIS_SRC_PATIENCE_H_

#include <chrono>
#include <cstddef>
#include <limits>

namespace tamis::redis {

// Some times, and as long as ServerOptions::retry_for says for what fails: a rebuild changes a
// segment three times, but who is slow, or waits for a slot that moves, may be late for each change
// of many rebuilds. Not for ever, as servers might never say the same twice.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds retry_for) : retry_for_(retry_for) {}

  // Whether to do once more what was not done. `left`: how much that is.
  bool OnceMore(size_t left) {
    const auto now = std::chrono::steady_clock::now();
    if (left < least_left_) progress_ = now;
    least_left_ = left < least_left_ ? left : least_left_;
    return ++times_ <= kTimesAtLeast || now - progress_ <= retry_for_;
  }

 private:
  static constexpr int kTimesAtLeast = 8;

  std::chrono::milliseconds retry_for_;
  std::chrono::steady_clock::time_point progress_ = std::chrono::steady_clock::now();
  size_t least_left_ = std::numeric_limits<size_t>::max();
  int times_ = 0;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_PATIENCE_H_
