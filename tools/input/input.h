// Where keys come from, and what a key is there: options of every command that reads keys.
#ifndef TAMIS_TOOLS_INPUT_INPUT_H_
#define TAMIS_TOOLS_INPUT_INPUT_H_

#include <tamis/key_types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/input/bad_lines.h"
#include "tools/options/command_line.h"

namespace tamis::tools {

// Which inputs to read, and what a key is in them.
struct InputOptions {
  std::vector<std::string> paths = {"-"};  // "-" is standard input
  bool csv = false;
  bool tsv = false;
  std::optional<char> separator;         // of CSV, which it implies
  std::string column;                    // number from 1, or a name in the header; empty: the first
  bool header = false;                   // the first record of each input names the columns
  bool no_quotes = false;                // of CSV: quotes are text
  uint64_t quoted_lines = kQuotedLines;  // of CSV: a field in quotes has no more
  bool u64 = false;
  bool integers = false;
  bool trim = false;           // blanks at both ends are not of the key
  std::string empty = "skip";  // or "keep": an empty key is one, where it can be told from none
  bool as_is = false;          // the first bytes are nothing but text
  bool strict = false;
  std::optional<MaxBad> max_bad;  // by default that of MaxBad, of raw integers none

  static constexpr uint64_t kQuotedLines = 1000;

  // The positional INPUT and all of the above, with the defaults that they have then.
  void AddTo(const CommandLine& command);
  KeyType key_type() const { return u64 || integers ? KeyType::kInteger : KeyType::kBytes; }
  // What the parser of the command line cannot check. Throws Error(kInvalidArgument).
  void Check() const;

  bool reads_csv() const { return csv || separator; }
  bool keeps_empty() const { return empty == "keep" && !integers; }
  // Whether to look at the first bytes of the input at `path`, to unpack it, say. Raw integers may
  // begin with any: a packed file of them must say so by its name.
  bool Recognizes(const std::string& path) const;

  // The number of `column`, from 1, unless it is a name. Throws Error(kInvalidArgument).
  std::optional<uint64_t> ColumnNumber() const;

  // Bytes of all inputs together, as they are packed, or nothing unless all are regular files.
  // Throws Error(kIo) if there is one that cannot be read, as far as can be told without reading.
  std::optional<uint64_t> TotalBytes() const;
};

// The text at the end of every command's help that reads keys.
extern const char kKeyTypesHelp[];

// Where standard input stands, to read it once more from there, if it is a regular file.
class StandardInputPlace {
 public:
  StandardInputPlace();
  // What follows, or nothing if it is no regular file.
  std::optional<uint64_t> BytesLeft() const;
  // Makes it stand there again.
  void Return() const;

 private:
  std::optional<uint64_t> offset_;
  uint64_t bytes_left_ = 0;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_INPUT_H_
