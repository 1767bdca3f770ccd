// tamis import: saves filters of other libraries together with their formats. tamis export: writes
// imported filters in these formats.
#include <tamis/error.h>
#include <tamis/formats/foreign_filter.h>
#include <tamis/units.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/commands/foreign_info.h"
#include "tools/commands/live_filter.h"
#include "tools/input/filter_file.h"
#include "tools/options/exit_codes.h"
#include "tools/options/signals.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

constexpr char kImportFooter[] =
    "Saves a filter that another library wrote, together with its format, the type of its keys\n"
    "and a checksum. `tamis query`, `info` and `verify` then need no further options, and `tamis\n"
    "export` writes the original bytes. If several files are given, saves their union. This fails\n"
    "if filters of the format cannot be merged.\n"
    "\n";

// The value of --from for a filter on a Redis server. All other values are formats of files.
constexpr char kRedis[] = "redis";

constexpr char kImportRedis[] =
    "  redis                  a RedisBloom filter on a Redis server or cluster, instead of FILE:\n"
    "                         --key is its key, and its format redisbloom or redisbloom-cf\n"
    "\n"
    "A filter on a server is read with several BF.SCANDUMP or CF.SCANDUMP commands. The result\n"
    "may lack keys that other clients insert into a Bloom filter during this time. A cuckoo\n"
    "filter is read at least twice, and the import fails if the filter changes during all\n"
    "attempts. The password comes from the environment (TAMIS_REDIS_PASSWORD, or the URL in\n"
    "TAMIS_REDIS_URL) or from --password-file.\n"
    "\n";

constexpr char kImportExamples[] =
    "Examples:\n"
    "  tamis import --from guava:utf8 -o blocked.tamis blocked.guava\n"
    "  tamis import --from redis --url redis://cache-1:6379 --key users -o users.tamis\n"
    "  tamis query blocked.tamis names.txt\n"
    "  tamis query blocked.guava --format guava:utf8 names.txt    # without an import\n";

constexpr char kExportFooter[] =
    "Writes the bytes that were imported. The other library can read them.\n"
    "\n"
    "Examples:\n"
    "  tamis export --to guava:utf8 -o blocked.guava blocked.tamis\n";

struct ImportOptions {
  std::string format;
  std::string output;
  std::vector<std::string> files;
  LiveFilterOptions live;  // set by import only
  SaveOptions save;
  bool quiet = false;
  bool json = false;

  void AddTo(const CommandLine& command) {
    command.Add("-o,--output", output, "file to save to (required)").Required().Type("FILE");
    command.AddFlag("-q,--quiet", quiet, "no summary");
    command.AddFlag("--replace-read-only", save.replace_read_only, kReplaceReadOnlyHelp);
    command.AddFlag("--json", json, "a report in JSON on standard output");
  }

  // Must be called before anything is read.
  void CheckOutput() const {
    const std::vector<std::string> inputs = live.server.And(files);
    CheckOutputPath(output, save);
    CheckNotAnInput(output, inputs);
    SayIfSavedOnSignals(output);
    if (!json) return;
    CheckStandardOutputIsNoInput(inputs);
    CheckStandardOutputIsNot(output);
  }

  void Report(const ForeignFilter& filter) const {
    if (json) Print(JsonText(ForeignInfo(filter, output)));
    if (json || quiet) return;
    Say(output + ": " + filter.format().name + ", " +
        BytesText(static_cast<double>(filter.bytes())) + ", expected false-positive rate " +
        PercentText(filter.expected_fpr()));
  }
};

void CheckSource(const ImportOptions& options) {
  const auto refuse = [](const char* why) { throw Error(ErrorCode::kInvalidArgument, why); };
  if (options.format == kRedis) {
    if (!options.files.empty()) refuse("--from redis reads a server: leave out FILE");
    if (options.live.key.empty()) refuse("--from redis: give --key, the key of the filter");
    return;
  }
  if (options.live.given()) {
    refuse("--url, --key and the options for servers need --from redis");
  }
  if (options.files.empty()) refuse("FILE is required: give the file that the other library wrote");
}

ForeignFilter ReadFiles(const ImportOptions& options) {
  const auto load = [&](const std::string& file) {
    if (!ForeignFilter::IsImported(file)) return ForeignFilter::Load(file, options.format);
    throw Error(ErrorCode::kInvalidArgument, file + " has been imported already");
  };
  ForeignFilter filter = load(options.files.front());
  for (size_t i = 1; i < options.files.size(); ++i) {
    const ForeignFilter other = load(options.files[i]);
    try {
      filter.Merge(other);
    } catch (const Error& error) {
      throw Error(error.code(), options.files[i] + ": " + error.what());
    }
  }
  return filter;
}

ForeignFilter ReadServer(const ImportOptions& options) {
  LiveFilter live = [&] {
    const Notice notice("reading " + Printable(options.live.key) + " ...", options.quiet);
    return ReadLiveFilter(options.live);
  }();
  if (live.grew && !options.quiet) {
    Say(Printable(options.live.key) +
        ": keys were inserted during the import; the result may lack some of these keys");
  }
  return std::move(live.filter);
}

int RunImport(const ImportOptions& options) {
  CheckSource(options);
  options.CheckOutput();
  const ForeignFilter filter = options.format == kRedis ? ReadServer(options) : ReadFiles(options);
  {
    const Notice notice("saving " + options.output + " ...", options.quiet);
    filter.SaveImported(options.output, options.save);
    OutputIsSaved();
  }
  options.Report(filter);
  return kDone;
}

int RunExport(const ImportOptions& options) {
  options.CheckOutput();
  const ForeignFilter filter = ForeignFilter::Open(options.files.front());
  if (options.format != filter.format().name) {
    throw Error(ErrorCode::kInvalidArgument,
                options.files.front() + " is a filter of " + filter.format().name +
                    ", and can be exported only in this format: give --to " + filter.format().name);
  }
  {
    const Notice notice("saving " + options.output + " ...", options.quiet);
    filter.Save(options.output, options.save);
    OutputIsSaved();
  }
  options.Report(filter);
  return kDone;
}

}  // namespace

Command AddImport(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("import", "Save a filter of another library together with its format.");
  auto options = std::make_shared<ImportOptions>();
  command.Footer(kImportFooter + FormatsHelp() + kImportRedis + kImportExamples);
  command.Add("--from", options->format, "format of the files, or redis (required): see below")
      .Required()
      .Type("NAME");
  options->AddTo(command);
  options->live.AddTo(command);
  command.Add("FILE", options->files,
              "file that the other library wrote (required, except for redis)");
  return {command, [options] { return RunImport(*options); }};
}

Command AddExport(const CommandLine& program) {
  const CommandLine command =
      program.AddCommand("export", "Write an imported filter as its library reads it.");
  auto options = std::make_shared<ImportOptions>();
  command.Footer(kExportFooter);
  command.Add("--to", options->format, "format to write (required)").Required().Type("NAME");
  options->AddTo(command);
  options->files.resize(1);
  command.Add("FILE", options->files.front(), "file saved by `tamis import`").Required();
  return {command, [options] { return RunExport(*options); }};
}

}  // namespace tamis::tools
