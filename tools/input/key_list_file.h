// Reads all keys of a file into memory, for commands that query many filters for them.
#ifndef TAMIS_TOOLS_INPUT_KEY_LIST_FILE_H_
#define TAMIS_TOOLS_INPUT_KEY_LIST_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/input/input.h"
#include "tools/options/command_line.h"

namespace tamis::tools {

// --keys, and the options that describe the keys in the file of --keys.
struct KeyListOptions {
  std::string path;
  InputOptions input;    // `input.paths` is not used
  bool parquet = false;  // a column of a Parquet file, which ReadKeyList does not read

  void AddTo(const CommandLine& command);
};

// The keys: text, or integers of 8 bytes.
struct KeyListFile {
  bool are_integers = false;
  std::vector<uint64_t> integers;
  std::vector<std::string_view> strings;  // pointers into `text`
  std::vector<char> text;

  size_t size() const { return are_integers ? integers.size() : strings.size(); }
};

// Reads all of the file. Throws the errors of KeyReader, and Error(kInvalidArgument) for a file
// without keys.
KeyListFile ReadKeyList(const KeyListOptions& options);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_KEY_LIST_FILE_H_
