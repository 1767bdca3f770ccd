// tamis query: finds the keys that may be in a filter.
#include <tamis/engine/engine.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/commands/query_keys.h"
#include "tools/input/filter_file.h"
#include "tools/options/run_options.h"

namespace tamis::tools {
namespace {

constexpr char kQueryFooter[] =
    "Writes the lines whose keys may be in the filter: all lines whose keys are in it, and others\n"
    "at the rate that `tamis info` calls expected FPR. Lines are written unchanged, after the\n"
    "header if there is one. Raw integers are written as raw integers.\n"
    "\n";

constexpr char kQueryExamples[] =
    "Examples:\n"
    "  tamis query seen.tamis new.txt > known.txt\n"
    "  tamis query seen.tamis --invert new.txt > certainly_new.txt\n"
    "  tamis query ids.tamis --integers --csv --column user_id events.csv\n"
    "  xz -dc log.xz | tamis query log.tamis --count\n"
    "  if tamis query seen.tamis --any new.txt; then echo some may be known; fi\n";

struct QueryOptions {
  FilterFileOptions filter;
  KeyQueryOptions query;
  RunOptions run;
};

int Run(const QueryOptions& options) {
  std::vector<std::string> inputs = options.filter.secret.And(options.query.input.paths);
  inputs.push_back(options.filter.path);
  options.query.Check(inputs);
  const std::optional<uint64_t> input_bytes = options.query.input.TotalBytes();
  const auto filter =
      OpenQueryable(options.filter, options.run, options.query.input.key_type(), input_bytes);
  const Engine engine = options.run.MakeEngine();
  return QueryKeys(*filter, options.filter.path, options.query, input_bytes, &engine,
                   options.run.quiet);
}

}  // namespace

Command AddQuery(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("query", "Find the lines whose keys may be in a filter.");
  auto options = std::make_shared<QueryOptions>();
  command.Footer(std::string(kQueryFooter) + kVerifyHelp + "\n" + kKeyTypesHelp + "\n" +
                 FormatsHelp() + "\n" + kQueryExamples);
  options->filter.AddTo(command);
  options->query.input.AddTo(command);
  const Option any = options->query.AddTo(command);
  const Option bitmap =
      command.Add("--bitmap", options->query.bitmap,
                  "write one bit per line, lowest bit first; 0 for lines without a key");
  bitmap.Type("FILE");
  any.Excludes(bitmap);
  options->run.AddTo(command);
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
