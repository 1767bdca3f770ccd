// tamis erase: erases keys from a filter.
#include <tamis/engine/engine.h>
#include <tamis/error.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/any_filter.h>
#include <tamis/filters/erasable_filter.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/hash_keys.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/input/key_type.h"
#include "tools/options/exit_codes.h"
#include "tools/options/run_options.h"
#include "tools/options/secret.h"
#include "tools/options/signals.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

constexpr char kEraseFooter[] =
    "Erase only keys that were inserted. At its false-positive rate, a filter also finds other\n"
    "keys, and erasing such a key erases a key that was inserted. So if a key is not found,\n"
    "nothing is erased. With --missing-ok, the keys that are found are erased anyway. Each line\n"
    "erases one copy of its key. The list must not contain a key more often than it was\n"
    "inserted.\n"
    "\n";

constexpr char kEraseExamples[] =
    "Examples:\n"
    "  tamis erase live.tamis ended.txt              # replaces live.tamis, all or nothing\n"
    "  tamis erase live.tamis -o rest.tamis ended.txt\n";

struct EraseOptions {
  std::string filter;
  std::string output;  // empty: replaces the filter's file
  InputOptions input;
  KeyTypeOptions form;
  SecretOptions secret;
  RunOptions run;
  SaveOptions save;
  bool missing_ok = false;
  bool json = false;
};

// Throws if the filter does not find every key, counting copies. Erasing a key that the filter does
// not contain could erase another key.
void RequireAllIn(const ErasableFilter& filter, std::span<const uint64_t> hashes,
                  const std::string& name) try {
  filter.RequireAllIn(Hashes{hashes});
} catch (const Error& error) {
  throw Error(error.code(), name + ": " + error.what() +
                                ". Erase each key once, for example after `sort -u`; --missing-ok "
                                "erases the keys that are found");
}

int Run(EraseOptions options) {
  options.input.Check();
  if (options.output.empty()) options.output = options.filter;
  CheckOutputPath(options.output, options.save);
  CheckNotAnInput(options.output, options.secret.And(options.input.paths));
  if (options.json) {
    CheckStandardOutputIsNoInput(options.secret.And(options.input.paths));
    CheckStandardOutputIsNot(options.output);
  }
  SayIfSavedOnSignals(options.output);
  const auto lock = LockIfInput(options.output, {options.filter});
  options.save.lock = lock.get();
  const std::optional<HashSecret> secret = options.secret.Read();
  const AnyFilter filter =
      Load(options.filter, {.backend = options.run.Pinned(), .secret = secret});
  auto* const erasable = filter.As<ErasableFilter>();
  if (erasable == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, options.filter + ": keys cannot be erased from a " +
                                                 FilterKindName(filter->kind()) + " filter");
  }
  options.form.Require(*filter, options.filter, options.input.key_type());
  Engine engine = options.run.MakeEngine();
  KeyReader reader(options.input, {});
  KeyBatch batch;
  std::vector<uint64_t> hashes;
  uint64_t absent = 0, first_absent = 0;
  std::vector<uint64_t> words;
  {
    Progress progress("reading", Progress::Unit::kBytes, options.input.TotalBytes().value_or(0),
                      options.run.quiet);
    for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
      words.resize(BitmapWords(batch.size()));
      const Bitmap found(words);
      if (const size_t n = batch.size() - engine.Contains(*filter, batch.keys(), found); n > 0) {
        size_t i = 0;
        while (found.Test(i)) ++i;
        if (absent == 0) first_absent = hashes.size() + i + 1;
        absent += n;
      }
      const size_t before_batch = hashes.size();
      hashes.resize(before_batch + batch.size());
      HashKeys(batch.keys(), filter->hash(), std::span(hashes).subspan(before_batch));
      progress.Advance(reader.bytes_read() - before);
    }
  }
  reader.Conclude("; nothing was erased", /*some_key=*/false);
  const uint64_t keys = hashes.size();
  const std::string doubt = KeyTypeOptions::Doubt(filter->key_types(), options.filter,
                                                  options.input.key_type(), keys - absent, keys);
  if (!doubt.empty() && !options.run.quiet) Say(doubt);
  if (absent > 0 && !options.missing_ok) {
    throw Error(ErrorCode::kInvalidArgument,
                options.filter + ": " + WithCommas(absent) + " of " + Counted(keys, "key") +
                    " are not in the filter (first: key " + WithCommas(first_absent) +
                    "), so nothing was erased. Erasing keys that were never inserted can erase "
                    "others; --missing-ok erases the keys that are found");
  }
  if (!options.missing_ok) RequireAllIn(*erasable, hashes, options.filter);
  const uint64_t erased = engine.Erase(*erasable, Hashes{hashes});
  SaveFilter(*filter, options.output, options.run.quiet, options.save);

  if (options.json) {
    const nlohmann::ordered_json json = {
        {"file", options.output},
        {"kind", FilterKindName(filter->kind())},
        {"keys", keys},
        {"erased", erased},
        {"not_found", keys - erased},
        {"bad_lines", reader.num_bad()},
        {"empty_lines", reader.num_empty()},
        {"inserted", filter->inserted_count()},
    };
    Print(JsonText(json));
  } else if (!options.run.quiet) {
    Say(options.output + ": " + WithCommas(erased) + " of " + Counted(keys, "key") +
        " found and erased, " + WithCommas(filter->inserted_count()) + " left");
    if (erased + absent < keys && KindInfo(filter->kind()).has_layers) {
      Say("keys that several layers of a scalable filter may have were not erased");
    }
  }
  return kDone;
}

}  // namespace

Command AddErase(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("erase", "Erase keys from a filter whose kind allows it.");
  auto options = std::make_shared<EraseOptions>();
  command.Footer(std::string(kEraseFooter) + kKeyTypesHelp + "\n" + kEraseExamples);
  command.Add("FILTER", options->filter, "file saved by `tamis build`").Required();
  options->input.AddTo(command);
  options->form.AddTo(command);
  options->secret.AddTo(command);
  command.Add("-o,--output", options->output, "file to save to (default: FILTER)").Type("FILE");
  command.AddFlag("--missing-ok", options->missing_ok,
                  "erase the keys that are found, even if others are not");
  command.AddFlag("--replace-read-only", options->save.replace_read_only, kReplaceReadOnlyHelp);
  command.AddFlag("--json", options->json, "a report in JSON on standard output");
  options->run.AddTo(command);
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
