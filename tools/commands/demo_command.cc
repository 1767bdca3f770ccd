// tamis demo phones: builds a filter of five billion phone numbers, and queries it for a hundred
// thousand numbers.
#include <tamis/engine/engine.h>
#include <tamis/error.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/sizing.h>
#include <tamis/filters/split_block_filter.h>
#include <tamis/physical_memory.h>
#include <tamis/units.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tamis/detail/str_cat.h"
#include "tools/commands/commands.h"
#include "tools/commands/demo.h"
#include "tools/commands/phone_numbers.h"
#include "tools/options/exit_codes.h"
#include "tools/options/parse.h"
#include "tools/options/run_options.h"
#include "tools/options/signals.h"
#include "tools/os/process.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

constexpr uint64_t kDefaultNumbers = 5'000'000'000;
constexpr double kMemoryShare = 0.6;
// In addition to --queries, this number of known numbers and of other numbers is queried.
constexpr uint64_t kChecked = 10'000'000;

constexpr char kDemoFooter[] =
    "A bijection on [10^10, 10^11) computes the numbers. So the program can decide without a list\n"
    "whether a number is in the set, and keeps only the filter in memory.\n"
    "\n"
    "In addition to --queries, 10 million known numbers are queried to find false negatives,\n"
    "which must not occur (exit status 3), and 10 million other numbers to measure the\n"
    "false-positive rate.\n"
    "\n"
    "Examples:\n"
    "  tamis demo phones\n"
    "  tamis demo phones --numbers 5e9 --fpr 0.01 --save known.tamis\n"
    "  tamis demo phones --numbers 1e8 --queries 1e6 --json\n";

struct DemoOptions {
  uint64_t numbers = 0;  // 0: five billion, or fewer if the memory is small
  uint64_t queries = 100'000;
  double fpr = 0.01;
  std::string save;
  bool json = false;
  RunOptions run;
};

uint64_t DefaultNumbers(const DemoOptions& options) {
  const auto share = static_cast<uint64_t>(kMemoryShare * static_cast<double>(PhysicalMemory()));
  const uint64_t numbers = NumbersThatFit(kDefaultNumbers, options.fpr, share);
  if (numbers == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "the memory of this machine is unknown; give --numbers");
  }
  if (numbers < kDefaultNumbers) {
    Say("60% of this machine's memory, " + BytesText(static_cast<double>(share)) + ", holds " +
        WithCommas(numbers) + " numbers, not " + WithCommas(kDefaultNumbers));
  }
  return numbers;
}

void Check(const DemoOptions& options) {
  // The false-positive rate is measured with kChecked phone numbers that are not in the filter.
  if (options.numbers > PhoneNumbers::kCount - kChecked) {
    throw Error(ErrorCode::kInvalidArgument, "--numbers: " + WithCommas(options.numbers) +
                                                 " is not in [1, " +
                                                 WithCommas(PhoneNumbers::kCount - kChecked) + "]");
  }
  if (options.queries < 2 || options.queries > 1'000'000'000) {
    throw Error(ErrorCode::kInvalidArgument,
                "--queries: " + WithCommas(options.queries) + " is not in [2, 1,000,000,000]");
  }
  if (!options.save.empty()) CheckOutputPath(options.save);
}

