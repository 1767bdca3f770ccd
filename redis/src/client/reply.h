// The reply of a server. Nothing in it is trusted.
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
  std::string text;  // text of a kString, kStatus or kError
  std::vector<Reply> elements;
};

// Describes a reply for error texts: "nil", "a string of 32 bytes", "the error ...".
std::string ReplyText(const Reply& reply);
// Returns the first 200 characters of a text from a server. '?' replaces characters that are not
// printable ASCII.
std::string ShownText(std::string_view text);
// Returns whether an error with this text is temporary: a slot moves, a master changes or starts,
// or a script of another client takes long.
bool IsTemporary(std::string_view error);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_REPLY_H_
