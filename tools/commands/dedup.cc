// tamis dedup: writes the first of equal lines.
#include <tamis/engine/engine.h>
#include <tamis/error.h>
#include <tamis/filters/any_filter.h>
#include <tamis/filters/any_scalable_filter.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/scalable_filter.h>
#include <tamis/filters/split_block_filter.h>
#include <tamis/key_types_text.h>
#include <tamis/plan/plan.h>
#include <tamis/units.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/commands/overfull.h"
#include "tools/commands/seen_keys.h"
#include "tools/commands/text_units.h"
#include "tools/input/count_keys.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/input/key_type.h"
#include "tools/input/repeated_keys.h"
#include "tools/input/unchanged_inputs.h"
#include "tools/options/exit_codes.h"
#include "tools/options/kind_options.h"
#include "tools/options/parse.h"
#include "tools/options/run_options.h"
#include "tools/options/secret.h"
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
    "\n";

constexpr char kDedupExamples[] =
    "Examples:\n"
    "  tamis dedup urls.txt > unique.txt\n"
    "  tamis dedup --filter seen.tamis today.txt > new.txt    # new lines since the first run\n"
    "  tail -f events.log | tamis dedup --window 10M          # remembers 10 million or more\n"
    "  tamis dedup --capacity 50M *.log.gz > unique.txt       # 385 MiB; with --kind bloom 171\n"
    "  tamis dedup --csv --column user_id users-*.csv > first.csv\n"
    "  tamis dedup --exact urls.txt > unique.txt              # loses no line\n"
    "  tamis dedup --unit paragraph --jsonl --field text docs.jsonl.zst > clean.jsonl\n"
    "  tamis dedup --unit ngram --threshold 0.8 --jsonl --field text docs.jsonl > clean.jsonl\n"
    "  tamis dedup --unit ngram --filter test.tamis --jsonl --field text test.jsonl > /dev/null\n"
    "  tamis dedup --unit ngram --against test.tamis --jsonl --field text train.jsonl > "
    "clean.jsonl\n";

constexpr double kFpr = 1e-6;
// The false-positive rate with --exact. A false positive then loses no line, but RepeatedKeys
// stores its key. At this rate, these keys take less memory than the filter, unless they are longer
// than about 1,500 bytes.
constexpr double kExactFpr = 1e-3;
// The false-positive rate of n-grams. Many n-grams of a paragraph must be false positives at once.
constexpr double kNgramFpr = 1e-3;

struct DedupOptions {
  InputOptions input;
  KeyTypeOptions form;
  SecretOptions secret;
  RunOptions run;
  TextOptions text;
  std::string filter;   // empty: the filter is not saved
  std::string against;  // empty: lines are compared with each other
  // Options of a new filter.
  FilterKind kind = SplitBlockBloomFilter::kKind;
  FilterOptions made = {};
  std::optional<double> fpr;
  bool exact = false;
  bool scalable = false;
  uint64_t window = 0;  // 0: all keys are remembered
  SaveOptions save;
  bool json = false;

  // By default, empty lines are compared and written like other lines.
  DedupOptions() { input.empty = "keep"; }

  KeyType key_type() const { return text.by_words() ? KeyType::kInteger : input.key_type(); }
};

class Counts {
 public:
  // `fpr` is the false-positive rate at the beginning.
  explicit Counts(double fpr) : fpr_(fpr) {}

  // Counts `keys` keys, of which the filter recognized `fresh` as new. `fpr` is the rate after
  // these keys. At rate p, a new key is recognized as new with probability 1 - p. So for each
  // recognized key, p / (1 - p) new keys are expected to be lost.
  void Add(uint64_t keys, uint64_t fresh, double fpr) {
    keys_ += keys;
    fresh_ += fresh;
    const double p = (fpr_ + fpr) / 2;
    if (fresh > 0) lost_ += static_cast<double>(fresh) * p / (1 - p);
    fpr_ = fpr;
  }

  uint64_t keys() const { return keys_; }
  uint64_t fresh() const { return fresh_; }
  uint64_t left_out() const { return keys_ - fresh_; }
  // Returns the expected number of new lines that were left out.
  double lost() const { return std::min(lost_, static_cast<double>(left_out())); }

