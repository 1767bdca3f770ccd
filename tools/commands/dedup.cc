// tamis dedup: writes the first of equal lines.
#include "tools/commands/dedup.h"

#include <tamis/engine/engine.h>
#include <tamis/error.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/any_filter.h>
#include <tamis/filters/any_scalable_filter.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/split_block_filter.h>
#include <tamis/key_types_text.h>
#include <tamis/plan/plan.h>
#include <tamis/units.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tools/commands/commands.h"
#include "tools/commands/dedup_folder.h"
#include "tools/commands/deduplicator.h"
#include "tools/commands/estimate_keys.h"
#include "tools/commands/overfull.h"
#include "tools/commands/seen_keys.h"
#include "tools/commands/text_units.h"
#include "tools/input/count_keys.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/options/exit_codes.h"
#include "tools/options/kind_options.h"
#include "tools/options/parse.h"
#include "tools/options/signals.h"
#include "tools/os/file.h"
#include "tools/os/interrupt.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

constexpr char kDedupFooter[] =
    "Writes each line that did not occur before, unchanged and in the order of the input. A\n"
    "filter remembers the lines in less memory than the lines take. At its false-positive rate,\n"
    "the filter mistakes a new line for a repeated line, and the new line is lost. A repeated\n"
    "line is not written if the filter still remembers it. A summary reports how many lines are\n"
    "expected to be lost: the sum of p / (1 - p) over the lines written, where p is the\n"
    "false-positive rate at the time of writing.\n"
    "\n"
    "The filter is made for --capacity different lines. Without --capacity, the lines of regular\n"
    "files are counted first. For a pipe, or with --filter, the filter grows instead\n"
    "(--scalable). The default kind, split-block, takes 64.7 bits a line at 1e-6, and one cache\n"
    "miss a line. --kind bloom takes 28.8 bits and up to 20 cache misses: less than half of the\n"
    "memory, and five times the time if the filter is larger than the caches.\n"
    "\n"
    "--exact loses no line: each different line is written exactly once. It reads the input\n"
    "twice, so the input cannot be a pipe. It excludes --filter and --window. In addition to the\n"
    "filter, it uses memory for each repeated line: the bytes of the key and about 60 more.\n"
    "\n"
    "The file of --filter is replaced as a whole after all lines are written, also if a signal\n"
    "ends the input. If writing fails, the file is not changed. Options for the kind and size of\n"
    "the filter apply only to a new file.\n"
    "\n"
    "--window keeps the last lines, and forgets older ones. With a time (s, m, h or d), a line is\n"
    "remembered for this time after it was last read, and for at most a third longer. --capacity\n"
    "is then the largest number of different lines that come within this time, even all at once.\n"
    "If more come, more new lines are lost. With --filter, the window is saved at the end or\n"
    "after a signal, and the same command continues it.\n"
    "\n"
    "If options select other keys than lines, the keys are compared: --csv --column id writes the\n"
    "first record of each id.\n"
    "\n"
    "--unit compares texts, which are fields of JSON lines, or lines. With --unit document, a "
    "text\n"
    "is compared as a whole. With --unit paragraph, each line of a text is compared, without "
    "blanks\n"
    "at its ends, and repeated paragraphs are left out of their texts. With --unit ngram, a\n"
    "paragraph is left out if at least --threshold of the sequences of --ngrams words in it\n"
    "occurred in paragraphs that were written before. A paragraph of fewer words is one sequence.\n"
    "The n-grams of a paragraph are remembered only if it is written. A text without any "
    "paragraph\n"
    "left is not written, and everything else is written byte for byte.\n"
    "\n"
    "--remove document decides about whole texts instead, by the share of their paragraphs or\n"
    "n-grams. --remove annotate leaves nothing out: it adds a field tamis_repeated to JSON "
    "objects\n"
    "with repeated parts, a list of [BEGIN, END, SHARE]. BEGIN and END are bytes of the text in\n"
    "UTF-8. The default rate of a filter of n-grams is 1e-3. It grows unless --capacity is given.\n"
    "\n"
    "A word is a longest run of letters, digits, marks and underscores. In scripts without spaces\n"
    "between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) each character is a word. Upper\n"
    "and lower case are different.\n"
    "\n"
    "--against FILTER compares with the keys of that filter only, and changes no filter: it "
    "removes\n"
    "the paragraphs of a test set from training data, for example.\n"
    "\n"
    "--output-dir DIR writes an output for each input, with the name of the input (without .gz or\n"
    ".zst). After every --checkpoint inputs, the filter and the counts are saved there. If the run "
    "is\n"
    "interrupted, the same command goes on after the last checkpoint, and the outputs become the\n"
    "same as without an interruption. More inputs can be added at the end of the command.\n"
    "\n"
    "Before the run, a sample of the files shows whether a filter of a given size will be too "
    "full.\n"
    "For texts this is an error, unless --overfull is given.\n"
    "\n";

