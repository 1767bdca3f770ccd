#include "redis/src/client/command.h"

#include <utility>

#include "redis/src/client/sha1.h"
#include "redis/src/client/slot.h"
#include "tamis/detail/str_cat.h"

namespace tamis::redis {
namespace {

// Every limit for a reply includes these bytes, because an error may be longer than the expected
// reply.
constexpr size_t kErrorBytes = 4096;
constexpr size_t kScriptElements = 16;

}  // namespace

Script::Script(std::string its_source) : source(std::move(its_source)), sha(Sha1Text(source)) {}

void AppendWord(std::string_view word, std::string& out) {
  out += '$';
  out += std::to_string(word.size());
  out += "\r\n";
  out += word;
  out += "\r\n";
}

Command::Command(uint32_t slot, std::initializer_list<std::string_view> words, size_t reply_bytes,
                 size_t reply_elements)
    : slot_(slot), words_(words.size()), limits_{reply_bytes + kErrorBytes, reply_elements} {
  size_t bytes = 0;
  for (const std::string_view word : words) bytes += word.size() + 32;
  tail_.reserve(bytes);
  for (const std::string_view word : words) AppendWord(word, tail_);
}

Command::Command(uint32_t slot, const Script& script, const std::vector<std::string_view>& keys,
                 const std::vector<std::string_view>& arguments, size_t reply_bytes)
    : slot_(slot),
      words_(1 + keys.size() + arguments.size()),
      script_(&script),
      limits_{reply_bytes + kErrorBytes, kScriptElements} {
  size_t bytes = 32;
  for (const std::string_view word : keys) bytes += word.size() + 32;
  for (const std::string_view word : arguments) bytes += word.size() + 32;
  tail_.reserve(bytes);
  AppendWord(std::to_string(keys.size()), tail_);
  for (const std::string_view key : keys) AppendWord(key, tail_);
  for (const std::string_view argument : arguments) AppendWord(argument, tail_);
}

Command GetCommand(const std::string& key) {
  return Command(SlotOfKey(key), {"GET", key}, kSmallReply);
}

void Command::Append(std::string_view word) {
  AppendWord(word, tail_);
  ++words_;
}

std::string Command::Head(bool with_source) const {
  if (script_ == nullptr) return detail::StrCat("*", words_, "\r\n");
  std::string head = detail::StrCat("*", words_ + 2, "\r\n");
  AppendWord(with_source ? "EVAL" : "EVALSHA", head);
  AppendWord(with_source ? script_->source : script_->sha, head);
  return head;
}

}  // namespace tamis::redis
