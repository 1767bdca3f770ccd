// tamis parquet add: adds filters to a file that was written without them.
#include <tamis/error.h>
#include <tamis/filters/sizing.h>
#include <tamis/parquet/add.h>
#include <tamis/parquet/footer.h>
#include <tamis/parquet/source.h>
#include <tamis/units.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tools/commands/parquet.h"
#include "tools/input/parquet_values.h"
#include "tools/options/exit_codes.h"
#include "tools/options/parse.h"
#include "tools/options/signals.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

using parquet::AddedFilter;
using Outcome = AddedFilter::Outcome;

constexpr char kParquetAddFooter[] =
    "The new file contains the bytes of the old file, the filters, and a footer that lists them.\n"
    "The old file is not changed. The size of a filter is a power of two from 32 B to 128 MiB,\n"
    "computed from the number of distinct keys of its row group. A filter is left out if it\n"
    "would save no reading: if the row group has few distinct values, or if its values, or a\n"
    "dictionary with all of them, are no larger than the filter. The new file is read back and\n"
    "checked before it gets its name.\n"
    "\n"
    "Examples:\n"
    "  tamis parquet add --column id old.parquet -o new.parquet\n"
    "  tamis parquet add --column id,user.name --fpr 0.1% old.parquet -o new.parquet\n";

struct AddOptions {
  std::string input;
  std::string output;
  std::string columns;
  double fpr = kDefaultFpr;
  bool force = false;
  bool replace = false;
  SaveOptions save;
  bool quiet = false;
  bool json = false;
};

// Splits "a,b" into the columns "a" and "b", unless the file has a column named "a,b".
std::vector<std::string> SplitColumns(const std::string& names, const parquet::Schema& schema) {
  for (size_t i = 0; i < schema.columns().size(); ++i) {
    if (schema.PathOf(i) == names) return {names};
  }
  std::vector<std::string> columns;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    columns.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return columns;
}

const char* AddOutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAdded:
      return "added";
    case Outcome::kReplaced:
      return "replaced";
    case Outcome::kKept:
      return "kept";
    case Outcome::kLeftOut:
      return "left_out";
  }
  return "";
}

bool IsNew(const AddedFilter& chunk) {
  return chunk.outcome == Outcome::kAdded || chunk.outcome == Outcome::kReplaced;
}

nlohmann::ordered_json Describe(const AddedFilter& chunk, const parquet::Schema& schema) {
  nlohmann::ordered_json json = {{"row_group", chunk.row_group},
                                 {"column", schema.PathOf(chunk.column)},
                                 {"outcome", AddOutcomeName(chunk.outcome)},
                                 {"values", chunk.values}};
  if (!chunk.reason.empty()) json["reason"] = chunk.reason;
  if (chunk.outcome == Outcome::kKept) return json;
  json["distinct_keys"] = chunk.distinct;
  json["bytes"] = chunk.bytes;
  json["fpr"] = chunk.fpr;
  if (IsNew(chunk)) {
    json["offset"] = chunk.offset;
    json["bytes_in_file"] = chunk.bytes_in_file;
  }
  return json;
}

// Prints one line about the new filters of the column, and one line about the row groups without a
// new filter.
void SayColumn(const std::string& column, const std::vector<AddedFilter>& chunks) {
  uint64_t filters = 0, bytes = 0, distinct = 0, others = 0;
  double fpr = 0;
  const AddedFilter* first_other = nullptr;
  for (const AddedFilter& chunk : chunks) {
    if (!IsNew(chunk)) {
      ++others;
      if (first_other == nullptr) first_other = &chunk;
      continue;
    }
    ++filters;
    bytes += chunk.bytes_in_file;
    distinct += chunk.distinct;
    fpr = std::max(fpr, chunk.fpr);
  }
  if (filters > 0) {
    Say(column + ": " + Counted(filters, "filter") + " for " + Counted(distinct, "distinct key") +
        ", " + BytesText(static_cast<double>(bytes)) + ", false-positive rate at most " +
        PercentText(fpr));
  }
  if (others > 0) {
    Say(detail::StrCat(column, ": no new filter for ", Counted(others, "row group"),
                       ", such as row group ", first_other->row_group, ": ", first_other->reason));
  }
}

