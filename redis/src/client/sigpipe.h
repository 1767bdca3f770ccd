// Blocks SIGPIPE, so that a write to a broken connection does not end the process.
#ifndef TAMIS_REDIS_SRC_CLIENT_SIGPIPE_H_
#define TAMIS_REDIS_SRC_CLIENT_SIGPIPE_H_

#include <signal.h>

namespace tamis::redis {

// Blocks the signal for the calling thread during the lifetime of the object, whatever handler of
// SIGPIPE the process has. The destructor removes a SIGPIPE that arrived during that time.
class SigpipeBlock {
 public:
  SigpipeBlock() noexcept {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;
  ~SigpipeBlock() {
    if (!was_pending_) {
      const timespec now = {0, 0};
      while (sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_SIGPIPE_H_
