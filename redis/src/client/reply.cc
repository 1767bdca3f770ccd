#include "redis/src/client/reply.h"

#include <algorithm>
#include <iterator>

#include "tamis/detail/str_cat.h"

namespace tamis::redis {

std::string ShownText(std::string_view text) {
  constexpr size_t kMost = 200;
  std::string shown(text.substr(0, kMost));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > kMost ? shown + "..." : shown;
}

std::string ReplyText(const Reply& reply) {
  switch (reply.type) {
    case Reply::Type::kNil:
      return "nil";
    case Reply::Type::kString:
      return detail::StrCat("a string of ", reply.text.size(), " bytes");
    case Reply::Type::kStatus:
      return "the status " + ShownText(reply.text);
    case Reply::Type::kError:
      return "the error \"" + ShownText(reply.text) + "\"";
    case Reply::Type::kInteger:
      return detail::StrCat("the number ", reply.integer);
    case Reply::Type::kArray:
      break;
  }
  return detail::StrCat("an array of ", reply.elements.size());
}

bool IsTemporary(std::string_view error) {
  constexpr std::string_view kTemporary[] = {"TRYAGAIN", "CLUSTERDOWN", "LOADING",   "MASTERDOWN",
                                             "BUSY",     "READONLY",    "NOREPLICAS"};
  return std::any_of(std::begin(kTemporary), std::end(kTemporary),
                     [&](std::string_view word) { return error.starts_with(word); });
}

}  // namespace tamis::redis
