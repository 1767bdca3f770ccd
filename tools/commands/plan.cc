// tamis plan: compares filters and exact structures for a number of keys.
#include <tamis/engine/engine.h>
#include <tamis/error.h>
#include <tamis/plan/plan.h>
#include <tamis/units.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/commands/estimate_keys.h"
#include "tools/commands/text_units.h"
#include "tools/input/input.h"
#include "tools/options/exit_codes.h"
#include "tools/options/parse.h"
#include "tools/options/run_options.h"
#include "tools/output/console.h"
#include "tools/output/format.h"

namespace tamis::tools {
namespace {

constexpr char kPlanFooter[] =
    "--ngrams-of estimates the number of n-grams of texts for `tamis dedup --unit ngram`, from a\n"
    "sample of the files. The texts are lines, or with --field fields of JSON lines. It counts\n"
    "n-grams as different if they differ from all others in the sample, so the number is an upper\n"
    "bound if the sample is like the rest.\n"
    "\n"
    "Sizes and rates are those of the actual filters. Times are printed only after `tamis\n"
    "backends --calibrate` has measured this machine.\n"
    "\n"
    "Examples:\n"
    "  tamis plan --n 5e9 --fpr 0.01\n"
    "  tamis plan --n 5e9 --fpr 0.1% --digits 11\n"
    "  tamis plan --n 1e8 --fpr 0.001 --erase --memory 1G\n"
    "  tamis plan --n 1e8 --fpr 0.4% --static\n"
    "  tamis plan --n 2e9 --range 0:4294967295 --json\n"
    "  tamis plan --n 1e8 --fpr 1e-6 --key-bytes 60            # such as URLs\n"
    "  tamis plan --ngrams-of docs-*.jsonl --field text --fpr 0.1%\n";

struct PlanOptions {
  uint64_t n = 0;  // 0: the n-grams of `texts`
  InputOptions texts;
  TextOptions ngrams;
  double fpr = 0.01;

  PlanOptions() {
    texts.paths.clear();
    ngrams.unit = "ngram";
  }

  PlanNeeds needs;
  bool json = false;
};

constexpr size_t kWidth = 100;
constexpr size_t kAbilitiesColumn = 72;  // with the column of times
constexpr size_t kRateWidth = 9;

// Returns a rate that fits its column. Rates such as "1 in 4.28 billion" do not.
std::string RateText(double fpr) {
  if (fpr == 0) return "exact";
  const std::string text = PercentText(fpr);
  return text.size() <= kRateWidth ? text : Format("%.2e%%", 100 * fpr);
}

std::string ProbeText(const std::optional<ProbeCost>& probe) {
  if (!probe) return "-";
  return Format("%s%.2f", probe->at_least ? ">" : "", probe->ns);
}

// Returns the text of the last column: the first elements of `lacks`, and "..." if the others do
// not fit.
std::string LacksText(const std::vector<std::string>& lacks) {
  std::string text = "lacks ";
  for (size_t i = 0; i < lacks.size(); ++i) {
    const std::string more = (i == 0 ? "" : ", ") + lacks[i];
    if (kAbilitiesColumn + text.size() + more.size() > kWidth - (i + 1 < lacks.size() ? 5 : 0)) {
      return text + " ...";
    }
    text += more;
  }
  return text;
}

std::string AbilitiesText(const Abilities& can) {
  const auto word = [](bool yes) { return yes ? "yes" : "-"; };
  return Format("%6s %5s %6s %8s", word(can.erase), word(can.grow), word(can.merge),
                word(can.parallel_build));
}

// The lines of the table, with a column of times if `times` is true.
class Table {
 public:
  explicit Table(bool times) : times_(times) {}

