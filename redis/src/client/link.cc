#include "redis/src/client/link.h"

#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "tamis/detail/str_cat.h"

namespace tamis::redis {
namespace {

// Bytes passed to hiredis at a time. After each write, hiredis moves the rest of its buffer to the
// front, so a large buffer would be slow.
constexpr size_t kWriteBytes = size_t{256} << 10;
// Maximum number of reads, of 16 KiB each, from one connection before the next connection is read.
constexpr int kReadsInARow = 16;
constexpr size_t kOwnReplyBytes = 4096;
// Upper bound for all replies to commands of the link itself, plus one read.
constexpr size_t kOwnBytes = size_t{1} << 20;
// Number of bytes that add one command_timeout to the time limit of a reply.
constexpr uint64_t kBytesOfTimeout = uint64_t{4} << 20;

std::string SystemText(int error) { return std::generic_category().message(error); }

// Sets TCP_NODELAY. Without it, the second small write of a call waits until the first is
// acknowledged.
void SendAtOnce(int fd) {
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

}  // namespace

Link::Link(const LinkSettings& settings, Address address, bool read_only, bool in_cluster)
    : settings_(settings),
      address_(std::move(address)),
      read_only_(read_only),
      in_cluster_(in_cluster),
      context_(nullptr, redisFree) {}

Link::~Link() = default;

bool Link::Open(Time now) {
  if (context_ != nullptr) return true;
  context_.reset(redisConnectNonBlock(address_.host.c_str(), address_.port));
  if (context_ == nullptr) {
    error_ = "not enough memory for a connection";
    return false;
  }
  if (context_->err != 0) return EndWithContextError("cannot connect");
  ++connection_;
  SendAtOnce(context_->fd);
  reader_ = std::make_unique<ReplyReader>(context_->reader);
  connecting_ = true;
  refused_ = unreadable_ = false;
  error_.clear();
  deadline_ = now + settings_.options.connect_timeout;
  const Url& url = settings_.url;
  if (!url.password.empty()) {
    if (url.user.empty()) {
      SendOwn({"AUTH", url.password});
    } else {
      SendOwn({"AUTH", url.user, url.password});
    }
  }
  if (!in_cluster_ && url.database != 0) SendOwn({"SELECT", std::to_string(url.database)});
  if (read_only_) SendOwn({"READONLY"});
  return true;
}

void Link::SendOwn(std::initializer_list<std::string_view> words) {
  Outgoing out;
  out.head = detail::StrCat("*", words.size(), "\r\n");
  for (const std::string_view word : words) AppendWord(word, out.head);
  flights_.push_back({nullptr, {kOwnReplyBytes, 1}, 0});
  outgoing_.push_back(std::move(out));
}

bool Link::HasRoomFor(uint64_t cost) const {
  return bytes_in_flight_ == 0 || bytes_in_flight_ + cost <= settings_.options.max_bytes_in_flight;
}

void Link::Send(Command& command, bool asking, bool with_source) {
  const bool was_idle = flights_.empty();
  if (asking) SendOwn({"ASKING"});
  flights_.push_back({&command, command.limits(), command.cost()});
  bytes_in_flight_ += command.cost();
  outgoing_.push_back({command.Head(with_source), &command.tail()});
  if (was_idle && !connecting_ && !greeting_) SetDeadline(std::chrono::steady_clock::now());
}

int Link::fd() const { return context_ == nullptr ? -1 : context_->fd; }

short Link::events() const {
  const bool writing = connecting_ || unsent_ || !outgoing_.empty();
  return static_cast<short>(POLLIN | (writing ? POLLOUT : 0));
}

void Link::SetDeadline(Time now) {
  if (flights_.empty()) {
    deadline_ = Time::max();
    return;
  }
  // The cost includes the command, because the time limit includes sending it.
  const auto times = 1 + flights_.front().cost / kBytesOfTimeout;
  deadline_ = now + settings_.options.command_timeout * static_cast<int64_t>(times);
}

bool Link::EndWithContextError(const char* doing) {
  std::string why = std::string(doing) + ": ";
  if (context_->err == REDIS_ERR_IO && errno != 0) {
    why += SystemText(errno);
  } else {
    why += ShownText(context_->errstr);
  }
  const char* const untrusted =
      session_ != nullptr ? settings_.tls->WhyUntrusted(session_) : nullptr;
  if (untrusted != nullptr) why = std::string("its certificate is not trusted: ") + untrusted;
  Close(std::move(why));
  refused_ = untrusted != nullptr;
  return false;
}

bool Link::FinishConnecting(Time now) {
  pollfd poller = {context_->fd, POLLOUT, 0};
  if (poll(&poller, 1, 0) <= 0) return true;  // not connected yet
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(context_->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) {
    Close("cannot connect: " + SystemText(error));
    return false;
  }
  if (settings_.tls != nullptr) {
    session_ = settings_.tls->Start(context_.get(), address_.host);
    if (session_ == nullptr) return EndWithContextError("TLS cannot be started");
    greeting_ = true;
  }
  connecting_ = false;
  if (!greeting_) SetDeadline(now);
  return true;
}

void Link::FinishGreeting(Time now) {
  if (!greeting_ || !settings_.tls->IsBegun(session_)) return;
  greeting_ = false;
  SetDeadline(now);
}

bool Link::Fill() {
  std::string slice;
  while (slice.size() < kWriteBytes && !outgoing_.empty()) {
    const Outgoing& out = outgoing_.front();
    const size_t head = out.head.size();
    const size_t tail = out.tail == nullptr ? 0 : out.tail->size();
    const size_t room = kWriteBytes - slice.size();
    if (sent_ < head) {
      slice += out.head;  // never split, so that the head counts as sent as a whole
      sent_ = head;
    } else {
      const size_t count = std::min(room, head + tail - sent_);
      slice.append(*out.tail, sent_ - head, count);
      sent_ += count;
    }
    if (sent_ < head + tail) continue;
    outgoing_.pop_front();
    sent_ = 0;
  }
  return redisAppendFormattedCommand(context_.get(), slice.data(), slice.size()) == REDIS_OK;
}

bool Link::Write() {
  while (unsent_ || !outgoing_.empty()) {
    if (!unsent_ && !Fill()) return EndWithContextError("cannot send");
    int done = 0;
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK)
      return EndWithContextError("cannot send");
    unsent_ = done == 0;
    if (unsent_) return true;
  }
  return true;
}

bool Link::Work(Time now) {
  if (context_ == nullptr) return false;
  if (connecting_) {
    if (!FinishConnecting(now)) return false;
    if (connecting_ && now >= deadline_) {
      Close("cannot connect: no answer in time");
      return false;
    }
    if (connecting_) return true;
  }
  if (!Write()) return false;
  // TLS may already have taken bytes from the socket. poll() does not report them, so everything is
  // read now.
  const bool to_the_end = settings_.tls != nullptr;
  for (int i = 0; to_the_end || i < kReadsInARow; ++i) {
    pollfd poller = {context_->fd, POLLIN, 0};
    if (!to_the_end && poll(&poller, 1, 0) <= 0) break;
    const size_t before = context_->reader->len;
    if (redisBufferRead(context_.get()) != REDIS_OK) {
      // The data that was read is processed first. The next call finds the connection broken again.
      if (i > 0) break;
      return EndWithContextError("the connection broke");
    }
    if (context_->reader->len == before) break;
  }
  FinishGreeting(now);
  return true;
}

Command* Link::Next(Time now, std::unique_ptr<Reply>& reply) {
  if (greeting_ && now >= deadline_) Close("TLS cannot be started: no answer in time");
  while (context_ != nullptr) {
    if (flights_.empty()) {
      // Ends the connection if it has data that no command requested.
      if (context_->reader->len > context_->reader->pos)
        Close("the server sent data without a command");
      return nullptr;
    }
    const Flight flight = flights_.front();
    reader_->set_limits(flight.limits);
    if (!reader_->Next(reply)) {
      Close(std::string("the server's reply cannot be read: ") + ShownText(reader_->error()));
      unreadable_ = flight.command != nullptr;
      return nullptr;
    }
    if (reply == nullptr) {
      // Limits the memory that an endless reply takes.
      if (context_->reader->len - context_->reader->pos > bytes_in_flight_ + kOwnBytes) {
        Close("the server's reply is larger than expected");
        unreadable_ = flight.command != nullptr;
      } else if (now >= deadline_) {
        Close("no answer in time");
      }
      return nullptr;
    }
    if (flights_.size() <= outgoing_.size()) {
      // The command is not completely sent yet. Its rest must not be sent after the caller has
      // freed it.
      Close("the server answered before the command was sent: it returned " + ReplyText(*reply));
      return nullptr;
    }
    flights_.pop_front();
    bytes_in_flight_ -= flight.cost;
    SetDeadline(now);
    if (flight.command != nullptr) return flight.command;
    if (reply->IsError()) {
      // A server that is loading its data still checks AUTH, the first command.
      const bool refused =
          !reply->text.starts_with("LOADING") && !reply->text.starts_with("MASTERDOWN");
      Close("the server refuses: " + ShownText(reply->text));
      refused_ = refused;
      return nullptr;
    }
  }
  return nullptr;
}

void Link::Close(std::string why) {
  error_ = AddressText(address_) + ": " + why;
  reader_.reset();
  session_ = nullptr;
  context_.reset();
  connecting_ = greeting_ = false;
  outgoing_.clear();
  sent_ = 0;
  unsent_ = false;
  deadline_ = Time::max();
}

std::deque<Command*> Link::TakeUnanswered() {
  std::deque<Command*> commands;
  for (const Flight& flight : flights_) {
    if (flight.command != nullptr) commands.push_back(flight.command);
  }
  flights_.clear();
  bytes_in_flight_ = 0;
  return commands;
}

}  // namespace tamis::redis
