// tamis merge: saves the union of several filters.
#include <tamis/error.h>
#include <tamis/file/file.h>
#include <tamis/file/file_checks.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/any_filter.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/set_operations.h>
#include <tamis/hash_kinds.h>
#include <tamis/key_types_text.h>
#include <tamis/units.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tools/commands/commands.h"
#include "tools/options/exit_codes.h"
#include "tools/options/secret.h"
#include "tools/options/signals.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

constexpr char kMergeFooter[] =
    "The filters must have the same kind, size, hash, and seed or secret: build them with the\n"
    "same --capacity (for all keys together), --fpr, --hash and --seed. The result is, bit for\n"
    "bit, the filter that would have been built from all keys at once. If the first file contains\n"
    "the secret of the hash, the new file does, too.\n"
    "\n"
    "Examples:\n"
    "  for day in mon tue wed; do tamis build --capacity 3e9 -o $day.tamis $day.txt; done\n"
    "  tamis merge -o week.tamis mon.tamis tue.tamis wed.tamis\n";

struct MergeOptions {
  std::string output;
  std::vector<std::string> files;
  SecretOptions secret;
  bool quiet = false;
  SaveOptions save;
  bool json = false;
};

[[noreturn]] void Refuse(const MergeOptions& options, const std::string& file,
                         const std::string& reason) {
  throw Error(ErrorCode::kIncompatible,
              "cannot merge " + file + " with " + options.files.front() + ": " + reason);
}

// Reads only the headers. Throws for filters that cannot be merged. Returns the sum of the sizes of
// all filters.
uint64_t CheckHeaders(const MergeOptions& options) {
  const FileHeader first = ReadHeader(options.files.front());
  uint64_t bytes = 0;
  for (const std::string& file : options.files) {
    const FileHeader header = ReadHeader(file);
    bytes += header.payload_bytes;
    if (const char* const reason = KindInfo(header.kind).no_merge; reason != nullptr) {
      throw Error(ErrorCode::kIncompatible, "cannot merge " + file + ": " + reason);
    }
    if (header.kind != first.kind) {
      Refuse(options, file,
             std::string(FilterKindName(header.kind)) + " and " + FilterKindName(first.kind) +
                 " are different kinds of filters");
    }
    if (header.geometry != first.geometry) {
      Refuse(options, file,
             "sizes differ: " + WithCommas(header.payload_bytes) + " and " +
                 WithCommas(first.payload_bytes) + " bytes");
    }
    if (header.hash != first.hash) {
      const auto name = [](const HashSpec& hash) {
        return HashKindName(hash.kind) +
               (IsKeyed(hash.kind) ? "" : detail::StrCat(" with seed ", hash.seed));
      };
      Refuse(options, file, "hashes differ: " + name(header.hash) + " and " + name(first.hash));
    }
    if (header.key_tag != first.key_tag) Refuse(options, file, "the secrets of the hashes differ");
  }
  return bytes;
}

int Run(MergeOptions options) {
  CheckOutputPath(options.output, options.save);
  CheckNotAnInput(options.output, options.secret.And({}));
  if (options.json) {
    CheckStandardOutputIsNoInput(options.secret.And(options.files));
    CheckStandardOutputIsNot(options.output);
  }
  SayIfSavedOnSignals(options.output);
  const auto lock = LockIfInput(options.output, options.files);
  options.save.lock = lock.get();
  const uint64_t total_bytes = CheckHeaders(options);
  CheckOutputPath(options.output, options.save, total_bytes / options.files.size());
  // Verifies every input. Damage to an input would become part of the result, whose checksums would
  // match.
  Progress progress("merging", Progress::Unit::kBytes, total_bytes, options.quiet);
  std::optional<HashSecret> secret = options.secret.Read();
  AnyFilter filter = Load(options.files.front(), {.secret = secret});
  progress.Advance(filter->bytes());
  if (IsKeyed(filter->hash().kind)) secret = filter->hash().secret;  // all filters have the same
  const KeyTypes first_types = filter->key_types();
  std::string other_types;  // the first file with other key types
  for (size_t i = 1; i < options.files.size(); ++i) {
    const AnyFilter other = Map(options.files[i], {.verify = Verify::kFull, .secret = secret});
    const KeyTypes types = other->key_types();
    const bool differ = types != first_types && types.bits() != 0 && first_types.bits() != 0;
    if (differ && other_types.empty()) {
      other_types = options.files[i] + " are " + KeyTypesText(types);
    }
    Merge(*filter, *other);
    progress.Advance(filter->bytes());
  }
  if (!other_types.empty()) {
    Say("warning: the keys of " + options.files.front() + " are " + KeyTypesText(first_types) +
        ", and the keys of " + other_types + ": the result accepts keys of all these types");
  }
  SaveFilter(*filter, options.output, options.quiet, options.save);

  const double fpr = filter->expected_fpr();
  if (filter->estimated_count() > 1.01 * static_cast<double>(filter->capacity())) {
    Say("warning: the result holds more keys than its capacity of " +
        WithCommas(filter->capacity()) + "; the expected false-positive rate is " +
        PercentText(fpr));
  }
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"file", options.output},
        {"kind", FilterKindName(filter->kind())},
        {"merged", options.files.size()},
        {"bytes", filter->bytes()},
        {"capacity", filter->capacity()},
        {"inserted", filter->inserted_count()},
        {"estimated_count", filter->estimated_count()},
        {"expected_fpr", fpr},
    };
    Print(JsonText(json));
  } else if (!options.quiet) {
    Say(detail::StrCat(options.output, ": ", Counted(filter->inserted_count(), "key"), " of ",
                       options.files.size(), " filters, ",
                       BytesText(static_cast<double>(filter->bytes())),
                       ", expected false-positive rate ", PercentText(fpr)));
  }
  return kDone;
}

}  // namespace

Command AddMerge(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("merge", "Save the union of filters as one filter.");
  auto options = std::make_shared<MergeOptions>();
  command.Footer(kMergeFooter);
  command.Add("-o,--output", options->output, "file to save to; may be an input (required)")
      .Required()
      .Type("FILE");
  command.Add("FILE", options->files, "filter files, two or more").Required().AtLeast(2);
  options->secret.AddTo(command);
  command.AddFlag("-q,--quiet", options->quiet, "no progress bar and no summary");
  command.AddFlag("--replace-read-only", options->save.replace_read_only, kReplaceReadOnlyHelp);
  AddShard(command, options->save);
  command.AddFlag("--json", options->json, "a report in JSON on standard output");
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
