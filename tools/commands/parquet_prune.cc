// tamis parquet prune: finds the files and row groups that may contain keys of a list.
#include <tamis/file/folder.h>
#include <tamis/parquet/pruner.h>
#include <tamis/units.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tools/commands/parquet.h"
#include "tools/input/key_list_file.h"
#include "tools/input/parquet_key_list.h"
#include "tools/options/exit_codes.h"
#include "tools/options/run_options.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

using namespace parquet;  // the namespace tamis::parquet
using Json = nlohmann::ordered_json;

constexpr char kParquetPruneFooter[] =
    "Writes the paths of the files that may hold a key of the list. A file is left out only if\n"
    "the smallest and largest values or the Bloom filters show that it holds no key. Files and\n"
    "row groups that cannot be read or understood are kept, and counted. A folder stands for all\n"
    "files below it that end in .parquet or .parq, also through links, except hidden files. Only\n"
    "footers and filters are read, no data.\n"
    "\n"
    "Write keys in the form of the column's type: 42, 1.5, 12.30 (decimal), 2026-01-31,\n"
    "12:30:00.5, 2026-01-31 12:30:00.123 or ...T12:30Z (UTC by default), UUIDs, strings as they\n"
    "are. Integers for dates and times count in the unit of the column. Keys that are not values\n"
    "of the type are not queried. They are counted, and the first ten are named.\n"
    "With --parquet the list is a column of another Parquet file. Its values are compared by\n"
    "their meaning, so the two columns may have different types. Nulls are not keys.\n"
    "\n"
    "--row-groups writes CSV: path, row group, rows, hits (keys that it may hold). --pairs writes\n"
    "path, row group, key, for each key that a row group may hold. For files and row groups that\n"
    "are kept in doubt, the last fields are empty: any row group, or any key, is possible.\n"
    "\n"
    "Examples:\n"
    "  tamis parquet prune --column user_id --keys users.txt lake/ | xargs -d '\\n' ls -l\n"
    "  tamis parquet prune --column id --keys ids.csv --csv --key-column id --pairs lake/ > p.csv\n"
    "  tamis parquet prune --column id --keys new.parquet --parquet --key-column user.id lake/\n"
    "  tamis parquet prune --column day --keys - --json a.parquet b.parquet\n";

struct PruneOptions {
  std::string column;
  KeyListOptions keys;
  std::vector<std::string> paths;
  bool groups = false;
  bool pairs = false;
  bool null = false;
  bool json = false;
  bool no_bounds = false;
  bool no_filters = false;
  RunOptions run;

  Detail Wanted() const {
    if (pairs) return Detail::kPairs;
    return groups || json ? Detail::kCounts : Detail::kGroups;
  }
};

// Totals over all files.
struct Totals {
  uint64_t files = 0, kept_files = 0, doubtful_files = 0;
  uint64_t groups = 0, kept_groups = 0, doubtful_groups = 0;
  uint64_t by_bounds = 0, by_filter = 0, without_filter = 0;
  uint64_t hits = 0;
  uint64_t bytes = 0, spared_file_bytes = 0, spared_group_bytes = 0;
  std::string first_doubt;

  void Add(const FileAnswer& file);
};

void Totals::Add(const FileAnswer& file) {
  ++files;
  bytes += file.bytes;
  file.kept() ? ++kept_files : spared_file_bytes += file.bytes;
  const auto doubt = [&](const std::string& what) {
    if (!first_doubt.empty()) return;
    first_doubt = what.starts_with(file.name) ? what : file.name + ": " + what;
  };
  if (!file.doubt.empty()) {
    ++doubtful_files;
    doubt(file.doubt);
  }
  for (const GroupAnswer& group : file.groups) {
    ++groups;
    IsKept(group.outcome) ? ++kept_groups : spared_group_bytes += group.bytes;
    by_filter += group.outcome == Outcome::kFilter;
    by_bounds += group.outcome == Outcome::kBounds || group.outcome == Outcome::kNoValues;
    without_filter += group.outcome == Outcome::kNoFilter;
    hits += group.hits;
    if (group.outcome == Outcome::kDoubt) {
      ++doubtful_groups;
      doubt(group.doubt);
    }
  }
}

// Returns `text` as a field of CSV.
std::string Field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && !text.empty()) {
    return std::string(text);
  }
  if (text.empty()) return "\"\"";
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void WriteGroups(const FileAnswer& file, Output& out) {
  const std::string path = Field(file.name);
  if (!file.doubt.empty()) out.Write(path + ",,,\n");
  for (size_t g = 0; g < file.groups.size(); ++g) {
    const GroupAnswer& group = file.groups[g];
    if (!IsKept(group.outcome)) continue;
    const bool doubt = group.outcome == Outcome::kDoubt;
    out.Write(detail::StrCat(path, ",", g, ",", group.rows, ",",
                             doubt ? "" : std::to_string(group.hits), "\n"));
  }
}

