// All keys of a file in memory, for commands that ask many filters for them.
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

// --keys and the form that the keys have there.
struct KeyListOptions {
  std::string path;
  InputOptions input;    // but for its paths
  bool parquet = false;  // a column of a Parquet file, of which ReadKeyList knows nothing

  void AddTo(const CommandLine& command);
};

// Text, or integers of 8 bytes.
struct KeyListFile {
  bool are_integers = false;
  std::vector<uint64_t> integers;
  std::vector<std::string_view> strings;  // in `text`
  std::vector<char> text;

  size_t size() const { return are_integers ? integers.size() : strings.size(); }
};

// Reads all of it. Throws as KeyReader, and Error(kInvalidArgument) if there is no key.
KeyListFile ReadKeyList(const KeyListOptions& options);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_KEY_LIST_FILE_H_
