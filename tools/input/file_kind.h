// What an input is, by its first bytes.
#ifndef TAMIS_TOOLS_INPUT_FILE_KIND_H_
#define TAMIS_TOOLS_INPUT_FILE_KIND_H_

#include <optional>
#include <string>
#include <string_view>

#include "tools/input/unpacker.h"

namespace tamis::tools {

struct FileKind {
  Packing packing = Packing::kNone;
  const char* what = nullptr;  // "an xz file"; nullptr: text
  // What makes text of it: a command that wants the file's name at its end, or a sentence.
  const char* command = nullptr;
  const char* advice = nullptr;

  bool is_text() const { return what == nullptr; }
  // Why the file of this name is not read, and what to do.
  std::string Refusal(const std::string& name) const;
};

// The kind of a file that has a NUL byte anywhere and is no other: text has none.
extern const FileKind kBinary;

// The kind of a file that begins with `text`, or nothing if more of it must be seen: never so much
// as to keep somebody who types waiting for an answer. `last`: there is no more.
std::optional<FileKind> RecognizeFile(std::string_view text, bool last);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_FILE_KIND_H_
