// tamis parquet info: describes the Bloom filters of Parquet files, and reports whether they are
// worth their bytes.
#include <tamis/parquet/filter_report.h>
#include <tamis/parquet/source.h>
#include <tamis/units.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/commands/parquet.h"
#include "tools/options/exit_codes.h"
#include "tools/options/parse.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"

namespace tamis::tools {
namespace {

using parquet::ColumnReport;
using parquet::FileReport;
using parquet::FilterReport;
using Json = nlohmann::ordered_json;

constexpr char kParquetInfoFooter[] =
    "Reads the footers and the filters, and no data. The numbers of keys and the false-positive\n"
    "rates are estimated from the bits that are set. A right-sized filter has the smallest size\n"
    "that reaches --fpr for the estimated number of keys. All readers accept its size, which is a\n"
    "power of two.\n"
    "\n"
    "Examples:\n"
    "  tamis parquet info events.parquet\n"
    "  tamis parquet info --totals --json lake/*.parquet\n";

struct ParquetInfoOptions {
  std::vector<std::string> files;
  double fpr = 0.01;
  bool totals = false;
  bool json = false;
};

Json GroupJson(const FilterReport& report, size_t group) {
  Json json = {{"row_group", group}, {"present", report.present}};
  if (!report.problem.empty()) {
    json["problem"] = report.problem;
  } else if (report.present) {
    json["bytes"] = report.bytes;
    json["fill"] = report.fill;
    json["estimated_keys"] = report.keys;  // infinite (null) if every bit is set
    json["rate"] = report.rate;
    json["right_bytes"] = report.right_bytes;
  }
  return json;
}

Json ColumnJson(const ColumnReport& column, uint64_t file_bytes, bool totals) {
  Json json = {
      {"column", column.path},
      {"type", TypeText(column.column)},
      {"row_groups_with_filter", column.present()},
      {"filter_bytes", column.filter_bytes},
      {"data_bytes", column.data_bytes},
      {"share_of_file", static_cast<double>(column.filter_bytes) / static_cast<double>(file_bytes)},
      {"verdict", column.verdict},
      {"ignored_statistics", column.ignored}};
  if (column.present() > 0) json["rate"] = column.rate;
  if (totals) return json;
  Json groups = Json::array();
  for (size_t i = 0; i < column.groups.size(); ++i) {
    groups.push_back(GroupJson(column.groups[i], i));
  }
  json["filters"] = groups;
  return json;
}

Json FileJson(const std::string& path, const FileReport& file, bool totals) {
  Json columns = Json::array();
  for (const ColumnReport& column : file.columns) {
    columns.push_back(ColumnJson(column, file.file_bytes, totals));
  }
  const size_t groups = file.columns.empty() ? 0 : file.columns[0].groups.size();
  return {{"file", path},         {"bytes", file.file_bytes}, {"rows", file.rows},
          {"row_groups", groups}, {"writer", file.writer},    {"columns", columns}};
}

std::string GroupText(const FilterReport& report) {
  if (!report.problem.empty()) return report.problem;
  if (!report.present) return "no filter";
  std::string text = BytesText(static_cast<double>(report.bytes)) + ", " +
                     ShortPercentText(report.fill) + " of the bits set, ";
  if (!std::isfinite(report.keys)) return text + "rules out nothing";
  const auto keys = static_cast<uint64_t>(std::llround(report.keys));
  text += "about " + Counted(keys, "key") + ", rate " + ShortPercentText(report.rate);
  return text + "; right-sized " + BytesText(static_cast<double>(report.right_bytes));
}

std::string FileText(const std::string& path, const FileReport& file, bool totals) {
  const size_t groups = file.columns.empty() ? 0 : file.columns[0].groups.size();
  std::string text = Printable(path) + "\n" +
                     Row("bytes", WithCommas(file.file_bytes) + " (" +
                                      BytesText(static_cast<double>(file.file_bytes)) + ")") +
                     Row("rows", WithCommas(file.rows) + " in " + Counted(groups, "row group")) +
                     Row("writer", Printable(file.writer));
  for (const ColumnReport& column : file.columns) {
    text += "\n  " + Printable(column.path) + ": " + TypeText(column.column) + "\n";
    const bool known =
        std::any_of(column.groups.begin(), column.groups.end(),
                    [](const auto& group) { return group.present || !group.problem.empty(); });
    for (size_t i = 0; i < column.groups.size() && known && !totals; ++i) {
      text += Format("    row group %zu: ", i) + Printable(GroupText(column.groups[i])) + "\n";
    }
    text += "    " + Wrapped(Printable(column.verdict), 4, 96);
    for (const std::string& reason : column.ignored) {
      text += "    " + Wrapped("Statistics that are not used: " + reason + ".", 4, 96);
    }
  }
  return text;
}

int Run(const ParquetInfoOptions& options) {
  CheckStandardOutputIsNoInput(options.files);
  Json all = Json::array();
  for (const std::string& path : options.files) {
    const FileReport file = parquet::ReportFilters(*parquet::OpenSource(path), options.fpr);
    if (!options.json) Print(FileText(path, file, options.totals));
    if (options.json) all.push_back(FileJson(path, file, options.totals));
  }
  // One file becomes an object. Several become an array.
  if (options.json) Print(JsonText(all.size() == 1 ? all[0] : all));
  return kDone;
}

}  // namespace

Command AddParquetInfo(const CommandLine& parquet) {
  const CommandLine command = parquet.AddCommand(
      "info", "Describe the Bloom filters of files, and whether they are worth it.");
  auto options = std::make_shared<ParquetInfoOptions>();
  command.Footer(kParquetInfoFooter);
  command.Add("FILE", options->files, "Parquet files").Required();
  command
      .Add("--fpr", options->fpr, ParseFpr,
           "highest rate of right-sized filters: 0.01 or 1% (default: 1%)")
      .Type("P");
  command.AddFlag("--totals", options->totals,
                  "print only the totals of each column, no row groups");
  command.AddFlag("--json", options->json, "write JSON");
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
