// What `tamis query` asks: a filter of tamis, or one of another library.
#ifndef TAMIS_TOOLS_COMMANDS_ASKED_FILTER_H_
#define TAMIS_TOOLS_COMMANDS_ASKED_FILTER_H_

#include <tamis/engine/engine.h>
#include <tamis/filters/any_filter.h>
#include <tamis/formats/foreign_filter.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "tools/input/key_type.h"
#include "tools/options/open_options.h"
#include "tools/options/run_options.h"
#include "tools/options/secret.h"

namespace tamis::tools {

struct AskedOptions {
  std::string path;
  std::string format;  // of another library; empty: the file says what it is
  KeyTypeOptions type;
  SecretOptions secret;
  OpenOptions open;

  // FILTER, --format, and those of the parts.
  void AddTo(const CommandLine& command);
};

class AskedFilter {
 public:
  // Opens the file at options.path, which is to be asked for the keys of so many bytes of input, if
  // these are known. Throws Error(kInvalidArgument) for options that such a file does not take.
  AskedFilter(const AskedOptions& options, const RunOptions& run,
              std::optional<uint64_t> input_bytes);

  // Throws Error(kInvalidArgument), with a word on the cure, for keys of a type that it cannot
  // have.
  void RequireForm(KeyType asked) const;
  // As Filter::Contains; a filter of another library is asked by this thread alone.
  size_t Contains(Engine& engine, const Keys& keys, Bitmap found) const;
  double expected_fpr() const;
  // As KeyTypeOptions::Doubt.
  std::string Doubt(KeyType type, uint64_t found, uint64_t asked) const;

 private:
  const AskedOptions& options_;
  std::variant<AnyFilter, ForeignFilter> filter_;
};

// A paragraph of help with the names of all formats.
std::string FormatsHelp();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_ASKED_FILTER_H_
