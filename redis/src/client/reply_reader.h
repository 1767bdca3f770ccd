// Makes hiredis build Replies, and none that is larger than what was asked for can be.
#ifndef TAMIS_REDIS_SRC_CLIENT_REPLY_READER_H_
#define TAMIS_REDIS_SRC_CLIENT_REPLY_READER_H_

#include <hiredis/read.h>

#include <cstddef>
#include <memory>

#include "redis/src/client/reply.h"

namespace tamis::redis {

// What one reply may have.
struct ReplyLimits {
  size_t bytes = 0;     // of all strings
  size_t elements = 0;  // of all arrays
};

class ReplyReader {
 public:
  // A reader of its own.
  ReplyReader();
  // That of a connection, which outlives this.
  explicit ReplyReader(redisReader* reader);
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;
  ~ReplyReader();

  // For the replies from now on.
  void set_limits(const ReplyLimits& limits) { limits_ = limits; }
  // False if the bytes have no place in memory.
  bool Feed(const char* bytes, size_t size);
  // False if the bytes are no replies, or a reply exceeds its limits; then error() says which, and
  // nothing can be read any more. `reply` stays empty while a reply is not complete.
  bool Next(std::unique_ptr<Reply>& reply);
  const char* error() const;

 private:
  friend struct ReplyFunctions;

  // Takes from what is left of the limits of the reply being read; false if that is too little.
  bool Take(size_t bytes, size_t elements);

  std::unique_ptr<redisReader, void (*)(redisReader*)> own_;
  redisReader* reader_;
  ReplyLimits limits_;
  ReplyLimits left_;
  bool exceeded_ = false;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_REPLY_READER_H_
