#include "tools/options/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <tamis/file/saving.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <string_view>

#include "tools/input/same_file.h"
#include "tools/output/format.h"
#include "tools/output/output_file.h"

namespace tamis::tools {
namespace {

// The file that a job will replace, and the messages to print before and after it has.
struct Watched {
  std::string path;
  bool exists = false;
  struct stat status = {};
  std::string unchanged;
  std::string saved;

  // A signal handler may call it.
  bool Unchanged() const {
    struct stat now = {};
    if (::stat(path.c_str(), &now) != 0) return !exists;
    return exists && IsSameFile(now, status);
  }
};

std::atomic<const Watched*> watched = nullptr;
static_assert(std::atomic<const Watched*>::is_always_lock_free);

// For the input: a pipe whose first end becomes readable when reading must stop, and the signal
// that stops it.
int stop_pipe[2] = {-1, -1};
std::atomic<int> stopped_by = 0;
static_assert(std::atomic<int>::is_always_lock_free);

std::atomic<int> ended_by = 0;

// Must neither block nor raise SIGPIPE when nobody reads standard error. If poll() reports room in
// a pipe, there is room for PIPE_BUF bytes. A terminal may have room for one byte only, and another
// process may fill it in between. So after a second the process ends without a message.
void Tell(std::string_view message) {
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

void RemoveAndEnd(int number) {
  ended_by = number;
  RemoveTemporaryFiles();
  if (const Watched* const output = watched.load(); output != nullptr) {
    std::string_view message;
    if (output->Unchanged()) message = output->unchanged;
    if (IsOutputSaved()) message = output->saved;
    if (!message.empty()) Tell(message);
  }
  ::raise(number);  // with the default action of the system
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
  Replace(StopInput, RemoveAndEnd, SA_RESETHAND);
  stopped_by = number;
  [[maybe_unused]] const ssize_t written = ::write(stop_pipe[1], "", 1);
  errno = error;
}

}  // namespace

void RemoveTemporaryFilesOnSignals() { Replace(SIG_DFL, RemoveAndEnd, SA_RESETHAND); }

void FailAtFileSizeLimit() { ::signal(SIGXFSZ, SIG_IGN); }

void StopInputOnSignals() {
  if (::pipe(stop_pipe) != 0) return;
  for (const int fd : stop_pipe) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  Replace(RemoveAndEnd, StopInput, 0);
}

void AwaitInput(int fd) {
  if (stop_pipe[0] < 0) return;
  pollfd fds[] = {{fd, POLLIN, 0}, {stop_pipe[0], POLLIN, 0}};
  const int timeout = fd < 0 ? 0 : -1;
  while (::poll(fds, 2, timeout) < 0 && errno == EINTR) {
  }
  if (fds[1].revents != 0) throw Stopped();
}

void EndIfStopped() {
  const int number = stopped_by;
  if (number == 0) return;
  watched = nullptr;  // the job is done and reported
  ::raise(number);
}

void SayIfSavedOnSignals(const std::string& path) {
  static Watched output;
  output.path = path;
  output.exists = ::stat(path.c_str(), &output.status) == 0;
  // Erases a progress bar, which only a terminal shows.
  const std::string before =
      std::string(::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "") + "tamis: interrupted; ";
  const std::string unchanged = output.exists ? " is unchanged\n" : " was not written\n";
  std::string name = Printable(path);
  const size_t most = PIPE_BUF - before.size() - unchanged.size();  // longer than " is saved\n"
  if (name.size() > most) {
    size_t cut = name.size() - most + 3;
    while (cut < name.size() && (name[cut] & 0xC0) == 0x80) ++cut;  // inside a character of UTF-8
    name.replace(0, cut, "...");
  }
  output.unchanged = before + name + unchanged;
  output.saved = before + name + " is saved\n";
  watched = &output;
}

}  // namespace tamis::tools
