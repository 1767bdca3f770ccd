// One connection to one server. Replies arrive in the order of the commands.
#ifndef TAMIS_REDIS_SRC_CLIENT_LINK_H_
#define TAMIS_REDIS_SRC_CLIENT_LINK_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "redis/src/client/command.h"
#include "redis/src/client/reply_reader.h"
#include "redis/src/client/tls.h"
#include "redis/src/client/url.h"
#include "tamis/redis/server_options.h"

struct redisContext;

namespace tamis::redis {

using Time = std::chrono::steady_clock::time_point;

// The settings that all links of a client share.
struct LinkSettings {
  ServerOptions options;
  Url url;  // includes the user and password of `options`
  std::shared_ptr<Tls> tls;
};

// Blocks only to look up a host name. Throws only std::bad_alloc. Any other failure ends the
// connection, and error() returns the reason.
class Link {
 public:
  // `read_only`: sends READONLY, so that a replica answers. `in_cluster`: does not send SELECT.
  Link(const LinkSettings& settings, Address address, bool read_only, bool in_cluster);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  const Address& address() const { return address_; }
  bool read_only() const { return read_only_; }

  // Starts to connect if the link is not connected. Returns false if this fails at once.
  bool Open(Time now);
  bool is_open() const { return context_ != nullptr; }
  // The number of the connection, counted from 1; 0: none so far.
  uint64_t connection() const { return connection_; }
  // Why the connection ended.
  const std::string& error() const { return error_; }
  // True if the server rejects the user and password, or if its certificate is not trusted. Another
  // try is useless then.
  bool refused() const { return refused_; }
  // True if the reply to the first command of TakeUnanswered cannot be read.
  bool unreadable() const { return unreadable_; }

  // Whether another command of this cost may be sent now.
  bool HasRoomFor(uint64_t cost) const;
  // Sends `command`, which must live until its reply has arrived or the connection has ended.
  void Send(Command& command, bool asking, bool with_source);
  bool idle() const { return flights_.empty(); }

  // Return the arguments for poll().
  int fd() const;
  short events() const;
  // The time limit of the next reply.
  Time deadline() const { return deadline_; }

  // Writes and reads as much as possible without blocking. Returns false if the connection has
  // ended.
  bool Work(Time now);
  // Returns the next command that was answered, and writes its reply to `reply`. Returns nullptr if
  // no reply has arrived, or if the connection has ended.
  Command* Next(Time now, std::unique_ptr<Reply>& reply);

  // Ends the connection. TakeUnanswered then returns the commands without a reply.
  void Close(std::string why);
  std::deque<Command*> TakeUnanswered();

 private:
  // A command that waits for its reply; nullptr: a command of the link itself.
  struct Flight {
    Command* command = nullptr;
    ReplyLimits limits;
    uint64_t cost = 0;
  };
  struct Outgoing {
    std::string head;
    const std::string* tail = nullptr;
  };

  void SendOwn(std::initializer_list<std::string_view> words);
  bool FinishConnecting(Time now);
  // Clears greeting_ if the handshake of TLS is complete.
  void FinishGreeting(Time now);
  bool Write();
  // Fills the buffer of the context with the next bytes to send.
  bool Fill();
  void SetDeadline(Time now);
  bool EndWithContextError(const char* doing);

  const LinkSettings& settings_;
  const Address address_;
  const bool read_only_;
  const bool in_cluster_;
  std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
  std::unique_ptr<ReplyReader> reader_;
  uint64_t connection_ = 0;
  Tls::Session* session_ = nullptr;  // belongs to context_
  bool connecting_ = false;
  bool greeting_ = false;  // connected, but the handshake of TLS is not complete
  bool refused_ = false;
  bool unreadable_ = false;
  std::string error_;
  std::deque<Flight> flights_;
  uint64_t bytes_in_flight_ = 0;
  // Commands that are not completely sent. They are the last commands of flights_, in this order.
  std::deque<Outgoing> outgoing_;
  size_t sent_ = 0;      // bytes of outgoing_.front() that were sent, head and tail
  bool unsent_ = false;  // whether the buffer of the context has bytes to send
  Time deadline_ = Time::max();
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_LINK_H_