constexpr char kDedupExamples[] =
    "Examples:\n"
    "  tamis dedup urls.txt > unique.txt\n"
    "  tamis dedup --filter seen.tamis today.txt > new.txt    # new lines since the first run\n"
    "  tail -f events.log | tamis dedup --window 10M          # remembers 10 million or more\n"
    "  tail -f events.log | tamis dedup --window 5m --capacity 1M --filter recent.window\n"
    "  tamis dedup --capacity 50M *.log.gz > unique.txt       # 385 MiB; with --kind bloom 171\n"
    "  tamis dedup --csv --column user_id users-*.csv > first.csv\n"
    "  tamis dedup --exact urls.txt > unique.txt              # loses no line\n"
    "  tamis dedup --unit paragraph --jsonl --field text docs.jsonl.zst > clean.jsonl\n"
    "  tamis dedup --unit ngram --threshold 0.8 --jsonl --field text docs.jsonl > clean.jsonl\n"
    "  tamis dedup --unit paragraph --jsonl --field text --output-dir clean/ part-*.jsonl.zst\n"
    "  tamis dedup --unit ngram --filter test.tamis --jsonl --field text test.jsonl > /dev/null\n"
    "  tamis dedup --unit ngram --against test.tamis --jsonl --field text train.jsonl > "
    "clean.jsonl\n";

// The false-positive rate with --exact. A false positive then loses no line, but RepeatedKeys
// stores its key. At this rate, these keys take less memory than the filter, unless they are longer
// than about 1,500 bytes.
constexpr double kExactFpr = 1e-3;

void Check(const DedupOptions& options) {
  options.input.Check();
  options.text.Check(options.input);
  std::vector<std::string> inputs = options.secret.And(options.input.paths);
  if (!options.filter.empty()) {
    CheckOutputPath(options.filter, options.save);
    CheckNotAnInput(options.filter, inputs);
    CheckStandardOutputIsNot(options.filter);
  }
  CheckStandardOutputIsNoInput(inputs);
  const auto refuse = [](const char* reason) { throw Error(ErrorCode::kInvalidArgument, reason); };
  if (options.exact && !options.filter.empty()) {
    refuse("--exact cannot compare lines with those of earlier runs: leave out --filter");
  }
  if (options.text.given() && (options.exact || options.window.given())) {
    refuse("--unit excludes --exact and --window");
  }
  if (!options.against.empty() &&
      (!options.filter.empty() || options.exact || options.window.given() || options.scalable ||
       options.kind || options.made.capacity != 0 || options.made.bytes != 0 || options.fpr)) {
    refuse(
        "--against makes and changes no filter: leave out --filter, --exact, --window, --kind, "
        "--fpr and sizes");
  }
  if (options.exact && options.window.given()) {
    refuse("--exact remembers all lines: leave out --window");
  }
  if (options.folder.empty() && options.checkpoint != DedupOptions::kCheckpoint) {
    refuse("--checkpoint needs --output-dir");
  }
  if (!options.folder.empty() &&
      (!options.filter.empty() || options.exact || options.window.given())) {
    refuse("--output-dir has a filter of its own: leave out --filter, --exact and --window");
  }
  if (!options.window.given()) return;
  if (!options.secret.path.empty())
    refuse("--window makes a filter without a keyed hash: leave out --secret");
  if (options.scalable || options.made.bytes != 0) {
    refuse("--window determines the size: leave out --scalable and --bytes");
  }
  if (!options.window.by_time() && options.made.capacity != 0) {
    refuse("--window N determines the size: leave out --capacity");
  }
}