 private:
  uint64_t keys_ = 0;
  uint64_t fresh_ = 0;
  double lost_ = 0;
  double fpr_;
};

// Writes records as they are. If the last record of a file lacks its line end, adds it before the
// next record.
class RecordWriter {
 public:
  explicit RecordWriter(bool raw) : raw_(raw) {}

  void Write(std::string_view record) {
    if (record.empty()) return;
    if (open_) out_.Write("\n");
    out_.Write(record);
    open_ = !raw_ && record.back() != '\n';
  }
  void Write(const KeyBatch& batch, TextUnits& texts) {
    for (size_t i = 0; i < batch.size(); ++i) Write(texts.Record(batch, i));
    out_.Flush();
  }
  void Write(const KeyBatch& batch, Bitmap fresh) {
    for (size_t i = 0; i < batch.size(); ++i) {
      if (fresh.Test(i)) Write(batch.records[i]);
    }
    out_.Flush();  // lines of slow input are written without delay
  }
  void Close() { out_.Close(); }

 private:
  Output out_;
  const bool raw_;
  bool open_ = false;
};

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
  if (options.text.given() && (options.exact || options.window != 0)) {
    refuse("--unit excludes --exact and --window");
  }
  if (!options.against.empty() &&
      (!options.filter.empty() || options.exact || options.window != 0 || options.scalable ||
       options.made.capacity != 0 || options.made.bytes != 0 || options.fpr)) {
    refuse(
        "--against makes and changes no filter: leave out --filter, --exact, --window, --fpr and "
        "sizes");
  }
  if (options.exact && options.window != 0) {
    refuse("--exact remembers all lines: leave out --window");
  }
  if (options.window == 0) return;
  if (!options.secret.path.empty())
    refuse("--window makes a filter without a keyed hash: leave out --secret");
  if (!options.filter.empty())
    refuse("--window makes a filter that is not saved: leave out --filter");
  if (options.scalable || options.made.capacity != 0 || options.made.bytes != 0) {
    refuse("--window determines the size: leave out --scalable, --capacity and --bytes");
  }
}

// Largest number of keys in a batch: enough work for several threads. The false-positive rate
// hardly changes while this number of keys is inserted.
constexpr size_t kMaxBatch = size_t{1} << 15;

// Smallest capacity of a new filter. A smaller filter would save hardly any memory, and its rate
// would be higher than the formulas for large filters predict.
constexpr uint64_t kMinCapacity = uint64_t{1} << 16;

AnyFilter MakeFilterFor(const DedupOptions& options, std::optional<uint64_t> total_bytes) {
  const FilterKind kind = options.kind;
  FilterOptions made = options.made;
  made.backend = options.run.Pinned();
  // Prints no advice for the default kind, because the help states that another kind takes less
  // than half of the memory.
  if (const std::string advice =
          SizingAdvice(kind, std::max(made.capacity, kMinCapacity), made.fpr);
      !advice.empty() && kind != SplitBlockBloomFilter::kKind) {
    Say("warning: " + advice);
  }
  const bool sized = made.capacity != 0 || made.bytes != 0;
  // The number of paragraphs and n-grams is unknown.
  const bool has_parts = options.text.given() && options.text.unit != "document";
  if (options.scalable || (!sized && (!total_bytes || !options.filter.empty() || has_parts))) {
    return MakeScalableFilter(kind, {.initial_capacity = std::max(made.capacity, kMinCapacity),
                                     .fpr = made.fpr,
                                     .max_bytes = made.bytes,
                                     .backend = made.backend});
  }
  if (!sized) made.capacity = CountKeys(options.input, *total_bytes, options.run.quiet);
  if (made.bytes == 0) made.capacity = std::max(made.capacity, kMinCapacity);
  return MakeFilter(kind, made);
}

