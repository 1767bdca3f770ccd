#include "tools/commands/query_keys.h"

#include <tamis/units.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tamis/detail/str_cat.h"
#include "tools/input/key_reader.h"
#include "tools/input/key_type.h"
#include "tools/options/exit_codes.h"
#include "tools/options/signals.h"
#include "tools/os/file.h"
#include "tools/output/bitmap_file.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

// Writes a record as it was read. `raw`: the record is an integer of 8 bytes, without a line end.
void WriteRecord(std::string_view record, bool raw, Output& out) {
  out.Write(record);
  // The last line of a file may lack its end, and another file may follow.
  if (!raw && !record.ends_with('\n')) out.Write("\n");
}

// Prints how many of the keys may be in the filter. Adds a hint if no key was found, or if false
// positives alone explain the number. Without a hint, prints nothing if `needed` is false.
void SaySummary(const Queryable& queryable, const std::string& name, uint64_t found, uint64_t keys,
                bool needed) {
  const double p = queryable.expected_fpr();
  if (std::isnan(p)) return;
  std::string text = WithCommas(found) + " of " + Counted(keys, "key") + " may be in " + name;
  constexpr uint64_t kFew = 20;  // too few keys to judge by
  const auto n = static_cast<double>(keys);
  const bool by_chance = static_cast<double>(found) <= n * p + 3 * std::sqrt(n * p * (1 - p));
  if (keys > 0 && (found == 0 || (by_chance && keys >= kFew && found <= keys / 2))) {
    if (found > 0) {
      text += ", which may all be false positives at a rate of " + PercentText(p);
    }
    text +=
        ". If you expected more: the keys must be written like the keys of the filter, with the "
        "same case, and be in the column that --column names";
  } else if (!needed) {
    return;
  }
  Say(text);
}

}  // namespace

Option KeyQueryOptions::AddTo(const CommandLine& command) {
  command.AddFlag("-v,--invert", invert,
                  "write the lines whose keys are certainly not in the filter");
  const Option count_flag =
      command.AddFlag("-c,--count", count, "write MATCHES/KEYS, and no lines");
  const Option json_flag = command.AddFlag("--json", json, "write the counts in JSON");
  return command
      .AddFlag("--any", any, "write nothing, stop at the first match; exit status 1 if none")
      .Excludes(count_flag)
      .Excludes(json_flag);
}

void KeyQueryOptions::Check(const std::vector<std::string>& inputs) const {
  input.Check();
  if (!bitmap.empty()) CheckNotAnInput(bitmap, inputs);
  if (!WritesLines() && !count && !json) return;
  CheckStandardOutputIsNoInput(inputs);
  if (!bitmap.empty()) CheckStandardOutputIsNot(bitmap);
}

int QueryKeys(const Queryable& queryable, const std::string& name, const KeyQueryOptions& options,
              std::optional<uint64_t> input_bytes, const Engine* engine, bool quiet) {
  std::optional<BitmapFile> bitmap;
  if (!options.bitmap.empty()) {
    SayIfSavedOnSignals(options.bitmap);
    bitmap.emplace(options.bitmap);
  }
  Output out;
  const bool lines = options.WritesLines();
  KeyReader reader(options.input, {.records = lines});
  // No progress bar is shown if the lines go to a terminal, because both would mix.
  Progress progress("querying", Progress::Unit::kBytes, input_bytes.value_or(0),
                    quiet || (lines && os::IsTerminal(os::kStandardOutput)));
  KeyBatch batch;
  std::vector<uint64_t> words;
  uint64_t keys = 0;
  uint64_t matching = 0;
  bool first = true;
  for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
    if (lines && first) out.Write(reader.header());
    first = false;
    const size_t n = batch.size();
    words.resize(BitmapWords(n));
    const Bitmap found(words);
    matching += engine != nullptr ? engine->Contains(queryable, batch.keys(), found)
                                  : queryable.Contains(batch.keys(), found);
    keys += n;
    if (options.any && (options.invert ? keys - matching : matching) > 0) return kDone;
    if (lines) {
      for (size_t i = 0; i < n; ++i) {
        if (found.Test(i) != options.invert) WriteRecord(batch.records[i], options.input.u64, out);
      }
      out.Flush();  // slow input gets its answers without delay
    }
    if (bitmap) bitmap->Append(found, options.invert, batch);
    progress.Advance(reader.bytes_read() - before);
  }
  if (lines && first) out.Write(reader.header());
  if (bitmap) bitmap->Close();
  if (options.json) {
    out.Write(JsonText(nlohmann::ordered_json{{"filter", name},
                                              {"keys", keys},
                                              {"matching", matching},
                                              {"not_matching", keys - matching},
                                              {"bad_lines", reader.num_bad()},
                                              {"empty_lines", reader.num_empty()}}));
  } else if (options.count) {
    out.Write(detail::StrCat(options.invert ? keys - matching : matching, "/", keys, "\n"));
  }
  out.Close();
  if (!quiet) {
    if (!options.any) {
      SaySummary(queryable, name, matching, keys, !options.count && !options.json);
    }
    const std::string doubt = KeyTypeOptions::Doubt(queryable.key_types(), name,
                                                    options.input.key_type(), matching, keys);
    if (!doubt.empty()) Say(doubt);
  }
  reader.Conclude("", /*some_key=*/false);
  return options.any ? kNoMatch : kDone;
}

}  // namespace tamis::tools