void WritePairs(const FileAnswer& file, const KeyList& keys, Output& out) {
  const std::string path = Field(file.name);
  if (!file.doubt.empty()) out.Write(path + ",,\n");
  for (size_t g = 0; g < file.groups.size(); ++g) {
    const std::string begin = detail::StrCat(path, ",", g, ",");
    if (file.groups[g].outcome == Outcome::kDoubt) out.Write(begin + "\n");
    for (const uint32_t key : file.groups[g].keys) {
      out.Write(begin + Field(keys.TextOf(key)) + "\n");
    }
  }
}

const char* OutcomeName(Outcome outcome) {
  constexpr const char* kNames[] = {"no_values", "bounds", "filter", "hits", "no_filter", "doubt"};
  return kNames[static_cast<int>(outcome)];
}

Json FileJson(const FileAnswer& file, const KeyList& keys, bool pairs) {
  Json json = {{"file", file.name}, {"kept", file.kept()}, {"bytes", file.bytes}};
  if (!file.doubt.empty()) json["doubt"] = file.doubt;
  json["row_groups"] = Json::array();
  for (size_t g = 0; g < file.groups.size(); ++g) {
    const GroupAnswer& group = file.groups[g];
    Json one = {{"row_group", g},
                {"kept", IsKept(group.outcome)},
                {"by", OutcomeName(group.outcome)},
                {"rows", group.rows},
                {"hits", group.hits}};
    if (!group.doubt.empty()) one["doubt"] = group.doubt;
    if (pairs) {
      one["keys"] = Json::array();
      for (const uint32_t key : group.keys) one["keys"].push_back(keys.TextOf(key));
    }
    json["row_groups"].push_back(std::move(one));
  }
  return json;
}

// Returns the sentence that is printed before the files are queried.
std::string PredictionText(const Prediction& prediction) {
  if (prediction.filters == 0) {
    return "the sampled files have no filters: only smallest and largest values can rule them out";
  }
  const std::string keys = CountText(prediction.keys);
  const std::string product =
      keys + (keys == "1" ? " key x " : " keys x ") + ShortPercentText(prediction.rate) + " = " +
      NumberText(std::stod(Format("%.3g", prediction.false_hits))) + " false hits per row group: ";
  if (prediction.ruled_out < 0.05) {
    return product +
           "filters at this rate cannot rule out whole row groups for this number of keys; --pairs "
           "shows which keys each may hold";
  }
  return product + "filters rule out about " + ShortPercentText(prediction.ruled_out) +
         " of the row groups that hold no key";
}

void SayMisfits(const ParquetPruner& pruner) {
  for (const AskedType& type : pruner.types()) {
    if (type.keys == nullptr || type.keys->misfits() == 0) continue;
    std::string text = Counted(type.keys->misfits(), "key") + " of " +
                       WithCommas(pruner.keys().size()) + " cannot be read as " +
                       TypeText(type.column) +
                       (type.keys->misfits() == 1 ? ", and was not queried there:"
                                                  : ", and were not queried there:");
    for (const uint32_t key : type.keys->first_misfits()) {
      text += " " + Quoted(pruner.keys().TextOf(key));
    }
    Say(type.keys->misfits() > ColumnKeys::kNamedMisfits ? text + " ..." : text);
  }
}

std::string Summary(const Totals& totals) {
  const auto of = [](uint64_t part, uint64_t whole, const char* what) {
    return WithCommas(part) + " of " + Counted(whole, what);
  };
  std::string text = "kept " + of(totals.kept_files, totals.files, "file") + " and " +
                     of(totals.kept_groups, totals.groups, "row group") + "; ruled out " +
                     Counted(totals.by_bounds, "row group") + " by bounds and " +
                     WithCommas(totals.by_filter) + " by filters; spared " +
                     BytesText(static_cast<double>(totals.spared_file_bytes)) + " of " +
                     BytesText(static_cast<double>(totals.bytes)) + " in whole files";
  if (totals.doubtful_files + totals.doubtful_groups > 0) {
    text += "; kept in doubt: " + Counted(totals.doubtful_files, "file") + " and " +
            Counted(totals.doubtful_groups, "row group") + ", the first: " + totals.first_doubt;
  }
  return text;
}

Json TotalsJson(const Totals& totals) {
  return {{"files", totals.files},
          {"kept_files", totals.kept_files},
          {"doubtful_files", totals.doubtful_files},
          {"row_groups", totals.groups},
          {"kept_row_groups", totals.kept_groups},
          {"doubtful_row_groups", totals.doubtful_groups},
          {"row_groups_without_filter", totals.without_filter},
          {"ruled_out_by_bounds", totals.by_bounds},
          {"ruled_out_by_filter", totals.by_filter},
          {"hits", totals.hits},
          {"bytes", totals.bytes},
          {"spared_file_bytes", totals.spared_file_bytes},
          {"spared_row_group_bytes", totals.spared_group_bytes}};
}

