#include "tools/input/parquet_key_list.h"

#include <tamis/error.h>
#include <tamis/parquet/footer.h>
#include <tamis/parquet/source.h>

#include <fstream>
#include <optional>
#include <string>

#include "tools/input/parquet_values.h"
#include "tools/output/console.h"
#include "tools/output/format.h"

namespace tamis::tools {
namespace {

using namespace parquet;  // tamis::parquet

bool IsParquetFile(const std::string& path) {
  constexpr std::string_view kMagic = "PAR1";
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  char begin[kMagic.size()] = {};
  std::ifstream(path, std::ios::binary).read(begin, sizeof(begin));
  return std::string_view(begin, sizeof(begin)) == kMagic;
}

// Finds the column by its path or number. Without both, returns the only column of the file.
size_t ColumnOf(const Schema& schema, const std::string& file, const InputOptions& input) {
  const size_t count = schema.columns().size();
  if (input.column.empty() && count == 1) return 0;
  if (input.column.empty()) {
    throw Error(ErrorCode::kInvalidArgument, file + " has " + Counted(count, "column") +
                                                 ": give the column of the keys by --key-column");
  }
  try {
    return schema.Find(input.column);
  } catch (const Error& error) {
    std::optional<uint64_t> number;
    try {
      number = input.ColumnNumber();
    } catch (const Error&) {  // not a number, or 0
    }
    if (number && *number >= 1 && *number <= count) return *number - 1;
    throw Error(error.code(), file + ": " + error.what());
  }
}

}  // namespace

PruneKeys::PruneKeys(const KeyListOptions& options, bool quiet) : keys_(Read(options, quiet)) {}

KeyList PruneKeys::Read(const KeyListOptions& options, bool quiet) {
  if (options.parquet) return ReadColumn(options, quiet);
  if (!options.input.u64 && IsParquetFile(options.path)) {
    throw Error(ErrorCode::kInvalidArgument,
                options.path +
                    " is a Parquet file: give --parquet, and the column with the keys "
                    "by --key-column");
  }
  file_ = ReadKeyList(options);
  return file_.are_integers ? KeyList::Unsigned(file_.integers) : KeyList::Text(file_.strings);
}

KeyList PruneKeys::ReadColumn(const KeyListOptions& options, bool quiet) {
  if (options.path == "-") {
    throw Error(
        ErrorCode::kInvalidArgument,
        "a Parquet file is read from its end, so it cannot be standard input: give its name");
  }
  const Footer footer = Footer::Read(*OpenSource(options.path));
  const size_t column = ColumnOf(footer.schema(), options.path, options.input);
  column_ = ReadKeyColumn(options.path, column, OpenColumnValues);
  if (column_.texts().empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                options.path + ": column " + footer.schema().PathOf(column) + " has no key in " +
                    Counted(column_.values(), "value"));
  }
  if (!quiet) {
    Say(Counted(column_.texts().size(), "different key") + " in " +
        Counted(column_.values(), "value") + " of " + footer.schema().PathOf(column) +
        (column_.nulls() == 0 ? "" : ", of which " + WithCommas(column_.nulls()) + " null"));
  }
  return KeyList::Text(column_.texts());
}

}  // namespace tamis::tools
