#include "redis/src/client/reply_reader.h"

#include <hiredis/hiredis.h>

#include <new>
#include <utility>

namespace tamis::redis {

// hiredis, a C library, calls these functions, so they must not throw. If one returns nullptr,
// hiredis stops reading.
struct ReplyFunctions {
#if HIREDIS_MAJOR > 0
  using Count = size_t;
#else
  using Count = int;
#endif

  static constexpr int kMaxDepth = 7;  // CLUSTER SHARDS has 3

  static ReplyReader& ReaderOf(const redisReadTask* task) {
    return *static_cast<ReplyReader*>(task->privdata);
  }

  // Returns the object for the value that the task reads: an element of an array, or a new one.
  static Reply* Place(const redisReadTask* task) {
    if (task->parent == nullptr) return new (std::nothrow) Reply;
    return &static_cast<Reply*>(task->parent->obj)->elements[static_cast<size_t>(task->idx)];
  }

  static Reply* Make(const redisReadTask* task, Reply::Type type) {
    // Counts every value as an element, even without bytes, because its Reply takes memory.
    if (!ReaderOf(task).Take(0, 1)) return nullptr;
    Reply* const reply = Place(task);
    if (reply != nullptr) reply->type = type;
    return reply;
  }

  // Makes a Reply and fills it. Returns nullptr and frees it if `fill` runs out of memory.
  template <typename Fill>
  static void* Filled(const redisReadTask* task, Reply::Type type, const Fill& fill) {
    Reply* const reply = Make(task, type);
    if (reply == nullptr) return nullptr;
    try {
      fill(*reply);
      return reply;
    } catch (...) {
      if (task->parent == nullptr) delete reply;
      return nullptr;
    }
  }

  static void* CreateString(const redisReadTask* task, char* bytes, size_t size) {
    if (!ReaderOf(task).Take(size, 0)) return nullptr;
    Reply::Type type = Reply::Type::kString;
    if (task->type == REDIS_REPLY_ERROR) type = Reply::Type::kError;
    if (task->type == REDIS_REPLY_STATUS) type = Reply::Type::kStatus;
    return Filled(task, type, [&](Reply& reply) { reply.text.assign(bytes, size); });
  }
  static void* CreateArray(const redisReadTask* task, Count count) {
    // Limits the depth, because nested arrays are freed recursively, and hiredis 1.0 or newer does
    // not limit it.
    int depth = 0;
    for (const redisReadTask* t = task->parent; t != nullptr; t = t->parent) ++depth;
    // A negative count becomes a number above all limits.
    if (depth > kMaxDepth || !ReaderOf(task).Take(0, static_cast<size_t>(count))) {
      return nullptr;
    }
    return Filled(task, Reply::Type::kArray,
                  [&](Reply& reply) { reply.elements.resize(static_cast<size_t>(count)); });
  }
  static void* CreateInteger(const redisReadTask* task, long long value) {
    return Filled(task, Reply::Type::kInteger, [&](Reply& reply) { reply.integer = value; });
  }
  static void* CreateNil(const redisReadTask* task) { return Make(task, Reply::Type::kNil); }
  static void Free(void* reply) { delete static_cast<Reply*>(reply); }

#if HIREDIS_MAJOR > 0
  // Types of RESP3, a protocol that this client does not use.
  static void* CreateDouble(const redisReadTask*, double, char*, size_t) { return nullptr; }
  static void* CreateBool(const redisReadTask*, int) { return nullptr; }
#endif
};

namespace {

redisReplyObjectFunctions* Functions() {
#if HIREDIS_MAJOR > 0
  static redisReplyObjectFunctions functions = {
      ReplyFunctions::CreateString, ReplyFunctions::CreateArray, ReplyFunctions::CreateInteger,
      ReplyFunctions::CreateDouble, ReplyFunctions::CreateNil,   ReplyFunctions::CreateBool,
      ReplyFunctions::Free};
#else
  static redisReplyObjectFunctions functions = {
      ReplyFunctions::CreateString, ReplyFunctions::CreateArray, ReplyFunctions::CreateInteger,
      ReplyFunctions::CreateNil, ReplyFunctions::Free};
#endif
  return &functions;
}

redisReader* MakeReader() {
  redisReader* const reader = redisReaderCreateWithFunctions(Functions());
  if (reader == nullptr) throw std::bad_alloc();
  return reader;
}

}  // namespace

ReplyReader::ReplyReader() : own_(MakeReader(), redisReaderFree), reader_(own_.get()) {
  reader_->privdata = this;
}

ReplyReader::ReplyReader(redisReader* reader) : own_(nullptr, redisReaderFree), reader_(reader) {
  reader_->fn = Functions();
  reader_->privdata = this;
}

ReplyReader::~ReplyReader() = default;

bool ReplyReader::Feed(const char* bytes, size_t size) {
  return redisReaderFeed(reader_, bytes, size) == REDIS_OK;
}

bool ReplyReader::Next(std::unique_ptr<Reply>& reply) {
  reply.reset();
  if (reader_->reply == nullptr) left_ = limits_;  // a new reply begins
  void* made = nullptr;
  if (redisReaderGetReply(reader_, &made) != REDIS_OK) return false;
  reply.reset(static_cast<Reply*>(made));
  return true;
}

const char* ReplyReader::error() const {
  return exceeded_ ? "the reply is larger than expected" : reader_->errstr;
}

bool ReplyReader::Take(size_t bytes, size_t elements) {
  if (bytes > left_.bytes || elements > left_.elements) {
    exceeded_ = true;
    return false;
  }
  left_.bytes -= bytes;
  left_.elements -= elements;
  return true;
}

}  // namespace tamis::redis
