// Limits how often work is repeated because of rebuilds.
#ifndef TAMIS_REDIS_SRC_CLIENT_PATIENCE_H_
#define TAMIS_REDIS_SRC_CLIENT_PATIENCE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

#include "redis/src/client/client.h"

namespace tamis::redis {

// Always allows three repetitions, because one rebuild changes a segment three times. Allows
// further repetitions until ServerOptions::retry_for has passed without progress, and pauses before
// each one after the eighth. A slow client, or a client that waits for a moving slot, can be too
// late for many rebuilds in a row. The time limit ends the work if the answers of servers never
// stop changing.
class Patience {
 public:
  explicit Patience(Client& client) : client_(client) {}

  // Returns whether to repeat the work that is left, and may pause first. `left` is the amount of
  // work. Whenever `left` is smaller than in all earlier calls, the time limit starts again.
  bool OnceMore(size_t left) {
    const auto now = std::chrono::steady_clock::now();
    if (left < least_left_) end_ = now + client_.options().retry_for;
    least_left_ = std::min(least_left_, left);
    ++times_;
    if (times_ > kTimesAnyhow && now > end_) return false;
    if (times_ > kTimesAtOnce) client_.Pause(times_ - kTimesAtOnce, end_);
    return true;
  }

 private:
  static constexpr int kTimesAnyhow = 3;
  static constexpr int kTimesAtOnce = 8;

  Client& client_;
  std::chrono::steady_clock::time_point end_{};
  size_t least_left_ = std::numeric_limits<size_t>::max();
  int times_ = 0;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_PATIENCE_H_
