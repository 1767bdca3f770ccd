#include "core/src/file/key_tag.h"

#include <string>

#include "core/src/os/path_text.h"
#include "tamis/error.h"
#include "tamis/hash_kinds.h"

namespace tamis::detail {

std::array<uint64_t, 2> KeyTag(const HashSpec& hash) noexcept {
  if (!IsKeyed(hash.kind)) return {};
  return {HashBytes("tamis key tag 1", hash), HashBytes("tamis key tag 2", hash)};
}

HashSpec HashOf(const FileHeader& header, const std::optional<HashSecret>& given,
                const std::filesystem::path& path) {
  const auto refuse = [&](const char* problem) {
    throw Error(ErrorCode::kSecret, os::TextOf(path) + ": " + problem);
  };
  HashSpec hash = header.hash;
  if (!IsKeyed(hash.kind)) {
    if (given) refuse("a secret was given, and the filter's hash has none");
    return hash;
  }
  if (given) {
    hash.secret = *given;
    if (KeyTag(hash) != header.key_tag) refuse("the secret does not match the filter");
  } else if (!header.has_secret) {
    refuse("the filter's hash is keyed, and its secret is not in the file: it has to be given");
  }
  return hash;
}

}  // namespace tamis::detail