int Run(AddOptions options) {
  if (options.output.empty() || options.output == "-") {
    throw Error(ErrorCode::kInvalidArgument,
                "give the name of a file: a Parquet file cannot be written to standard output");
  }
  CheckNotAnInput(options.output, {options.input});
  if (options.json) {
    CheckStandardOutputIsNoInput({options.input});
    CheckStandardOutputIsNot(options.output);
  }
  SayIfSavedOnSignals(options.output);
  const parquet::Footer footer = parquet::Footer::Read(*parquet::OpenSource(options.input));
  const parquet::Schema& schema = footer.schema();
  parquet::AddOptions add = {.columns = SplitColumns(options.columns, schema),
                             .fpr = options.fpr,
                             .force = options.force,
                             .replace = options.replace,
                             .save = options.save};
  Progress progress("adding filters", Progress::Unit::kKeys, footer.rows() * add.columns.size(),
                    options.quiet);
  add.on_chunk = [&](const AddedFilter& chunk) {
    progress.Advance(footer.row_groups()[chunk.row_group].rows);
  };
  const parquet::AddResult result =
      parquet::AddFilters(options.input, options.output, OpenColumnValues, add);
  OutputIsSaved();
  if (options.json) {
    nlohmann::ordered_json chunks = nlohmann::ordered_json::array();
    for (const AddedFilter& chunk : result.chunks) chunks.push_back(Describe(chunk, schema));
    Print(JsonText({{"file", options.output},
                    {"from", options.input},
                    {"bytes_before", result.old_bytes},
                    {"bytes_after", result.new_bytes},
                    {"chunks", chunks}}));
  } else if (!options.quiet) {
    for (size_t column = 0; column < schema.columns().size(); ++column) {
      std::vector<AddedFilter> chunks;
      std::copy_if(result.chunks.begin(), result.chunks.end(), std::back_inserter(chunks),
                   [&](const AddedFilter& chunk) { return chunk.column == column; });
      SayColumn(schema.PathOf(column), chunks);
    }
    const uint64_t more = result.new_bytes - result.old_bytes;
    const bool none = std::none_of(result.chunks.begin(), result.chunks.end(), IsNew);
    Say(options.output + ": " +
        (none ? "no filter was added; the file is a copy of " + options.input
              : WithCommas(result.new_bytes) + " bytes, " + BytesText(static_cast<double>(more)) +
                    " more than " + options.input));
  }
  return kDone;
}

}  // namespace

Command AddParquetAdd(const CommandLine& parquet) {
  const CommandLine command =
      parquet.AddCommand("add", "Copy a file, and add Bloom filters for some of its columns.");
  auto options = std::make_shared<AddOptions>();
  command.Footer(kParquetAddFooter);
  command.Add("FILE", options->input, "a Parquet file").Required();
  command.Add("-o,--output", options->output, "the new file").Required().Type("NEW");
  command.Add("--column", options->columns, "columns, with commas between them: id,user.name")
      .Required()
      .Type("C[,D]");
  command.Add("--fpr", options->fpr, ParseFpr, "the highest false-positive rate: 0.01, 1%")
      .Type("P");
  command.AddFlag("--force", options->force,
                  "also add filters that would save no reading (see below)");
  command.AddFlag("--replace", options->replace,
                  "replace filters that the file has (default: keep them)");
  command.AddFlag("--replace-read-only", options->save.replace_read_only, kReplaceReadOnlyHelp);
  command.AddFlag("-q,--quiet", options->quiet, "no progress bar and no summary");
  command.AddFlag("--json", options->json, "a report in JSON");
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
