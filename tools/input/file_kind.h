// Recognizes kinds of input files by their first bytes.
#ifndef TAMIS_TOOLS_INPUT_FILE_KIND_H_
#define TAMIS_TOOLS_INPUT_FILE_KIND_H_

#include <optional>
#include <string>
#include <string_view>

#include "tools/input/unpacker.h"

namespace tamis::tools {

struct FileKind {
  Packing packing = Packing::kNone;
  const char* what = nullptr;  // such as "a zip file"; nullptr: text
  // How to convert the file to text: a command to which the file's name is appended, or a sentence,
  // or both.
  const char* command = nullptr;
  const char* advice = nullptr;

  bool is_text() const { return what == nullptr; }
  // Returns the reason why the file `name` is not read, and the cure.
  std::string Refusal(const std::string& name) const;
};

// The kind of a file that contains a NUL byte and is of no other kind. Text never contains NUL
// bytes.
extern const FileKind kBinary;

// Returns the kind of a file that begins with `text`, or std::nullopt if `text` is too short to
// decide. A few bytes suffice, so input that a user types is accepted without delay. `last`: `text`
// is the whole file.
std::optional<FileKind> RecognizeFile(std::string_view text, bool last);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_FILE_KIND_H_
