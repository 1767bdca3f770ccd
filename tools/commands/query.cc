// tamis query: which keys may be in a filter.
#include <tamis/engine/engine.h>
#include <tamis/units.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "tools/commands/asked_filter.h"
#include "tools/commands/commands.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/options/exit_codes.h"
#include "tools/options/run_options.h"
#include "tools/options/signals.h"
#include "tools/output/bitmap_file.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"
#include "tools/output/query_output.h"

namespace tamis::tools {
namespace {

constexpr char kQueryFooter[] =
    "Writes the lines whose keys may be in the filter: all that are in it, and of the others the\n"
    "share that `tamis info` calls expected FPR. Lines come out as they are, after the header if\n"
    "there is one, and raw integers raw.\n"
    "\n";

constexpr char kQueryExamples[] =
    "Examples:\n"
    "  tamis query seen.tamis new.txt > known.txt\n"
    "  tamis query seen.tamis --invert new.txt > certainly_new.txt\n"
    "  tamis query ids.tamis --integers --csv --column user_id events.csv\n"
    "  xz -dc log.xz | tamis query log.tamis --count\n"
    "  if tamis query seen.tamis --any new.txt; then echo some may be known; fi\n";

struct QueryOptions {
  AskedOptions asked;
  InputOptions input;
  RunOptions run;
  bool invert = false;
  bool count = false;
  bool json = false;
  bool any = false;
  std::string bitmap;

  bool WritesLines() const { return !count && !json && !any && bitmap.empty(); }
};

void CheckOutputs(const QueryOptions& options) {
  std::vector<std::string> inputs = options.asked.secret.And(options.input.paths);
  inputs.push_back(options.asked.path);
  if (!options.bitmap.empty()) CheckNotAnInput(options.bitmap, inputs);
  if (options.WritesLines() || options.count || options.json) {
    CheckStandardOutputIsNoInput(inputs);
    if (!options.bitmap.empty()) CheckStandardOutputIsNot(options.bitmap);
  }
}

// Says how many of the keys may be in the filter, and adds a hint if chance alone explains that
// number. Says nothing without a hint if a count goes to standard output anyway.
void SaySummary(const QueryOptions& options, const AskedFilter& filter, uint64_t found,
                uint64_t keys) {
  std::string text =
      WithCommas(found) + " of " + Counted(keys, "key") + " may be in " + options.asked.path;
  constexpr uint64_t kFew = 20;  // by which nothing can be told
  const double p = filter.expected_fpr();
  const auto n = static_cast<double>(keys);
  const bool by_chance = static_cast<double>(found) <= n * p + 3 * std::sqrt(n * p * (1 - p));
  if (keys > 0 && (found == 0 || (by_chance && keys >= kFew && found <= keys / 2))) {
    if (found > 0) {
      text += ", as many as the false-positive rate of " + PercentText(p) + " gives if none is in";
    }
    text +=
        ". If you expected more: the keys must be written as those of the filter, with the same "
        "case, and be in the column that --column names";
  } else if (options.count || options.json) {
    return;
  }
  Say(text);
}

void Report(const QueryOptions& options, uint64_t selected, uint64_t keys, const KeyReader& reader,
            Output& out) {
  const QueryCounts counts = {keys, selected, options.invert};
  if (options.json) out.Write(CountsJson(options.asked.path, counts, reader));
  if (options.count && !options.json) out.Write(CountsText(counts));
  out.Close();
}

int Run(const QueryOptions& options) {
  options.input.Check();
  CheckOutputs(options);
  const std::optional<uint64_t> input_bytes = options.input.TotalBytes();
  const AskedFilter filter(options.asked, options.run, input_bytes);
  filter.RequireForm(options.input.key_type());
  Engine engine = options.run.MakeEngine();
  std::optional<BitmapFile> bitmap;
  if (!options.bitmap.empty()) {
    SayIfSavedOnSignals(options.bitmap);
    bitmap.emplace(options.bitmap);
  }
  Output out;
  const bool lines = options.WritesLines();
  KeyReader reader(options.input, {.records = lines});
  // A bar among lines on the same terminal would be of no use.
  const bool quiet = options.run.quiet || (lines && ::isatty(STDOUT_FILENO) == 1);
  Progress progress("querying", Progress::Unit::kBytes, input_bytes.value_or(0), quiet);
  KeyBatch batch;
  std::vector<uint64_t> words;
  uint64_t keys = 0;
  uint64_t selected = 0;
  bool first = true;
  for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
    if (lines && first) out.Write(reader.header());
    first = false;
    const size_t n = batch.size();
    words.resize(BitmapWords(n));
    const Bitmap found(words);
    const size_t matching = filter.Contains(engine, batch.keys(), found);
    keys += n;
    selected += options.invert ? n - matching : matching;
    if (options.any && selected > 0) break;
    if (lines) {
      for (size_t i = 0; i < n; ++i) {
        if (found.Test(i) != options.invert) WriteRecord(batch.records[i], options.input.u64, out);
      }
      out.Flush();  // input that comes slowly is answered as it comes
    }
    if (bitmap) bitmap->Append(found, options.invert, batch);
    progress.Advance(reader.bytes_read() - before);
  }
  if (lines && first) out.Write(reader.header());
  if (bitmap) bitmap->Close();
  Report(options, selected, keys, reader, out);
  const uint64_t found = options.invert ? keys - selected : selected;
  if (!options.run.quiet && !options.any) SaySummary(options, filter, found, keys);
  const std::string doubt = filter.Doubt(options.input.key_type(), found, keys);
  if (!doubt.empty() && !options.run.quiet && !(options.any && selected > 0)) Say(doubt);
  if (options.any && selected > 0) return kDone;  // without having read all
  reader.Conclude("", /*some_key=*/false);
  return options.any ? kNoMatch : kDone;
}

}  // namespace

Command AddQuery(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("query", "Find the lines whose keys may be in a filter.");
  auto options = std::make_shared<QueryOptions>();
  command.Footer(std::string(kQueryFooter) + kVerifyHelp + "\n" + kKeyTypesHelp + "\n" +
                 FormatsHelp() + "\n" + kQueryExamples);
  options->asked.AddTo(command);
  options->input.AddTo(command);
  command.AddFlag("-v,--invert", options->invert, "the lines that are certainly not in it");
  const Option count =
      command.AddFlag("-c,--count", options->count, "write MATCHES/KEYS, and no lines");
  const Option json = command.AddFlag("--json", options->json, "write the counts in JSON");
  const Option any = command.AddFlag(
      "--any", options->any, "write nothing, stop at the first match; exit status 1 if none");
  const Option bitmap = command.Add(
      "--bitmap", options->bitmap, "write a bit per line, lowest first; 0 for lines without a key");
  bitmap.Type("FILE");
  any.Excludes(count).Excludes(json).Excludes(bitmap);
  options->run.AddTo(command);
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