AnyFilter FilterFor(const DedupOptions& options, bool exists, std::optional<uint64_t> total_bytes) {
  const std::optional<HashSecret> secret = options.secret.Read();
  if (!exists) {
    if (secret) {
      throw Error(ErrorCode::kInvalidArgument,
                  "--secret needs an existing filter: `tamis build --allow-empty` makes one");
    }
    return MakeFilterFor(options, total_bytes);
  }
  const std::string& path = options.against.empty() ? options.filter : options.against;
  AnyFilter filter = Load(path, {.backend = options.run.Pinned(), .secret = secret});
  if (options.text.by_words() && !options.form.any &&
      !filter->key_types().Admit(KeyType::kInteger)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        path + ": its keys are " + KeyTypesText(filter->key_types()) +
            ", and not n-grams: `tamis dedup --unit ngram --filter` makes a filter of them");
  }
  options.form.Require(*filter, path, options.key_type());
  return filter;
}

// Reads the input until its end or a signal.
void Deduplicate(const DedupOptions& options, uint64_t total_bytes, SeenKeys& seen,
                 KeyReader& reader, Counts& counts, TextUnits& texts) {
  RecordWriter out(options.input.u64);
  // If the lines go to a terminal, a progress bar would mix with them.
  Progress progress("reading", Progress::Unit::kBytes, total_bytes,
                    options.run.quiet || (!options.json && os::IsTerminal(os::kStandardOutput)));
  KeyBatch batch;
  std::vector<uint64_t> words;
  try {
    bool first = true;
    for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
      if (std::exchange(first, false) && !options.json) out.Write(reader.header());
      if (options.text.given()) {
        texts.Compare(batch, seen);
        if (!options.json) out.Write(batch, texts);
      } else {
        words.resize(BitmapWords(batch.size()));
        const Bitmap fresh(words);
        const size_t n = seen.InsertIfAbsent(batch.keys(), fresh);
        counts.Add(batch.size(), n, seen.Fpr());
        if (!options.json) out.Write(batch, fresh);
      }
      progress.Advance(reader.bytes_read() - before);
    }
    if (first && !options.json) out.Write(reader.header());
  } catch (const os::Stopped&) {
    // A signal stopped the input. The line that was incomplete at that time is dropped.
  }
  if (!options.json) out.Close();
}

// The result of a run with --exact.
struct ExactCounts {
  uint64_t keys = 0;
  uint64_t fresh = 0;
  uint64_t bad = 0;
  uint64_t empty = 0;
  uint64_t filter_bytes = 0;
};

// Adds to `repeated` the keys for which the filter answers "maybe" before they are inserted. These
// are all keys that occur more than once, and a few false positives.
void FindRepeatedKeys(const DedupOptions& options, const Engine& engine, uint64_t total_bytes,
                      RepeatedKeys& repeated, ExactCounts& counts) {
  AnyFilter filter = FilterFor(options, /*exists=*/false, total_bytes);
  const std::unique_ptr<SeenKeys> seen = SeenIn(RequireChangeable(*filter), engine);
  Progress progress("comparing", Progress::Unit::kBytes, total_bytes, options.run.quiet);
  const StandardInputPlace begin;
  // `records` makes the reader compare the headers of all files, so that files with different
  // headers are refused before anything is written.
  KeyReader reader(options.input, {.records = !options.json, .max_batch = kMaxBatch});
  KeyBatch batch;
  std::vector<uint64_t> words;
  for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
    words.resize(BitmapWords(batch.size()));
    const Bitmap fresh(words);
    counts.keys += batch.size();
    if (seen->InsertIfAbsent(batch.keys(), fresh) < batch.size()) {
      for (size_t i = 0; i < batch.size(); ++i) {
        if (!fresh.Test(i)) repeated.Add(batch, i);
      }
    }
    progress.Advance(reader.bytes_read() - before);
  }
  begin.Return();
  reader.Conclude("; nothing was written", /*some_key=*/false);
  counts.bad = reader.num_bad();
  counts.empty = reader.num_empty();
  counts.filter_bytes = seen->bytes();
}

