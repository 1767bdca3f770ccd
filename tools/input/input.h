// Options of every command that reads keys: the inputs, and the form of keys in them.
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

// The inputs to read, and the form of keys in them.
struct InputOptions {
  std::vector<std::string> paths = {"-"};  // "-" is standard input
  bool csv = false;
  bool tsv = false;
  std::optional<char> separator;  // separator of CSV; implies `csv`
  std::string column;             // number from 1, or a name in the header; empty: the first column
  bool header = false;            // the first record of each input names the columns
  bool no_quotes = false;         // with CSV: quotes are text
  uint64_t quoted_lines = kQuotedLines;  // with CSV: limit for the lines of a field in quotes
  bool jsonl = false;                    // each line is a JSON text
  std::string field;                     // of each JSON text; see MakeJsonField
  bool u64 = false;
  bool integers = false;
  bool hex = false;            // keys are bytes written in hexadecimal
  bool trim = false;           // spaces and tabs at both ends are not part of the key
  std::string empty = "skip";  // or "keep": an empty line or quoted field is a key
  bool as_is = false;          // unpacks and refuses nothing
  bool strict = false;
  std::optional<MaxBad> max_bad;  // default: MaxBad(); for raw integers none

  static constexpr uint64_t kQuotedLines = 1000;

  // Adds the positional INPUT and all options above. Their defaults are the current values.
  void AddTo(const CommandLine& command);
  KeyType key_type() const { return u64 || integers ? KeyType::kInteger : KeyType::kBytes; }
  // Checks what the parser of the command line cannot check. Throws Error(kInvalidArgument), and
  // Error(kUnsupported) for JSON if tamis was built without simdjson.
  void Check() const;

  bool reads_csv() const { return csv || separator; }
  bool keeps_empty() const { return empty == "keep" && !integers; }
  // Returns whether to look at the first bytes of the input at `path`, to unpack it, for example.
  // Raw integers may begin with any bytes, so packed files of them are recognized by their names.
  bool Recognizes(const std::string& path) const;

  // Returns the number of `column`, counted from 1, or std::nullopt if it is a name. Throws
  // Error(kInvalidArgument).
  std::optional<uint64_t> ColumnNumber() const;

  // Returns the number of bytes of all inputs together, before unpacking. Returns std::nullopt if
  // an input is neither a regular file nor /dev/null. Throws Error(kIo) for an input that cannot be
  // read, as far as this is known without reading.
  std::optional<uint64_t> TotalBytes() const;
};

// The text at the end of the help of every command that reads keys.
extern const char kKeyTypesHelp[];

// The position of standard input, to read it again from there. Works for regular files.
class StandardInputPlace {
 public:
  StandardInputPlace();
  // Returns the bytes that follow, or std::nullopt if it is not a regular file.
  std::optional<uint64_t> BytesLeft() const;
  // Returns standard input to this position.
  void Return() const;

 private:
  std::optional<uint64_t> offset_;
  uint64_t bytes_left_ = 0;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_INPUT_H_