AnyFilter MakeFilterFor(const DedupOptions& options, std::optional<uint64_t> total_bytes) {
  const FilterKind kind = options.new_kind();
  FilterOptions made = options.made;
  made.backend = options.run.Pinned();
  // Prints no advice for the default kind, because the help states that another kind takes less
  // than half of the memory.
  if (const std::string advice =
          SizingAdvice(kind, std::max(made.capacity, text::kMinCapacity), made.fpr);
      !advice.empty() && kind != SplitBlockBloomFilter::kKind) {
    Say("warning: " + advice);
  }
  const bool sized = made.capacity != 0 || made.bytes != 0;
  // The number of paragraphs and n-grams is unknown.
  const bool has_parts = options.text.given() && options.text.unit != "document";
  if (options.scalable || (!sized && (!total_bytes || !options.filter.empty() || has_parts))) {
    return MakeScalableFilter(kind,
                              {.initial_capacity = std::max(made.capacity, text::kMinCapacity),
                               .fpr = made.fpr,
                               .max_bytes = made.bytes,
                               .backend = made.backend});
  }
  if (!sized) made.capacity = CountKeys(options.input, *total_bytes, options.run.quiet);
  if (made.bytes == 0) made.capacity = std::max(made.capacity, text::kMinCapacity);
  return MakeFilter(kind, made);
}

// Throws Error(kInvalidArgument) for a filter of n-grams of another number of words.
void RequireWords(const Filter& filter, const std::string& path, size_t words) {
  const std::vector<size_t> marked = text::MarkedWords(filter, words);
  if (marked == std::vector{words} || filter.inserted_count() == 0) return;
  if (marked.empty()) {
    return Say(detail::StrCat("note: ", path,
                              " does not record the words of its n-grams; --ngrams ", words,
                              " is assumed"));
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      detail::StrCat(path, ": its n-grams have ", text::WordsText(marked), " words, and not ",
                     words, ": give --ngrams ", text::WordsText(marked)));
}

}  // namespace

AnyFilter FilterFor(const DedupOptions& options, const std::string& path,
                    std::optional<uint64_t> total_bytes) {
  const std::optional<HashSecret> secret = options.secret.Read();
  if (path.empty()) {
    if (secret) {
      throw Error(ErrorCode::kInvalidArgument,
                  "--secret needs an existing filter: `tamis build --allow-empty` makes one");
    }
    return MakeFilterFor(options, total_bytes);
  }
  AnyFilter filter = Load(path, {.backend = options.run.Pinned(), .secret = secret});
  if (options.text.by_words() && !options.form.any &&
      !filter->key_types().Admit(KeyType::kInteger)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        path + ": its keys are " + KeyTypesText(filter->key_types()) +
            ", and not n-grams: `tamis dedup --unit ngram --filter` makes a filter of them");
  }
  options.form.Require(*filter, path, options.key_type());
  if (options.text.by_words()) RequireWords(*filter, path, options.text.units().words);
  return filter;
}

namespace {

// Returns the keys of the filter, which must outlive the object. Inserts the marks of n-grams into
// a filter that may change.
std::unique_ptr<SeenKeys> SeenFor(const DedupOptions& options, Filter& filter,
                                  const Engine& engine) {
  if (!options.against.empty()) return SeenOnlyIn(filter, engine);
  std::unique_ptr<SeenKeys> seen = SeenIn(RequireChangeable(filter), engine);
  if (options.text.by_words()) text::InsertMarks(*seen, options.text.units().words);
  return seen;
}

// Saves the filter or the window. If the file did not exist at the start, it is not locked. If
// another process has created it since, throws Error(kBusy).
void Save(const DedupOptions& options, const Filter* filter, const SeenInWindow* window) {
  try {
    if (window != nullptr) return window->Save(options.filter, options.run.quiet, options.save);
    SaveFilter(*filter, options.filter, options.run.quiet, options.save);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBusy) throw;
    throw Error(error.code(),
                error.what() + std::string("; this file does not contain the lines just written"));
  }
}

// Returns whether the keys of all inputs are counted to size a new filter that does not grow.
bool IsCounted(const DedupOptions& options) {
  return options.made.capacity == 0 && options.made.bytes == 0;
}

