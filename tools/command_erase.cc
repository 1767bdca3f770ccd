// tamis erase: takes keys out of a filter.
#include <tamis/any_filter.h>
#include <tamis/engine.h>
#include <tamis/erasable_filter.h>
#include <tamis/error.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/commands.h"
#include "tools/console.h"
#include "tools/exit_codes.h"
#include "tools/format.h"
#include "tools/input.h"
#include "tools/json.h"
#include "tools/key_form.h"
#include "tools/key_reader.h"
#include "tools/output_file.h"
#include "tools/progress.h"
#include "tools/run_options.h"
#include "tools/secret.h"
#include "tools/signals.h"

namespace tamis::tools {
namespace {

constexpr char kEraseFooter[] =
    "Only keys that were inserted may be erased. One that was not is in the filter all the same "
    "at\n"
    "its false-positive rate, and erasing it then takes out another key, which `tamis query` no\n"
    "longer finds. A key that was inserted several times is erased once for each line.\n"
    "\n";

constexpr char kEraseExamples[] =
    "Examples:\n"
    "  tamis erase live.tamis ended.txt              # replaces live.tamis, all or nothing\n"
    "  tamis erase live.tamis -o rest.tamis ended.txt\n";

struct EraseOptions {
  std::string filter;
  std::string output;  // empty: replaces the filter
  InputOptions input;
  KeyFormOptions form;
  SecretOptions secret;
  RunOptions run;
  SaveOptions save;
  bool json = false;
};

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
  const AnyFilter filter =
      Load(options.filter, {.backend = options.run.Pinned(), .secret = options.secret.Read()});
  auto* const erasable = filter.As<ErasableFilter>();
  if (erasable == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, options.filter + ": keys cannot be erased from a " +
                                                 FilterKindName(filter->kind()) + " filter");
  }
  options.form.Require(*filter, options.filter, options.input.key_form());
  Engine engine = options.run.MakeEngine();
  KeyReader reader(options.input, {});
  KeyBatch batch;
  uint64_t keys = 0, erased = 0;
  {
    Progress progress("erasing", Progress::Unit::kBytes, options.input.TotalBytes().value_or(0),
                      options.run.quiet);
    for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
      keys += batch.size();
      erased += engine.Erase(*erasable, batch.keys());
      progress.Advance(reader.bytes_read() - before);
    }
  }
  reader.Conclude("; nothing was erased", /*some_key=*/false);
  const std::string doubt =
      KeyFormOptions::Doubt(*filter, options.filter, options.input.key_form(), erased, keys);
  if (!doubt.empty() && !options.run.quiet) Say(doubt);
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
  }
  return kDone;
}

}  // namespace

Command AddErase(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("erase", "Take keys out of a filter that allows it.");
  auto options = std::make_shared<EraseOptions>();
  command.Footer(std::string(kEraseFooter) + kKeyFormsHelp + "\n" + kEraseExamples);
  command.Add("FILTER", options->filter, "file saved by `tamis build`").Required();
  options->input.AddTo(command);
  options->form.AddTo(command);
  options->secret.AddTo(command);
  command.Add("-o,--output", options->output, "file to save to (default: FILTER)").Type("FILE");
  command.AddFlag("--replace-read-only", options->save.replace_read_only, kReplaceReadOnlyHelp);
  command.AddFlag("--json", options->json, "a report in JSON on standard output");
  options->run.AddTo(command);
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
