#include "tools/output/console.h"

#include <tamis/error.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

#include "tools/os/file.h"
#include "tools/output/format.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

// Called when a signal is ending the process, and the file of an Output is discarded.
[[noreturn]] void AwaitEnd() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

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
  os::Write(os::kStandardError, said.data(), said.size());
}

Output::Output() : fd_(os::kStandardOutput), name_("standard output") {}

std::atomic<Output*> Output::unfinished_ = nullptr;
static_assert(std::atomic<Output*>::is_always_lock_free);

Output::Output(const std::string& path)
    : fd_(os::OpenToWrite(path, /*must_be_new=*/true)), is_new_(fd_ >= 0), name_(path) {
  if (!is_new_) fd_ = os::OpenToWrite(path, /*must_be_new=*/false);
  if (fd_ < 0) Fail(errno);
  const std::optional<os::FileStatus> status = os::StatusOf(fd_);
  is_regular_ = status && status->type == os::FileType::kRegular;
  has_old_contents_ = is_regular_;
  Output* none = nullptr;
  if (!unfinished_.compare_exchange_strong(none, this)) {
    throw std::logic_error("two output files are written at a time");
  }
}

Output::~Output() {
  if (fd_ <= os::kStandardError) return;
  TakeFromSignals();
  Discard();
  os::Close(fd_);
}

void Output::TakeFromSignals() {
  if (unfinished_.exchange(nullptr) != this) AwaitEnd();
}

void Output::DiscardUnfinished() noexcept {
  if (const Output* const output = unfinished_.exchange(nullptr)) output->Discard();
}

// If something fails here, the error cannot be reported anywhere.
void Output::Discard() const {
  if (!is_new_) {
    if (is_regular_ && !has_old_contents_) os::Empty(fd_);
    return;
  }
  // Another program may have put another file there.
  const std::optional<os::FileStatus> own = os::StatusOf(fd_);
  const std::optional<os::FileStatus> named = os::StatusOf(name_);
  if (own && named && named->IsSameFileAs(*own)) os::Remove(name_);
}

void Output::Fail(int error) const {
  if (error == EPIPE && fd_ == os::kStandardOutput) throw OutputClosed();
  throw Error(ErrorCode::kIo, "cannot write " + name_ + ": " + std::strerror(error));
}

void Output::WriteAll(std::string_view text) {
  while (!text.empty()) {
    if (fd_ > os::kStandardError && unfinished_ != this) AwaitEnd();
    const int64_t written = os::Write(fd_, text.data(), text.size());
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
  if (has_old_contents_) {
    if (!os::Empty(fd_)) Fail(errno);
    has_old_contents_ = false;
  }
  WriteAll(buffer_);
  buffer_.clear();
}

void Output::Close() {
  Flush();
  // Standard output stays open for others. Closing a duplicate of its descriptor reports the
  // same errors as closing standard output.
  const int fd = fd_ == os::kStandardOutput ? os::Duplicate(fd_) : fd_;
  if (fd < 0) Fail(errno);
  if (fd_ != os::kStandardOutput) {
    TakeFromSignals();
    fd_ = -1;
  }
  if (!os::Close(fd)) Fail(errno);
}

void Output::CloseAs(const std::string& path) {
  Flush();
  if (!os::Sync(fd_)) Fail(errno);
  Close();
  std::error_code error;
  std::filesystem::rename(name_, path, error);
  if (!error) return;
  os::Remove(name_);
  throw Error(ErrorCode::kIo, "cannot write " + path + ": " + error.message());
}

void Print(std::string_view text) {
  Output out;
  out.Write(text);
  out.Close();
}

}  // namespace tamis::tools
