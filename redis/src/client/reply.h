// What a server has answered. Nothing in it is trusted.
#ifndef TAMIS_REDIS_SRC_CLIENT_REPLY_H_
#define TAMIS_REDIS_SRC_CLIENT_REPLY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::redis {

struct Reply {
  enum class Type : uint8_t { kNil, kString, kStatus, kError, kInteger, kArray };

  bool IsString() const { return type == Type::kString; }
  bool IsStatus(std::string_view status) const { return type == Type::kStatus && text == status; }
  bool IsError() const { return type == Type::kError; }
  bool IsInteger() const { return type == Type::kInteger; }
  bool IsArray() const { return type == Type::kArray; }

  Type type = Type::kNil;
  int64_t integer = 0;
  std::string text;  // of a string, status or error
  std::vector<Reply> elements;
};

// "nil", "a string of 32 bytes", "the error ..." with what can be shown of it: for messages.
std::string ReplyText(const Reply& reply);
// The first 200 characters of what a server has said, without control characters.
std::string ShownText(std::string_view text);
// Of the text of an error: whether it is over some time later, as of slots that move, masters that
// change or begin, and scripts of others that take long.
bool IsTemporary(std::string_view error);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_REPLY_H_