// Estimates whether the filter will be too full for the inputs, from a sample of them. If so,
// warns. For texts, throws Error(kInvalidArgument), because most of their parts are usually new.
void CheckEstimate(const DedupOptions& options, const Filter& filter, const InputOptions& input) {
  const std::optional<uint64_t> total_bytes = input.TotalBytes();
  if (total_bytes.value_or(0) == 0 || options.overfull || KindInfo(filter.kind()).has_layers)
    return;
  const KeyEstimate estimate = EstimateKeys(input, options.text, *total_bytes, &filter);
  const double keys =
      static_cast<double>(filter.inserted_count()) + static_cast<double>(estimate.fresh);
  const double rate = FilterFpr(filter.kind(), keys, filter.bytes());
  if (estimate.fresh == 0 || !IsTooHigh(rate, filter, 0)) return;
  const std::string message = "the filter is for " + Counted(filter.capacity(), "key") +
                              ", and the inputs seem to have up to " + WithCommas(estimate.fresh) +
                              " new ones (from a sample of " +
                              BytesText(static_cast<double>(estimate.sample_bytes)) +
                              "); its false-positive rate would become " + PercentText(rate);
  if (!options.text.given()) return Say("warning: " + message);
  throw Error(ErrorCode::kInvalidArgument,
              message + ": give a larger --capacity, or --overfull if the sample is misleading");
}

void WarnIfTooFull(const Filter& filter) {
  if (filter.inserted_count() <= filter.capacity()) return;
  Say("warning: " + WithCommas(filter.inserted_count()) + " keys are in a filter for " +
      WithCommas(filter.capacity()) + "; its false-positive rate has become " +
      PercentText(filter.expected_fpr()));
}

void WarnIfTooFull(const DedupOptions& options, const SeenInWindow& window) {
  if (window.HighestFpr() <= 1.1 * window.FprAtCapacity()) return;
  Say("warning: more lines came within " + WindowText(options.window) +
      " than the window was made for; its false-positive rate became " +
      PercentText(window.HighestFpr()));
}

// Warns before a run that compares with the filter of --against.
void WarnIfOverfull(const std::string& against, const Filter& filter) {
  if (!IsOverfull(filter, 0)) return;
  Say("warning: " + against + " is too full: it was made for " + Counted(filter.capacity(), "key") +
      ", and its false-positive rate is " + PercentText(filter.expected_fpr()));
}

// Return the exit status of a run with this window or filter, with a message if it is a failure.
int StatusFor(const SeenInWindow& window) {
  if (!IsTooHigh(window.HighestFpr(), window.FprAtCapacity())) return kDone;
  Say("most of the lines left out may be new: use a window of a larger --capacity");
  return kFailure;
}
int StatusFor(const DedupOptions& options, const Filter& filter) {
  if (!IsOverfull(filter, 0)) return kDone;
  Say("most of the lines left out may be new: " +
      (options.against.empty() ? "use a larger filter, or let dedup make one"
                               : "make " + options.against + " again with a larger --capacity"));
  return kFailure;
}

// Returns the options that change the outputs.
nlohmann::ordered_json OptionsOfOutputs(const DedupOptions& options) {
  const InputOptions& input = options.input;
  const TextOptions& text = options.text;
  nlohmann::ordered_json against;
  if (!options.against.empty()) {
    const std::optional<os::FileStatus> status = os::StatusOf(options.against);
    const os::FileStatus now = status.value_or(os::FileStatus());
    against = {options.against, now.bytes, now.changed_seconds, now.changed_ns};
  }
  return {{"--unit", text.unit},
          {"--remove", text.remove},
          {"--ngrams", text.ngrams.value_or(text::kWords)},
          {"--threshold", text.threshold.value_or(text::kThreshold)},
          {"--kind", FilterKindName(options.new_kind())},
          {"--fpr", options.made.fpr},
          {"--capacity", options.made.capacity},
          {"--bytes", options.made.bytes},
          {"--scalable", options.scalable},
          {"--against", against},
          {"--csv", input.reads_csv()},
          {"--tsv", input.tsv},
          {"--separator", std::string(input.separator ? 1 : 0, input.separator.value_or(' '))},
          {"--column", input.column},
          {"--header", input.header},
          {"--no-quotes", input.no_quotes},
          {"--quoted-lines", input.quoted_lines},
          {"--jsonl", input.jsonl},
          {"--field", input.field},
          {"--u64", input.u64},
          {"--integers", input.integers},
          {"--hex", input.hex},
          {"--trim", input.trim},
          {"--empty", input.empty},
          {"--as-is", input.as_is}};
}

