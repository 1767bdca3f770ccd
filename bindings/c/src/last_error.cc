// What went wrong last, for each thread.
#include <algorithm>
#include <cstring>

#include "bindings/c/src/guard.h"

namespace {

// A fixed place, so that running out of memory can be told, too: for a path of the longest kind and
// a sentence.
constexpr size_t kMessageBytes = 5 * 1024;
thread_local char message[kMessageBytes] = {};

}  // namespace

using namespace tamis;

const char* tamis_last_error(void) { return message; }

void tamis_set_last_error(const char* text) {
  if (text == nullptr) text = "";
  const size_t bytes = strnlen(text, kMessageBytes - 1);
  // It may be the text that is there.
  std::memmove(message, text, bytes);
  message[bytes] = '\0';
}

const char* tamis_status_name(tamis_status status) {
  if (const auto code = c::CodeOf(status)) return ErrorCodeName(*code);
  if (status == TAMIS_OK) return "Ok";
  return status == TAMIS_INTERNAL ? "Internal" : "unknown";
}