  void Add(const std::string& name, const std::string& bytes, const std::string& bits,
           const std::string& fpr, const std::string& ns, const std::string& lines,
           const std::string& rest) {
    text_ +=
        Row(Format("%-20s  %-9s  %8s  %-9s  %s%5s  %s", name.c_str(), bytes.c_str(), bits.c_str(),
                   fpr.c_str(), times_ ? Format("%7s  ", ns.c_str()).c_str() : "", lines.c_str(),
                   rest.c_str()),
            "");
  }

  void Add(const PlanCandidate& candidate) {
    if (!candidate.possible()) {
      text_ += Wrapped(Format("  %-20s  ", candidate.name.c_str()) + candidate.error, 24, kWidth);
      return;
    }
    Add(candidate.name, BytesText(candidate.bytes),
        Format(candidate.bits_per_key < 1e5 ? "%.2f" : "%.3g", candidate.bits_per_key),
        RateText(candidate.fpr), ProbeText(candidate.probe), Format("%.1f", candidate.cache_lines),
        candidate.suitable() ? AbilitiesText(candidate.can) : LacksText(candidate.lacks));
  }

  const std::string& text() const { return text_; }

 private:
  bool times_;
  std::string text_;
};

// Explains how the times were measured, or how to measure them.
std::string TimesText(const FilterPlan& plan) {
  constexpr char kCalibrate[] = "`tamis backends --calibrate` measures this machine";
  if (plan.calibration.empty())
    return std::string("The times of lookups are unknown: ") + kCalibrate + ".";
  std::string way;
  bool at_least = false, unknown = false;
  for (const PlanCandidate& filter : plan.filters) {
    if (!filter.possible()) continue;
    unknown |= !filter.probe;
    if (!filter.probe) continue;
    at_least |= filter.probe->at_least;
    if (way.empty()) {
      way =
          Format(", on %u thread%s", filter.probe->threads, filter.probe->threads == 1 ? "" : "s");
    }
  }
  std::string text = "ns/key: lookups of " + WithCommas(plan.needs.batch_keys) +
                     " integers at a time, half of them in the filter" + way + " (" +
                     plan.calibration + ").";
  if (at_least) text += " >: at least; the filter is larger than all measured filters.";
  if (unknown) text += std::string(" -: not measured; ") + kCalibrate + ".";
  return text;
}

std::string NeedsText(const PlanNeeds& needs) {
  std::string text;
  for (const AbilityInfo& info : kAbilities) {
    if (!(needs.must.*info.ability)) continue;
    text += (text.empty() ? "" : ", ") + std::string(info.name);
  }
  return text;
}

std::string Text(const FilterPlan& plan) {
  const std::string needs = NeedsText(plan.needs);
  std::string text = Wrapped(WithCommas(plan.keys) + " keys, at most " + PercentText(plan.fpr) +
                                 " false positives" + (needs.empty() ? "" : "; needed: " + needs),
                             2, kWidth) +
                     "\n";
  Table table(!plan.calibration.empty());
  table.Add("filter", "bytes", "bits/key", "true FPR", "ns/key", "lines",
            "erases grows merges parallel");
  for (const PlanCandidate& filter : plan.filters) table.Add(filter);
  table.Add("(least possible)", BytesText(plan.least_bytes),
            Format("%.2f", 8 * plan.least_bytes / static_cast<double>(plan.keys)),
            RateText(plan.fpr), "", "", "n log2(1/p) bits");
  for (const PlanCandidate& exact : plan.exact) table.Add(exact);
  text += table.text();
  text += "\n" + Wrapped("  " + plan.advice, 2, kWidth) + "\n";
  text += Wrapped(
      "  lines: cache lines that a lookup touches, if half of the keys are in the filter. " +
          TimesText(plan),
      2, kWidth);
  if (plan.needs.max_bytes != 0) {
    text += Wrapped("  memory: " + BytesText(static_cast<double>(plan.needs.max_bytes)) +
                        " at most (--memory).",
                    2, kWidth);
  }
  return text;
}

// Estimates the number of different n-grams of the texts. Throws Error(kInvalidArgument) if the
// sample has no n-gram.
uint64_t EstimateNgrams(PlanOptions options) {
  options.texts.jsonl = !options.texts.field.empty();
  options.texts.Check();
  options.ngrams.Check(options.texts);
  const std::optional<uint64_t> bytes = options.texts.TotalBytes();
  if (!bytes) {
    throw Error(ErrorCode::kInvalidArgument,
                "--ngrams-of reads only a part of each file: give files");
  }
  const KeyEstimate estimate = EstimateKeys(options.texts, options.ngrams, *bytes, nullptr);
  if (estimate.fresh == 0) {
    throw Error(ErrorCode::kInvalidArgument, "the sample of the files has no n-gram");
  }
  Say("about " + WithCommas(estimate.keys) + " n-grams, of which up to " +
      WithCommas(estimate.fresh) + " differ (from a sample of " +
      BytesText(static_cast<double>(estimate.sample_bytes)) + " of " +
      BytesText(static_cast<double>(estimate.total_bytes)) + ")");
  return estimate.fresh;
}

int Run(const PlanOptions& options) {
  if (options.n == 0 && options.texts.paths.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "--n is required, or --ngrams-of (see `tamis plan --help`)");
  }
  const uint64_t n = options.n != 0 ? options.n : EstimateNgrams(options);
  EngineOptions engine;
  std::optional<Calibration> calibration = SavedCalibration();
  if (calibration) engine.calibration = *std::move(calibration);
  const FilterPlan plan =
      PlanFilters(n, options.fpr, options.needs, calibration ? &engine : nullptr);
  Print(options.json ? PlanJson(plan) + "\n" : Text(plan));
  return kDone;
}

}  // namespace

