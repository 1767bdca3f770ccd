// Opens the file that `tamis query` queries: a filter of tamis, or a filter of another library.
#ifndef TAMIS_TOOLS_INPUT_FILTER_FILE_H_
#define TAMIS_TOOLS_INPUT_FILTER_FILE_H_

#include <tamis/formats/foreign_filter.h>
#include <tamis/key_types.h>
#include <tamis/queryable.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tools/input/key_type.h"
#include "tools/options/open_options.h"
#include "tools/options/run_options.h"
#include "tools/options/secret.h"

namespace tamis::tools {

struct FilterFileOptions {
  std::string path;
  std::string format;  // a format of another library; empty: the file itself names its format
  KeyTypeOptions type;
  SecretOptions secret;
  OpenOptions open;

  // Adds FILTER, --format, and the options of `type`, `secret` and `open`.
  void AddTo(const CommandLine& command);
};

// Opens the file at `options.path` to query it for keys of type `keys`. `input_bytes` is the size
// of the input with these keys, if it is known. Throws Error(kInvalidArgument) for options that do
// not apply to the file, and if the filter cannot have keys of type `keys`.
std::shared_ptr<const Queryable> OpenQueryable(const FilterFileOptions& options,
                                               const RunOptions& run, KeyType keys,
                                               std::optional<uint64_t> input_bytes);

// Opens a file that another library wrote in `format`: maps it if the format allows this and `map`
// is true, and otherwise loads it.
ForeignFilter OpenForeignFile(const std::string& path, const std::string& format, bool map,
                              const Backend* backend);

// Returns a paragraph of help with the names of all formats.
std::string FormatsHelp();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_FILTER_FILE_H_
