#include "tools/os/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>

namespace tamis::tools::os {
namespace {

void (*before_end)() = nullptr;

// A pipe whose first end becomes readable when reading must stop, and the signal that stops it.
int stop_pipe[2] = {-1, -1};
std::atomic<int> stopped_by = 0;
static_assert(std::atomic<int>::is_always_lock_free);

std::atomic<int> ended_by = 0;

void CallAndEnd(int number) {
  ended_by = number;
  before_end();
  ::raise(number);  // the default action of the system ends the process
}

// Replaces `handler` by `by`, for the signals that have this handler. A signal handler may call
// this.
void Replace(void (*handler)(int), void (*by)(int), int flags) {
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action = {};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler != handler) continue;
    action.sa_handler = by;
    action.sa_flags = flags;
    ::sigaction(number, &action, nullptr);
  }
}

void StopInput(int number) {
  const int error = errno;
  Replace(StopInput, CallAndEnd, SA_RESETHAND);
  stopped_by = number;
  [[maybe_unused]] const ssize_t written = ::write(stop_pipe[1], "", 1);
  errno = error;
}

}  // namespace

const size_t kMaxEndMessageBytes = PIPE_BUF;

void CallBeforeEnd(void (*function)()) {
  before_end = function;
  Replace(SIG_DFL, CallAndEnd, SA_RESETHAND);
}

// Must neither block nor raise SIGPIPE when nobody reads standard error. If poll() reports room in
// a pipe, there is room for PIPE_BUF bytes. A terminal may have room for one byte only, and another
// process may fill it in between. So after a second the process ends without a message.
void WriteMessageBeforeEnd(std::string_view message) {
  pollfd error = {STDERR_FILENO, POLLOUT, 0};
  if (::poll(&error, 1, 0) != 1 || error.revents != POLLOUT) return;
  struct sigaction late = {};
  late.sa_handler = [](int) { ::raise(ended_by); };  // or write() ends, if it is in this thread
  sigset_t alarm;
  sigemptyset(&alarm);  // macros on some systems
  sigaddset(&alarm, SIGALRM);
  if (::sigaction(SIGALRM, &late, nullptr) != 0) return;
  if (::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr) != 0) return;
  ::alarm(1);
  // If this fails, the error cannot be reported anywhere.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
}

void StopInputOnRequest() {
  if (::pipe(stop_pipe) != 0) return;
  for (const int fd : stop_pipe) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  Replace(CallAndEnd, StopInput, 0);
}

void AwaitInput(int fd) {
  if (stop_pipe[0] < 0) return;
  pollfd fds[] = {{fd, POLLIN, 0}, {stop_pipe[0], POLLIN, 0}};
  const int timeout = fd < 0 ? 0 : -1;
  while (::poll(fds, 2, timeout) < 0 && errno == EINTR) {
  }
  if (fds[1].revents != 0) throw Stopped();
}

bool IsInputStopped() { return stopped_by != 0; }

void EndByRequest() { ::raise(stopped_by); }

}  // namespace tamis::tools::os
