// One command for a server, and its outcome.
#ifndef TAMIS_REDIS_SRC_CLIENT_COMMAND_H_
#define TAMIS_REDIS_SRC_CLIENT_COMMAND_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/src/client/reply.h"
#include "redis/src/client/reply_reader.h"
#include "redis/src/client/url.h"

namespace tamis::redis {

// A Lua script. Servers keep scripts, so a client sends the source only to servers that lack it.
struct Script {
  explicit Script(std::string its_source);

  std::string source;
  std::string sha;
};

// Value of `reply_bytes` for replies that are a status, a number or a record of this library.
inline constexpr size_t kSmallReply = 4096;

class Command {
 public:
  // All keys of the command must be in `slot`. `reply_bytes` is an upper bound for the strings of
  // the reply. The reply may be 4 KiB longer, because it may be an error.
  Command(uint32_t slot, std::initializer_list<std::string_view> words, size_t reply_bytes,
          size_t reply_elements = 16);
  // Runs a script: with EVALSHA, or with EVAL if the server lacks the script.
  Command(uint32_t slot, const Script& script, const std::vector<std::string_view>& keys,
          const std::vector<std::string_view>& arguments, size_t reply_bytes);

  // Adds an argument.
  void Append(std::string_view word);

  uint32_t slot() const { return slot_; }
  const Script* script() const { return script_; }
  const ReplyLimits& limits() const { return limits_; }
  // Upper bound for the command, its reply and the server's work, in bytes.
  uint64_t cost() const {
    return tail_.size() + limits_.bytes + kElementBytes * limits_.elements + work;
  }

  // The command is sent as Head() followed by tail(). `with_source`: use EVAL, not EVALSHA.
  std::string Head(bool with_source) const;
  const std::string& tail() const { return tail_; }

  // Bytes of whole segments that the server processes. It serves no other client during that time.
  uint64_t work = 0;
  // Whether a replica may answer the command.
  bool reads = false;
  // Whether enough replicas have the writes of the command. Client::AwaitReplicas sets this.
  bool durable = false;

  // The outcome. If `answered`, `reply` is the reply, which may be an error. Otherwise `failure` is
  // the reason why there is no reply.
  bool answered = false;
  Reply reply;
  std::string failure;

 private:
  friend class Client;
  using Time = std::chrono::steady_clock::time_point;

  // Bytes for the first line of each element of a reply.
  static constexpr uint64_t kElementBytes = 32;

  uint32_t slot_;
  size_t words_ = 0;  // number of words in tail_
  const Script* script_ = nullptr;
  std::string tail_;
  ReplyLimits limits_;

  // The state of the client while the command runs.
  int redirects_ = 0;
  int attempts_ = 0;
  bool with_source_ = false;
  std::optional<Address> ask_;
  Time not_before_{};
  // The connection that has answered the command. A pinned command is sent only over this
  // connection.
  bool pinned_ = false;
  Address node_;
  uint64_t connection_ = 0;
};

// Returns the command that reads a small record.
Command GetCommand(const std::string& key);

// Appends a word of a command to `out`, in the form that is sent.
void AppendWord(std::string_view word, std::string& out);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_COMMAND_H_
