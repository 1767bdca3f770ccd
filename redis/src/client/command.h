// One command for a server, and what came of it.
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

// A script that servers keep once they have been given it.
struct Script {
  explicit Script(std::string its_source);

  std::string source;
  std::string sha;
};

// `reply_bytes` of a command whose reply is a status, a number or a record of ours.
inline constexpr size_t kSmallReply = 4096;

class Command {
 public:
  // Of a single key or of keys that are all in `slot`. `reply_bytes` bounds the strings of the
  // reply, apart from errors.
  Command(uint32_t slot, std::initializer_list<std::string_view> words, size_t reply_bytes,
          size_t reply_elements = 16);
  // EVALSHA, or EVAL where the server lacks the script.
  Command(uint32_t slot, const Script& script, const std::vector<std::string_view>& keys,
          const std::vector<std::string_view>& arguments, size_t reply_bytes);

  // One more argument.
  void Append(std::string_view word);

  uint32_t slot() const { return slot_; }
  const Script* script() const { return script_; }
  const ReplyLimits& limits() const { return limits_; }
  // What sending it and its reply take at most, and the server's work, in bytes.
  uint64_t cost() const {
    return tail_.size() + limits_.bytes + kElementBytes * limits_.elements + work;
  }

  // The command as it is sent: head, then tail. `with_source`: EVAL.
  std::string Head(bool with_source) const;
  const std::string& tail() const { return tail_; }

  // Of whole segments that the server goes through, in bytes: it serves nobody else meanwhile.
  uint64_t work = 0;
  // Whether a replica may answer it.
  bool reads = false;
  // After Client::AwaitReplicas: whether so many replicas have what it has written.
  bool durable = false;

  // What came of it: a reply, or why there is none. A reply can be an error.
  bool answered = false;
  Reply reply;
  std::string failure;

 private:
  friend class Client;
  using Time = std::chrono::steady_clock::time_point;

  static constexpr uint64_t kElementBytes = 32;  // a line in a reply

  uint32_t slot_;
  size_t words_ = 0;  // in tail_
  const Script* script_ = nullptr;
  std::string tail_;
  ReplyLimits limits_;

  // Of the client, while it runs.
  int redirects_ = 0;
  int attempts_ = 0;
  bool with_source_ = false;
  std::optional<Address> ask_;
  Time not_before_{};
  // The connection that has answered it; of a pinned command, the only one that it can go by.
  bool pinned_ = false;
  Address node_;
  uint64_t connection_ = 0;
};

// Returns the command that reads a small record.
Command GetCommand(const std::string& key);

// Appends a word of a command as it is sent.
void AppendWord(std::string_view word, std::string& out);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_COMMAND_H_