// Reads the input again, and writes the first record of each key.
void WriteFirsts(const DedupOptions& options, uint64_t total_bytes, RepeatedKeys& repeated,
                 ExactCounts& counts) {
  RecordWriter out(options.input.u64);
  Progress progress("reading", Progress::Unit::kBytes, total_bytes,
                    options.run.quiet || (!options.json && os::IsTerminal(os::kStandardOutput)));
  KeyReader reader(options.input,
                   {.records = !options.json, .report_bad = false, .max_batch = kMaxBatch});
  KeyBatch batch;
  uint64_t before = 0;
  bool more = reader.Next(batch);
  if (!options.json) out.Write(reader.header());
  for (; more; more = reader.Next(batch)) {
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!repeated.IsFirst(batch, i)) continue;
      ++counts.fresh;
      if (!options.json) out.Write(batch.records[i]);
    }
    progress.Advance(reader.bytes_read() - before);
    before = reader.bytes_read();
  }
  if (!options.json) out.Close();
}

int RunExact(const DedupOptions& options, const Engine& engine,
             std::optional<uint64_t> total_bytes) {
  if (!total_bytes) {
    throw Error(ErrorCode::kInvalidArgument,
                "--exact reads its input twice, and a pipe can be read only once: give files");
  }
  const UnchangedInputs inputs(options.input.paths);
  ExactCounts counts;
  RepeatedKeys repeated;
  FindRepeatedKeys(options, engine, *total_bytes, repeated, counts);
  inputs.Check(": nothing was written");
  WriteFirsts(options, *total_bytes, repeated, counts);
  inputs.Check(": some lines may be missing from the output, or written twice");
  const uint64_t left_out = counts.keys - counts.fresh;
  if (options.json) {
    Print(JsonText(nlohmann::ordered_json{{"lines", counts.keys},
                                          {"new", counts.fresh},
                                          {"left_out", left_out},
                                          {"expected_lost", 0},
                                          {"bad_lines", counts.bad},
                                          {"empty_lines", counts.empty},
                                          {"bytes", counts.filter_bytes + repeated.bytes()}}));
  } else if (!options.run.quiet) {
    Say(Counted(counts.keys, "line") + ": " + WithCommas(counts.fresh) + " written, " +
        WithCommas(left_out) + " left out, none of which was new; " +
        BytesText(static_cast<double>(counts.filter_bytes)) + " for the filter, and " +
        BytesText(static_cast<double>(repeated.bytes())) + " for lines that may be repeated");
  }
  return kDone;
}

void WriteJson(const SeenKeys& seen, const KeyReader& reader, const Counts& counts) {
  const nlohmann::ordered_json json = {
      {"lines", counts.keys()},        {"new", counts.fresh()},
      {"left_out", counts.left_out()}, {"expected_lost", counts.lost()},
      {"bad_lines", reader.num_bad()}, {"empty_lines", reader.num_empty()},
      {"bytes", seen.bytes()},         {"fpr", seen.Fpr()},
  };
  Print(JsonText(json));
}

void SaySummary(const SeenKeys& seen, const Counts& counts) {
  Say(Counted(counts.keys(), "line") + ": " + WithCommas(counts.fresh()) + " written, " +
      WithCommas(counts.left_out()) + " left out, of which " +
      (counts.lost() < 0.01 ? "fewer than 0.01" : Format("%.2g", counts.lost())) +
      " are expected to have been new; " + BytesText(static_cast<double>(seen.bytes())));
}

void WriteJson(const SeenKeys& seen, const KeyReader& reader, const TextUnits::Counts& counts) {
  Print(JsonText(nlohmann::ordered_json{{"documents", counts.documents},
                                        {"written", counts.written},
                                        {"changed", counts.changed},
                                        {"units", counts.units},
                                        {"repeated", counts.repeated},
                                        {"expected_lost", counts.lost},
                                        {"bad_lines", reader.num_bad()},
                                        {"empty_lines", reader.num_empty()},
                                        {"bytes", seen.bytes()},
                                        {"fpr", seen.Fpr()}}));
}

