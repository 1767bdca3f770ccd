#include "tools/options/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <tamis/file/saving.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <string_view>

#include "tools/output/format.h"
#include "tools/output/output_file.h"

namespace tamis::tools {
namespace {

// What a job will replace, and what to say while it has not, and when it has.
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
    return exists && now.st_dev == status.st_dev && now.st_ino == status.st_ino &&
           now.st_size == status.st_size && now.st_mtim.tv_sec == status.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == status.st_mtim.tv_nsec;
  }
};

std::atomic<const Watched*> watched = nullptr;
static_assert(std::atomic<const Watched*>::is_always_lock_free);

// Of the input: a descriptor that can be read from once it is to stop, and by which signal.
int stop_fd = -1;
std::atomic<int> stopped_by = 0;
static_assert(std::atomic<int>::is_always_lock_free);

std::atomic<int> ended_by = 0;

// Neither waits for who does not read standard error, nor ends by SIGPIPE where nobody does: where
// poll() sees room in a pipe there is some for PIPE_BUF bytes. In a terminal it may be for one, and
// somebody else may have filled it meanwhile: after a second the process ends untold.
void Tell(std::string_view message) {
  pollfd error = {STDERR_FILENO, POLLOUT, 0};
  if (::poll(&error, 1, 0) != 1 || error.revents != POLLOUT) return;
  struct sigaction late = {};
  late.sa_handler = [](int) { ::raise(ended_by); };  // or, in this thread, write() ends
  sigset_t alarm;
  ::sigemptyset(&alarm);
  ::sigaddset(&alarm, SIGALRM);
  if (::sigaction(SIGALRM, &late, nullptr) != 0) return;
  if (::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr) != 0) return;
  ::alarm(1);
  // Nowhere is left to report that standard error does not work.
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
  ::raise(number);  // by now in the way of the system
}

// For the signals that are treated in this way so far. A signal handler may call it.
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
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_fd, &one, sizeof(one));
  errno = error;
}

}  // namespace

void RemoveTemporaryFilesOnSignals() { Replace(SIG_DFL, RemoveAndEnd, SA_RESETHAND); }

void FailAtFileSizeLimit() { ::signal(SIGXFSZ, SIG_IGN); }

void StopInputOnSignals() {
  stop_fd = ::eventfd(0, EFD_CLOEXEC);
  if (stop_fd >= 0) Replace(RemoveAndEnd, StopInput, 0);
}

void AwaitInput(int fd) {
  if (stop_fd < 0) return;
  pollfd fds[] = {{fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
  const int timeout = fd < 0 ? 0 : -1;
  while (::poll(fds, 2, timeout) < 0 && errno == EINTR) {
  }
  if (fds[1].revents != 0) throw Stopped();
}

void EndIfStopped() {
  const int number = stopped_by;
  if (number == 0) return;
  watched = nullptr;  // all is done, and told
  ::raise(number);
}

void SayIfSavedOnSignals(const std::string& path) {
  static Watched output;
  output.path = path;
  output.exists = ::stat(path.c_str(), &output.status) == 0;
  // Clear of a progress bar, which only a terminal shows.
  const std::string before =
      std::string(::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "") + "tamis: interrupted; ";
  const std::string unchanged = output.exists ? " is as it was\n" : " was not written\n";
  std::string name = Printable(path);
  const size_t most =
      PIPE_BUF - before.size() - unchanged.size();  // not shorter than " is saved\n"
  if (name.size() > most) {
    size_t cut = name.size() - most + 3;
    while (cut < name.size() && (name[cut] & 0xC0) == 0x80) ++cut;  // amid a character of UTF-8
    name.replace(0, cut, "...");
  }
  output.unchanged = before + name + unchanged;
  output.saved = before + name + " is saved\n";
  watched = &output;
}

}  // namespace tamis::tools
