// Where keys come from: files and standard input, read in large blocks.
#ifndef TAMIS_TOOLS_INPUT_H_
#define TAMIS_TOOLS_INPUT_H_

#include <tamis/key_forms.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line.h"

namespace tamis::tools {

// Which inputs to read, and what a key is in them.
struct InputOptions {
  std::vector<std::string> paths = {"-"};  // "-" is standard input
  bool csv = false;
  bool tsv = false;
  std::string column;                    // number from 1, or a name in the header; empty: the first
  bool header = false;                   // the first record of each input names the columns
  bool no_quotes = false;                // of CSV: quotes are text
  uint64_t quoted_lines = kQuotedLines;  // of CSV: a field in quotes has no more
  bool u64 = false;
  bool integers = false;
  bool strict = false;

  static constexpr uint64_t kQuotedLines = 1000;

  // The positional INPUT and all of the above.
  void AddTo(const CommandLine& command);
  KeyForm key_form() const { return u64 || integers ? KeyForm::kInteger : KeyForm::kBytes; }
  // What the parser of the command line cannot check. Throws Error(kInvalidArgument).
  void Check() const;

  // The number of `column`, from 1, unless it is a name. Throws Error(kInvalidArgument).
  std::optional<uint64_t> ColumnNumber() const;

  // Bytes of all inputs together, or nothing unless all are regular files. Throws Error(kIo) if
  // there is one that cannot be read, as far as can be told without reading.
  std::optional<uint64_t> TotalBytes() const;
};

// The text at the end of every command's help that reads keys.
extern const char kKeyFormsHelp[];

// A file of which a window is in memory: text() is what has been read and not yet consumed.
class InputFile {
 public:
  // "-" is standard input. Throws Error(kIo).
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  // The path, or "(standard input)".
  const std::string& name() const { return name_; }

  std::string_view text() const { return {buffer_.get() + begin_, end_ - begin_}; }
  // Whether no more follows text().
  bool last() const { return last_; }
  // Drops the first `bytes` of text(), which stay valid until Fill().
  void Consume(size_t bytes) { begin_ += bytes; }

  // Reads on: as much as there is room for from a file; from a pipe what is there, waiting only for
  // the first byte. The window grows if text() fills it. Returns the number of bytes. Throws
  // Error(kIo).
  size_t Fill();

 private:
  int fd_;
  std::string name_;
  size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool last_ = false;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_H_