void SaySummary(const SeenKeys& seen, const TextOptions& text, const TextUnits::Counts& counts) {
  const char* const unit = text.whole_documents() ? "document" : "paragraph";
  Say(Counted(counts.documents, "document") + ": " + WithCommas(counts.written) + " written, " +
      WithCommas(counts.changed) + " of them changed; " + WithCommas(counts.repeated) + " of " +
      Counted(counts.units, unit) + " repeated, of which at most " +
      (counts.lost < 0.01 ? "0.01" : Format("%.2g", counts.lost)) +
      " are expected to have been new; " + BytesText(static_cast<double>(seen.bytes())));
}

// Saves the filter. If the file did not exist at the start, it is not locked. If another process
// has created it since, throws Error(kBusy).
void Save(const DedupOptions& options, const Filter& filter) {
  try {
    SaveFilter(filter, options.filter, options.run.quiet, options.save);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBusy) throw;
    throw Error(error.code(),
                error.what() + std::string("; this file does not contain the lines just written"));
  }
}

int Run(DedupOptions options) {
  Check(options);
  options.made.fpr = options.fpr.value_or(options.exact             ? kExactFpr
                                          : options.text.by_words() ? kNgramFpr
                                                                    : kFpr);
  const std::optional<uint64_t> total_bytes = options.input.TotalBytes();
  Engine engine = options.run.MakeEngine();
  if (options.exact) return RunExact(options, engine, total_bytes);
  std::unique_ptr<const FileLock> lock;
  std::optional<AnyFilter> filter;
  if (!options.filter.empty()) SayIfSavedOnSignals(options.filter);
  if (options.window == 0) {
    const bool exists = !options.against.empty() ||
                        (!options.filter.empty() && std::filesystem::exists(options.filter));
    if (exists && options.against.empty()) lock = LockIfInput(options.filter, {options.filter});
    options.save.lock = lock.get();
    options.save.only_new = !exists;
    filter = FilterFor(options, exists, total_bytes);
  }
  const std::unique_ptr<SeenKeys> seen =
      !options.against.empty() ? SeenOnlyIn(**filter, engine)
      : filter                 ? SeenIn(RequireChangeable(**filter), engine)
               : SeenInWindow(options.kind, options.window, options.made.fpr, engine);

  os::StopInputOnRequest();
  KeyReader reader(
      options.input,
      {.records = !options.json, .raws = options.text.given(), .max_batch = kMaxBatch});
  Counts counts(seen->Fpr());
  TextUnits texts(options.text, engine.threads());
  Deduplicate(options, total_bytes.value_or(0), *seen, reader, counts, texts);
  reader.Conclude(options.filter.empty() ? "" : "; the filter was not saved", /*some_key=*/false);
  const bool units = options.text.given();
  if (options.json) {
    units ? WriteJson(*seen, reader, texts.counts()) : WriteJson(*seen, reader, counts);
  }
  // The filter is saved only after all lines are written. If writing fails, the lines that were not
  // written are new again in the next run.
  if (!options.filter.empty() && !options.json) {
    Save(options, **filter);
  }
  const bool changes = filter && options.against.empty();
  if (changes && (*filter)->inserted_count() > (*filter)->capacity()) {
    Say("warning: " + WithCommas((*filter)->inserted_count()) + " keys are in a filter for " +
        WithCommas((*filter)->capacity()) + "; its false-positive rate has become " +
        PercentText((*filter)->expected_fpr()));
  }
  if (!options.json && !options.run.quiet) {
    units ? SaySummary(*seen, options.text, texts.counts()) : SaySummary(*seen, counts);
  }
  EndIfStopped();
  if (!changes || !IsOverfull(**filter, 0)) return kDone;
  Say("most of the lines left out may be new: use a larger filter, or let dedup make one");
  return kFailure;
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
      .Add("--window", options->window, ParsePositiveCount,
           "remember at least the last N lines, and forget older lines")
      .Type("N");
  command.AddFlag("--exact", options->exact,
                  "lose no line: read the input twice, and remember repeated keys");
  command.AddFlag("--scalable", options->scalable, "let the filter grow, starting with --capacity");
  AddKindAndType(
      command, options->kind, [](const FilterKindInfo& kind) { return kind.is_plain(); },
      "kind of filter");
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