// Continues the counts of a checkpoint.
void ContinueFrom(const DedupFolder& folder, Deduplicator& deduplicator) {
  try {
    deduplicator.ContinueFrom(folder.counts());
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kCorrupt, folder.checkpoint() + ": not a checkpoint");
  }
}

// Runs `tamis dedup --output-dir`.
int RunInFolder(const DedupOptions& options, const Engine& engine) {
  const std::vector<std::string>& paths = options.input.paths;
  const bool changes = options.against.empty();
  std::vector<std::string> others = options.secret.And({});
  if (!changes) others.push_back(options.against);
  DedupFolder folder(options.folder, options.input, others, OptionsOfOutputs(options));
  const size_t done = folder.done();
  if (changes && done > 0 && folder.filter().empty()) {
    throw Error(ErrorCode::kCorrupt, folder.checkpoint() + ": the checkpoint lacks its filter");
  }
  InputOptions rest = options.input;
  rest.paths.erase(rest.paths.begin(), rest.paths.begin() + static_cast<ptrdiff_t>(done));
  const AnyFilter filter =
      FilterFor(options, changes ? folder.filter() : options.against, rest.TotalBytes());
  // The filter was judged when the first run began.
  const bool judged = done == 0 ? IsCounted(options) : paths.size() <= folder.planned();
  if (changes && !judged) CheckEstimate(options, *filter, rest);
  if (!changes) WarnIfOverfull(options.against, *filter);
  const std::unique_ptr<SeenKeys> seen = SeenFor(options, *filter, engine);
  Deduplicator deduplicator(options, *seen, engine.threads(), rest.TotalBytes().value_or(0));
  if (done > 0) {
    ContinueFrom(folder, deduplicator);
    if (!options.run.quiet) {
      Say(WithCommas(done) + " of " + Counted(paths.size(), "input") +
          " were written by earlier runs");
    }
  }
  os::StopInputOnRequest();
  InputOptions input = rest;
  for (size_t i = done; i < paths.size(); ++i) {
    Output out(folder.unfinished());
    input.paths = {paths[i]};
    if (!deduplicator.Read(input, &out, "; its output was not written")) {
      Say(WithCommas(folder.done()) + " of " + Counted(paths.size(), "input") +
          " are written and in the checkpoint; the same command goes on from there");
      break;
    }
    out.CloseAs(folder.OutputOf(i));
    if ((i + 1) % options.checkpoint == 0 || i + 1 == paths.size()) {
      folder.Save(i + 1, changes ? &*filter : nullptr, deduplicator.counts());
    }
  }
  EndIfStopped();
  if (options.json) Print(JsonText(deduplicator.Report()));
  if (changes) WarnIfTooFull(*filter);
  if (!options.run.quiet) Say(deduplicator.Summary());
  return StatusFor(options, *filter);
}

// Makes the window, or continues the window in the file.
std::unique_ptr<SeenInWindow> WindowFor(const DedupOptions& options, bool exists,
                                        const Engine& engine) {
  if (exists) {
    std::unique_ptr<SeenInWindow> window = LoadWindow(options.filter, options.window, engine);
    options.form.Require(window->key_types(), options.filter, options.key_type());
    return window;
  }
  if (options.window.by_time() && options.made.capacity == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "--window " + WindowText(options.window) +
                    " needs --capacity: the number of different lines that come within this time");
  }
  return MakeWindow(options.new_kind(), options.window, options.made.capacity, options.made.fpr,
                    engine);
}

void RequireNoWindow(const std::string& path) {
  if (!IsWindow(path)) return;
  throw Error(ErrorCode::kInvalidArgument,
              path + " is a window: give --window " + WindowText(SizeOf(ReadWindowHeader(path))));
}

