#include "tools/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <tamis/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "tools/format.h"
#include "tools/parse.h"

namespace tamis::tools {
namespace {

constexpr size_t kBlockBytes = size_t{8} << 20;

[[noreturn]] void FailRead(const std::string& name, int error) {
  throw Error(ErrorCode::kIo, "cannot read " + name + ": " + std::strerror(error));
}

bool HasMore(int fd) {
  pollfd poll_fd{fd, POLLIN, 0};
  return ::poll(&poll_fd, 1, 0) > 0;
}

}  // namespace

const char kKeyFormsHelp[] =
    "A key is a line of text, without its LF or CRLF, unless one of the forms above is chosen.\n"
    "Integers are from -2^63 to 2^64-1. Lines without a key (empty, no integer, too few columns) "
    "are\n"
    "skipped, counted and reported with their numbers; with --strict the first one ends the "
    "command.\n"
    "So does a stray quote in CSV, which would swallow other lines: one that is not closed, or\n"
    "whose field goes over line ends and then breaks RFC 4180 or has more than --quoted-lines.\n"
    "\n"
    "The string \"42\" and the integer 42 are different keys; --integers and --u64 are the same "
    "form.\n"
    "A filter knows which it was built of (`tamis info`), and the other is refused.\n";

void InputOptions::AddTo(const CommandLine& command) {
  command.Add("INPUT", paths, "files with keys; - is standard input (default: -)");
  const Option csv_flag =
      command.AddFlag("--csv", csv, "comma-separated records, quoted as in RFC 4180");
  const Option tsv_flag = command.AddFlag("--tsv", tsv, "tab-separated records, without quotes");
  const Option column_option = command.Add(
      "--column", column, "the key's column: number from 1 (default), or name (means --header)");
  column_option.Type("N|NAME");
  const Option header_flag =
      command.AddFlag("--header", header, "each input begins with a record of names");
  const Option quotes_flag =
      command.AddFlag("--no-quotes", no_quotes, "of CSV: quotes are text, and records are lines");
  const Option lines_option =
      command.Add("--quoted-lines", quoted_lines, ParsePositiveCount,
                  "of CSV: lines that a quoted field may have (default: 1000)");
  lines_option.Type("N").Excludes(quotes_flag);
  const Option integers_flag = command.AddFlag("--integers", integers, "keys are decimal integers");
  const Option u64_flag = command.AddFlag("--u64", u64, "raw little-endian 64-bit integers");
  const Option strict_flag =
      command.AddFlag("--strict", strict, "fail at the first line without a key");
  csv_flag.Excludes(tsv_flag).Excludes(u64_flag);
  tsv_flag.Excludes(u64_flag);
  for (const Option& option : {column_option, header_flag, integers_flag})
    option.Excludes(u64_flag);
  for (const Option& option : {csv_flag, tsv_flag, column_option, header_flag, quotes_flag,
                               lines_option, integers_flag, u64_flag, strict_flag}) {
    option.Group("Forms of keys");
  }
}

void InputOptions::Check() const {
  if (!csv && !tsv && (header || !column.empty())) {
    throw Error(ErrorCode::kInvalidArgument, "--column and --header need --csv or --tsv");
  }
  if (!csv && (no_quotes || quoted_lines != kQuotedLines)) {
    throw Error(ErrorCode::kInvalidArgument, "--no-quotes and --quoted-lines need --csv");
  }
  ColumnNumber();
}

std::optional<uint64_t> InputOptions::ColumnNumber() const {
  if (column.empty()) return 1;
  if (column.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (error != std::errc() || number < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "--column: " + Quoted(column) + " is not a column: they count from 1 to 2^64 - 1");
  }
  return number;
}

std::optional<uint64_t> InputOptions::TotalBytes() const {
  uint64_t total = 0;
  bool known = true;
  for (const std::string& path : paths) {
    struct stat status = {};
    if (path != "-") {
      if (::stat(path.c_str(), &status) != 0 || ::access(path.c_str(), R_OK) != 0) {
        FailRead(path, errno);
      }
      if (S_ISDIR(status.st_mode)) FailRead(path, EISDIR);
    }
    known = known && S_ISREG(status.st_mode);
    total += static_cast<uint64_t>(status.st_size);
  }
  return known ? std::optional(total) : std::nullopt;
}

InputFile::InputFile(const std::string& path)
    : fd_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      name_(path == "-" ? "(standard input)" : path),
      capacity_(kBlockBytes),
      // Not zeroed: a small file touches a few pages of it.
      buffer_(std::make_unique_for_overwrite<char[]>(capacity_)) {
  if (fd_ < 0) FailRead(name_, errno);
  // A hint; that a pipe refuses it is no error.
  ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

InputFile::~InputFile() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

size_t InputFile::Fill() {
  const std::string_view rest = text();
  if (rest.size() == capacity_) {
    auto larger = std::make_unique_for_overwrite<char[]>(2 * capacity_);
    std::copy(rest.begin(), rest.end(), larger.get());
    buffer_ = std::move(larger);
    capacity_ *= 2;
  } else {
    std::memmove(buffer_.get(), rest.data(), rest.size());
  }
  begin_ = 0;
  end_ = rest.size();
  const size_t before = end_;
  while (end_ < capacity_ && !last_) {
    if (end_ > before && !HasMore(fd_)) break;
    const ssize_t bytes = ::read(fd_, buffer_.get() + end_, capacity_ - end_);
    if (bytes > 0) {
      end_ += static_cast<size_t>(bytes);
    } else if (bytes == 0) {
      last_ = true;
    } else if (errno != EINTR) {
      FailRead(name_, errno);
    }
  }
  return end_ - before;
}

}  // namespace tamis::tools