double Build(const DemoOptions& options, Engine& engine, ChangeableFilter& filter) {
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress("building", Progress::Unit::kKeys, options.numbers, options.run.quiet);
    engine.Insert(filter, options.numbers, [&](uint64_t first, std::span<uint64_t> numbers) {
      PhoneNumbers::Fill(first, numbers);
      progress.Advance(numbers.size());
    });
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The results of a run.
struct Results {
  double build_seconds = 0;
  double save_seconds = 0;
  QueryResult queries;
  uint64_t num_known = 0;
  uint64_t members_checked = 0;
  uint64_t members_missed = 0;
  uint64_t absent_found = 0;
  double predicted_fpr = 0;
  CallRoute query_route;

  uint64_t false_negatives() const { return queries.false_negatives + members_missed; }
  double measured_fpr() const { return static_cast<double>(absent_found) / kChecked; }
  // Returns the standard deviation of measured_fpr().
  double fpr_error() const {
    return std::sqrt(predicted_fpr * (1 - predicted_fpr) / static_cast<double>(kChecked));
  }
};

void PrintJson(const DemoOptions& options, const SplitBlockBloomFilter& filter,
               const Engine& engine, const Results& results) {
  const auto numbers = static_cast<double>(options.numbers);
  const auto bytes = static_cast<double>(filter.bytes());
  nlohmann::ordered_json json = {
      {"numbers", options.numbers},
      {"kind", FilterKindName(filter.kind())},
      {"bytes", filter.bytes()},
      {"bits_per_key", 8 * bytes / numbers},
      {"build_seconds", results.build_seconds},
      {"build_keys_per_second", numbers / results.build_seconds},
      {"queries", options.queries},
      {"queries_known", results.num_known},
      {"queries_found", results.queries.found},
      {"query_milliseconds", 1e3 * results.queries.median()},
      {"query_milliseconds_best", 1e3 * results.queries.seconds.front()},
      {"query_milliseconds_worst", 1e3 * results.queries.seconds.back()},
      {"false_negatives", results.false_negatives()},
      {"members_checked", results.num_known + results.members_checked},
      {"false_positives_in_queries", results.queries.false_positives},
      {"absent_checked", kChecked},
      {"measured_fpr", results.measured_fpr()},
      {"measured_fpr_error", results.fpr_error()},
      {"predicted_fpr", results.predicted_fpr},
      {"peak_memory_bytes", os::PeakMemory()},
      {"backend", results.query_route.backend->name},
      {"threads", engine.threads()},
  };
  if (!options.save.empty()) {
    json["saved_to"] = options.save;
    json["save_seconds"] = results.save_seconds;
  }
  Print(JsonText(json));
}

void PrintTable(const DemoOptions& options, const SplitBlockBloomFilter& filter,
                const Engine& engine, const Results& results) {
  const auto numbers = static_cast<double>(options.numbers);
  const auto bytes = static_cast<double>(filter.bytes());
  const QueryResult& queries = results.queries;
  std::string text = WithCommas(options.numbers) + " phone numbers in a " +
                     FilterKindName(filter.kind()) + " filter\n\n";
  text += Row("build", Format("%.2f s, %s numbers/s", results.build_seconds,
                              ShortCountText(numbers / results.build_seconds).c_str()));
  text += Row("filter", BytesText(bytes) + Format(", %.2f bits per number", 8 * bytes / numbers));
  if (!options.save.empty()) {
    text += Row("saved", Printable(options.save) + " in " + DurationText(results.save_seconds));
  }
  text += Row("queries", WithCommas(options.queries) + " in " + DurationText(queries.median()) +
                             ", of which " + WithCommas(results.num_known) + " are known");
  text += Row("", detail::StrCat("median of ", queries.seconds.size(), " runs from ",
                                 DurationText(queries.seconds.front()), " to ",
                                 DurationText(queries.seconds.back()), ", after one to warm up"));
  text += Row("found", WithCommas(queries.found) + ", " + WithCommas(queries.false_positives) +
                           " of them wrongly");
  text += Row("false negatives", WithCommas(results.false_negatives()) + " in these queries and " +
                                     WithCommas(results.members_checked) + " more known numbers");
  text += Row("predicted FPR", PercentText(results.predicted_fpr));
  text += Row("measured FPR", PercentText(results.measured_fpr()) + " +- " +
                                  PercentText(results.fpr_error(), 2) + ", over " +
                                  WithCommas(kChecked) + " unknown numbers");
  text += Row("peak memory", BytesText(static_cast<double>(os::PeakMemory())));
  text += Row("ran on", detail::StrCat(results.query_route.backend->name, ", ", engine.threads(),
                                       engine.threads() == 1 ? " thread" : " threads"));
  Print(text);
}

int Run(DemoOptions options) {
  Check(options);
  if (options.numbers == 0) options.numbers = DefaultNumbers(options);
  if (!options.save.empty()) SayIfSavedOnSignals(options.save);
  Engine engine = options.run.MakeEngine();
  FilterOptions filter_options;
  filter_options.capacity = options.numbers;
  filter_options.fpr = options.fpr;
  filter_options.backend = options.run.Pinned();
  SplitBlockBloomFilter filter(filter_options);
  Results results;
  results.build_seconds = Build(options, engine, filter);
  if (!options.save.empty()) {
    const auto start = std::chrono::steady_clock::now();
    SaveFilter(filter, options.save, options.run.quiet);
    results.save_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  const PhoneQueries queries(options.numbers, options.queries);
  results.queries = AskAll(engine, filter, queries);
  results.num_known = queries.num_known;
  results.members_checked = std::min(options.numbers, kChecked);
  results.members_missed =
      results.members_checked - CountFound(engine, filter, 0, results.members_checked);
  results.absent_found = CountFound(engine, filter, options.numbers, kChecked);
  results.predicted_fpr = SplitBlockFpr(static_cast<double>(options.numbers), filter.num_blocks());
  results.query_route = engine.PlanCall(filter, options.queries).chosen;

  (options.json ? PrintJson : PrintTable)(options, filter, engine, results);
  if (results.false_negatives() == 0) return kDone;
  Say("false negatives: this must never happen, please report it");
  return kFailure;
}

}  // namespace

Command AddDemoPhones(const CommandLine& program) {
  const CommandLine demo = program.AddCommand("demo", "Show what this machine can do.");
  demo.RequireCommand();
  demo.Footer("Examples:\n  tamis demo phones\n  tamis demo phones --help\n");
  const CommandLine command = demo.AddCommand(
      "phones", "Build a filter of 11-digit phone numbers, query it, and report times.");
  auto options = std::make_shared<DemoOptions>();
  command.Footer(kDemoFooter);
  command
      .Add("--numbers", options->numbers, ParsePositiveCount,
           "numbers in the set (default: 5e9, or fewer if 60% of memory is too small)")
      .Type("N");
  command.Add("--queries", options->queries, ParseCount, "numbers to query (default: 100,000)")
      .Type("Q");
  command.Add("-p,--fpr", options->fpr, ParseFpr, "false-positive rate (default: 0.01)").Type("P");
  command.Add("--save", options->save, "save the filter").Type("FILE");
  command.AddFlag("--json", options->json, "a report in JSON");
  options->run.AddTo(command);
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