int Run(DedupOptions options) {
  Check(options);
  options.made.fpr = options.fpr.value_or(options.exact             ? kExactFpr
                                          : options.text.by_words() ? text::kNgramFpr
                                                                    : text::kFpr);
  const std::optional<uint64_t> total_bytes = options.input.TotalBytes();
  Engine engine = options.run.MakeEngine();
  if (options.exact) return RunExact(options, engine, total_bytes);
  if (!options.folder.empty()) return RunInFolder(options, engine);
  std::unique_ptr<const FileLock> lock;
  std::optional<AnyFilter> filter;
  if (!options.filter.empty()) SayIfSavedOnSignals(options.filter);
  const bool changes = !options.window.given() && options.against.empty();
  const bool exists = !options.filter.empty() && std::filesystem::exists(options.filter);
  if (exists) lock = LockIfInput(options.filter, {options.filter});
  options.save.lock = lock.get();
  options.save.only_new = !exists;
  std::unique_ptr<SeenKeys> seen;
  const SeenInWindow* window = nullptr;
  if (options.window.given()) {
    std::unique_ptr<SeenInWindow> made = WindowFor(options, exists, engine);
    window = made.get();
    seen = std::move(made);
  } else {
    if (exists) RequireNoWindow(options.filter);
    filter = FilterFor(options, exists ? options.filter : options.against, total_bytes);
    if (changes && (exists || !IsCounted(options))) CheckEstimate(options, **filter, options.input);
    if (!changes) WarnIfOverfull(options.against, **filter);
    seen = SeenFor(options, **filter, engine);
  }

  os::StopInputOnRequest();
  Deduplicator deduplicator(options, *seen, engine.threads(), total_bytes.value_or(0));
  Output out;
  deduplicator.Read(options.input, options.json ? nullptr : &out,
                    options.filter.empty() ? "" : "; the filter was not saved");
  if (!options.json) out.Close();
  if (options.json) Print(JsonText(deduplicator.Report()));
  // The filter is saved only after all lines are written. If writing fails, the lines that were not
  // written are new again in the next run.
  if (!options.filter.empty() && !options.json) Save(options, filter ? &**filter : nullptr, window);
  if (changes) WarnIfTooFull(**filter);
  if (window != nullptr) WarnIfTooFull(options, *window);
  if (!options.json && !options.run.quiet) Say(deduplicator.Summary());
  EndIfStopped();
  if (window != nullptr) return StatusFor(*window);
  return StatusFor(options, **filter);
}

}  // namespace

Command AddDedup(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("dedup", "Write the first of equal lines; 1 new line in 10^6 is lost.");
  auto options = std::make_shared<DedupOptions>();
  command.Footer(std::string(kDedupFooter) + kKeyTypesHelp + "\n" + kDedupExamples);
  command
      .Add("--filter", options->filter, "continue with the filter in this file, and save it there")
      .NotEmpty()
      .Type("FILE");
  command.Add("--against", options->against, "compare with this filter only, and change no filter")
      .NotEmpty()
      .Type("FILE");
  options->text.AddTo(command);
  command
      .Add("--output-dir", options->folder,
           "write an output for each input there; go on after an interruption")
      .NotEmpty()
      .Type("DIR");
  command
      .Add("--checkpoint", options->checkpoint, ParsePositiveCount,
           "with --output-dir: inputs between two checkpoints (default: 10)")
      .Type("N");
  command
      .Add("-n,--capacity", options->made.capacity, ParsePositiveCount,
           "different lines to size for, such as 5e7 (default: all lines of the files)")
      .Type("N");
  command
      .Add("-p,--fpr", options->fpr, ParseFpr,
           "share of new lines that may be lost (default: 1e-6; --exact, n-grams: 1e-3)")
      .Type("P");
  command
      .Add("--bytes", options->made.bytes, ParseBytes,
           "size, such as 200M, instead of --capacity; with --scalable, the largest size")
      .Type("SIZE");
  command
      .Add("--window", options->window, ParseWindow,
           "remember the last N lines or more, or the lines of a time such as 5m")
      .Type("N|TIME");
  command.AddFlag("--exact", options->exact,
                  "lose no line: read the input twice, and remember repeated keys");
  command.AddFlag("--scalable", options->scalable, "let the filter grow, starting with --capacity");
  AddKindAndType(
      command, options->kind, [](const FilterKindInfo& kind) { return kind.is_plain(); },
      "kind of filter (default: split-block)");
  command.AddFlag("--overfull", options->overfull,
                  "run even if the filter seems too small for the inputs");
  command.AddFlag("--replace-read-only", options->save.replace_read_only, kReplaceReadOnlyHelp);
  command.AddFlag("--json", options->json,
                  "write the counts in JSON, and no lines; --filter is not saved");
  options->input.AddTo(command);
  options->form.AddTo(command);
  options->secret.AddTo(command);
  options->run.AddTo(command);
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