Command AddPlan(const CommandLine& program) {
  const CommandLine command = program.AddCommand(
      "plan", "Compare filters and exact structures for a job, and recommend one.");
  auto options = std::make_shared<PlanOptions>();
  PlanNeeds& needs = options->needs;
  command.Footer(kPlanFooter);
  const Option n =
      command.Add("-n,--n", options->n, ParsePositiveCount, "distinct keys, such as 5e9 or 5G");
  n.Type("N");
  command.Add("--ngrams-of", options->texts.paths, "estimate --n: the n-grams of these texts")
      .AtLeast(1)
      .Type("FILE")
      .Excludes(n);
  command.Add("--field", options->texts.field, "with --ngrams-of: the field of JSON lines")
      .NotEmpty()
      .Type("NAME");
  command
      .Add("--ngrams", options->ngrams.ngrams, ParsePositiveCount,
           "with --ngrams-of: words of an n-gram (default: 13)")
      .Type("N");
  command.Add("-p,--fpr", options->fpr, ParseFpr, "largest false-positive rate (default: 0.01)")
      .Type("P");
  for (const AbilityInfo& info : kAbilities) {
    command.AddFlag(std::string("--") + info.name, needs.must.*info.ability, info.description)
        .Group("Requirements");
  }
  command
      .AddFlag("--static", needs.is_static,
               "the set never changes: compare static filters, too, by size")
      .Group("Requirements");
  const Option range =
      command.Add("--range", needs.range, ParseRange, "the keys are integers from LO to HI");
  range.Type("LO:HI");
  const Option digits = command.Add("--digits", needs.range, ParseDigits,
                                    "the keys are integers of up to D decimal digits");
  digits.Type("D").Excludes(range);
  command
      .Add("--key-bytes", needs.key_bytes, ParsePositiveCount,
           "mean bytes of a key, for the sizes of exact structures (default: 8)")
      .Type("N")
      .Excludes(range)
      .Excludes(digits);
  command
      .Add("--memory", needs.max_bytes, ParseBytes,
           "largest size (default: the memory of this machine)")
      .Type("BYTES");
  command
      .Add("--batch", needs.batch_keys, ParsePositiveCount,
           "number of keys per call, for the times of lookups (default: 1M)")
      .Type("N");
  command.AddFlag("--json", options->json, "a report in JSON");
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
