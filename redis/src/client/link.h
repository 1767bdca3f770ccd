// One connection to one server: commands go in, and their replies come out in their order.
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

// What all links of a client have in common.
struct LinkSettings {
  ServerOptions options;
  Url url;  // with the user and password that are used
  std::shared_ptr<Tls> tls;
};

// Never blocks but to look up a name. Nothing is thrown but std::bad_alloc: what goes wrong ends
// the connection, and error() says why.
class Link {
 public:
  // `read_only`: of a replica, which is to answer itself. `in_cluster`: has no databases.
  Link(const LinkSettings& settings, Address address, bool read_only, bool in_cluster);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  const Address& address() const { return address_; }
  bool read_only() const { return read_only_; }

  // Begins to connect if it is not connected. False if that failed at once.
  bool Open(Time now);
  bool is_open() const { return context_ != nullptr; }
  // Another number for each connection; 0: there was none.
  uint64_t connection() const { return connection_; }
  // Why the connection ended.
  const std::string& error() const { return error_; }
  // True if the server does not accept user and password, or has no certificate that is trusted: no
  // use to try again.
  bool refused() const { return refused_; }
  // True if the answer to the first command that TakeUnanswered gives back cannot be read.
  bool unreadable() const { return unreadable_; }

  // Whether another command of this cost may go on its way.
  bool HasRoomFor(uint64_t cost) const;
  // The command must stay until its reply is there or the connection ends.
  void Send(Command& command, bool asking, bool with_source);
  bool idle() const { return flights_.empty(); }

  // For poll().
  int fd() const;
  short events() const;
  // When the next reply is too late.
  Time deadline() const { return deadline_; }

  // Writes and reads what can be written and read now. False if the connection has ended.
  bool Work(Time now);
  // The next command that has its reply, in `reply`; nullptr if there is none yet, or, with an open
  // connection no more, if there will be none.
  Command* Next(Time now, std::unique_ptr<Reply>& reply);

  // Ends the connection. Commands without reply are given back by TakeUnanswered.
  void Close(std::string why);
  std::deque<Command*> TakeUnanswered();

 private:
  // A command on its way; without one, a command of the link's own.
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
  // Of TLS, which a server may not speak.
  void FinishGreeting(Time now);
  bool Write();
  // Fills the context's buffer with the next few bytes to be sent.
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
  bool greeting_ = false;  // as far as TLS is not begun, also once it is connected
  bool refused_ = false;
  bool unreadable_ = false;
  std::string error_;
  std::deque<Flight> flights_;
  uint64_t bytes_in_flight_ = 0;
  std::deque<Outgoing> outgoing_;  // of the last flights, one for each
  size_t sent_ = 0;                // of outgoing_.front(), head and tail taken together
  bool unsent_ = false;            // in the context's buffer
  Time deadline_ = Time::max();
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_LINK_H_
