#include "tools/output/console.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <tamis/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "tools/output/format.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

int OpenToWrite(const std::string& path, int flags) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

}  // namespace

void ReserveStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // open() takes the lowest free descriptor, which is this one.
    if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return;
  }
}

void Say(std::string_view message) noexcept {
  std::string line;
  std::string_view said = "tamis: out of memory\n";
  try {
    line = Progress::Erasure() + "tamis: " + Printable(message) + "\n";
    said = line;
  } catch (const std::bad_alloc&) {  // then this is the message
  }
  // One write, so that lines of several processes do not mix. If it fails, the error cannot be
  // reported anywhere.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, said.data(), said.size());
}

Output::Output() : fd_(STDOUT_FILENO), name_("standard output") {}

Output::Output(const std::string& path)
    : fd_(OpenToWrite(path, O_EXCL)), is_new_(fd_ >= 0), name_(path) {
  if (!is_new_) fd_ = OpenToWrite(path, 0);
  if (fd_ < 0) Fail(errno);
  struct stat status = {};
  is_regular_ = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  has_old_contents_ = is_regular_;
}

Output::~Output() {
  if (fd_ <= STDERR_FILENO) return;
  if (is_new_) {
    ::unlink(name_.c_str());
  } else if (is_regular_ && !has_old_contents_) {
    // If this fails, the error cannot be reported anywhere.
    [[maybe_unused]] const int failed = ::ftruncate(fd_, 0);
  }
  ::close(fd_);
}

void Output::Fail(int error) const {
  if (error == EPIPE && fd_ == STDOUT_FILENO) throw OutputClosed();
  throw Error(ErrorCode::kIo, "cannot write " + name_ + ": " + std::strerror(error));
}

void Output::WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (written == 0) {
      Fail(EIO);  // it would loop forever
    } else if (errno != EINTR) {
      Fail(errno);
    }
  }
}

void Output::Write(std::string_view text) {
  if (buffer_.size() + text.size() > kBufferBytes) Flush();
  if (text.size() > kBufferBytes) {
    WriteAll(text);
  } else {
    buffer_.append(text);
  }
}

void Output::Flush() {
  if (std::exchange(has_old_contents_, false) && ::ftruncate(fd_, 0) != 0) Fail(errno);
  WriteAll(buffer_);
  buffer_.clear();
}

void Output::Close() {
  Flush();
  // Standard output stays open for others. Closing a duplicate of its descriptor reports the
  // same errors as closing standard output.
  const int fd = fd_ == STDOUT_FILENO ? ::dup(fd_) : fd_;
  if (fd < 0) Fail(errno);
  if (fd_ != STDOUT_FILENO) fd_ = -1;
  if (::close(fd) != 0) Fail(errno);
}

void Print(std::string_view text) {
  Output out;
  out.Write(text);
  out.Close();
}

}  // namespace tamis::tools
