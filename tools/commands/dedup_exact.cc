// tamis dedup --exact: reads the input twice, and loses no line.
#include <tamis/error.h>
#include <tamis/units.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/commands/dedup.h"
#include "tools/commands/seen_keys.h"
#include "tools/input/repeated_keys.h"
#include "tools/input/unchanged_inputs.h"
#include "tools/options/exit_codes.h"
#include "tools/os/file.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

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
  AnyFilter filter = FilterFor(options, "", total_bytes);
  const std::unique_ptr<SeenKeys> seen = SeenIn(RequireChangeable(*filter), engine);
  Progress progress("comparing", Progress::Unit::kBytes, total_bytes, options.run.quiet);
  const StandardInputPlace begin;
  // `records` makes the reader compare the headers of all files, so that files with different
  // headers are refused before anything is written.
  KeyReader reader(options.input, {.records = !options.json, .max_batch = kMaxDedupBatch});
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
  Output out;
  RecordWriter writer(out, options.input.u64);
  Progress progress("reading", Progress::Unit::kBytes, total_bytes,
                    options.run.quiet || (!options.json && os::IsTerminal(os::kStandardOutput)));
  KeyReader reader(options.input,
                   {.records = !options.json, .report_bad = false, .max_batch = kMaxDedupBatch});
  KeyBatch batch;
  uint64_t before = 0;
  bool more = reader.Next(batch);
  if (!options.json) writer.Write(reader.header());
  for (; more; more = reader.Next(batch)) {
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!repeated.IsFirst(batch, i)) continue;
      ++counts.fresh;
      if (!options.json) writer.Write(batch.records[i]);
    }
    progress.Advance(reader.bytes_read() - before);
    before = reader.bytes_read();
  }
  if (!options.json) out.Close();
}

}  // namespace

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

}  // namespace tamis::tools