Json TypesJson(const ParquetPruner& pruner) {
  Json types = Json::array();
  for (const AskedType& type : pruner.types()) {
    Json json = {{"type", TypeText(type.column)}};
    if (!type.problem.empty()) json["problem"] = type.problem;
    if (type.keys != nullptr) {
      json["misfits"] = type.keys->misfits();
      json["first_misfits"] = Json::array();
      for (const uint32_t key : type.keys->first_misfits()) {
        json["first_misfits"].push_back(pruner.keys().TextOf(key));
      }
    }
    types.push_back(std::move(json));
  }
  return types;
}

uint64_t TotalBytes(const std::vector<std::filesystem::path>& files) {
  uint64_t bytes = 0;
  for (const auto& file : files) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(file, error);
    if (!error) bytes += size;
  }
  return bytes;
}

int Run(const PruneOptions& options) {
  CheckStandardOutputIsNoInput({options.keys.path});
  const std::vector<std::filesystem::path> files =
      FilesOf({options.paths.begin(), options.paths.end()}, {".parquet", ".parq"});
  const PruneKeys list(options.keys, options.run.quiet);
  const KeyList& keys = list.keys();
  const ParquetPruner pruner(keys, {.column = options.column,
                                    .detail = options.Wanted(),
                                    .bounds = !options.no_bounds,
                                    .filters = !options.no_filters,
                                    .threads = options.run.threads,
                                    .backend = options.run.Pinned()});
  Prediction prediction;
  if (!options.no_filters) prediction = pruner.Predict(files);
  if (!options.run.quiet && !options.no_filters) Say(PredictionText(prediction));
  Output out;
  Totals totals;
  Json answers = Json::array();
  {
    Progress progress("pruning", Progress::Unit::kBytes, TotalBytes(files), options.run.quiet);
    pruner.Run(
        files,
        [&](FileAnswer&& file) {
          totals.Add(file);
          if (options.json) {
            answers.push_back(FileJson(file, keys, options.pairs));
          } else if (options.pairs) {
            WritePairs(file, keys, out);
          } else if (options.groups) {
            WriteGroups(file, out);
          } else if (file.kept()) {
            out.Write(file.name);
            out.Write(std::string_view(options.null ? "\0" : "\n", 1));
          }
        },
        [&](uint64_t bytes) { progress.Advance(bytes); });
  }
  if (options.json) {
    out.Write(JsonText(Json{{"column", options.column},
                            {"keys", keys.size()},
                            {"types", TypesJson(pruner)},
                            {"prediction",
                             {{"sampled_filters", prediction.filters},
                              {"keys", prediction.keys},
                              {"rate", prediction.rate},
                              {"false_hits_per_row_group", prediction.false_hits},
                              {"ruled_out", prediction.ruled_out}}},
                            {"files", answers},
                            {"summary", TotalsJson(totals)}}));
  }
  out.Close();
  SayMisfits(pruner);
  if (!options.run.quiet) Say(Summary(totals));
  return kDone;
}

}  // namespace

Command AddParquetPrune(const CommandLine& parquet) {
  const CommandLine command =
      parquet.AddCommand("prune", "Find the files and row groups that may hold keys of a list.");
  auto options = std::make_shared<PruneOptions>();
  command.Footer(kParquetPruneFooter);
  command.Add("FILE-or-DIR", options->paths, "Parquet files, or folders with Parquet files")
      .Required();
  command
      .Add("--column", options->column,
           "path of the column, with dots: id, or address.city of a struct")
      .Type("C")
      .Required()
      .NotEmpty();
  options->keys.AddTo(command);
  const Option groups =
      command.AddFlag("--row-groups", options->groups, "write path,row group,rows,hits in CSV");
  const Option pairs =
      command.AddFlag("--pairs", options->pairs, "write path,row group,key in CSV (or in JSON)");
  const Option null =
      command.AddFlag("-0,--null", options->null, "end paths with NUL, for xargs -0");
  const Option json = command.AddFlag("--json", options->json, "write JSON");
  groups.Excludes(pairs).Excludes(json);
  null.Excludes(groups).Excludes(pairs).Excludes(json);
  const Option no_bounds =
      command.AddFlag("--no-bounds", options->no_bounds, "use only the Bloom filters");
  command.AddFlag("--no-filters", options->no_filters, "use only smallest and largest values")
      .Excludes(no_bounds);
  options->run.AddTo(command);
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
