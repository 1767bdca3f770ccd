// Lets hiredis build Reply objects, with limits for their size.
#ifndef TAMIS_REDIS_SRC_CLIENT_REPLY_READER_H_
#define TAMIS_REDIS_SRC_CLIENT_REPLY_READER_H_

#include <hiredis/read.h>

#include <cstddef>
#include <memory>

#include "redis/src/client/reply.h"

namespace tamis::redis {

// Upper bounds for one reply.
struct ReplyLimits {
  size_t bytes = 0;     // total size of all strings
  size_t elements = 0;  // number of values, plus the lengths of all arrays
};

class ReplyReader {
 public:
  // Creates a reader of hiredis.
  ReplyReader();
  // Uses the reader of a connection, which must outlive this object.
  explicit ReplyReader(redisReader* reader);
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;
  ~ReplyReader();

  // Sets the limits for later replies.
  void set_limits(const ReplyLimits& limits) { limits_ = limits; }
  // Adds bytes. Returns false if there is not enough memory.
  bool Feed(const char* bytes, size_t size);
  // Reads the next reply. Leaves `reply` empty if the reply is not complete. Returns false if the
  // bytes are not a reply, or if the reply exceeds its limits. After that, error() returns the
  // reason, and no more replies can be read.
  bool Next(std::unique_ptr<Reply>& reply);
  const char* error() const;

 private:
  friend struct ReplyFunctions;

  // Counts bytes and elements of the current reply. Returns false if the reply exceeds its limits.
  bool Take(size_t bytes, size_t elements);

  std::unique_ptr<redisReader, void (*)(redisReader*)> own_;
  redisReader* reader_;
  ReplyLimits limits_;
  ReplyLimits left_;
  bool exceeded_ = false;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_REPLY_READER_H_
