// tamis bank build, add, remove: change the members of a bank.
#include <tamis/bank/filter_bank.h>
#include <tamis/error.h>
#include <tamis/file/file.h>
#include <tamis/file/file_checks.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/file/folder.h>
#include <tamis/filters/sizing.h>
#include <tamis/filters/split_block_filter.h>
#include <tamis/layout/bank.h>
#include <tamis/units.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/commands/bank.h"
#include "tools/commands/bank_from_parquet.h"
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

namespace fs = std::filesystem;

constexpr char kBuildFooter[] =
    "A bank contains split-block filters with the same hash, and the same seed or secret. Each\n"
    "filter is a member, named by its file without .tamis or .tamis.0000, or with --paths by the\n"
    "whole path. Up to 512 filters of equal size form a group. A group always takes the memory of\n"
    "512 filters, so use `tamis build --for-bank`, which makes filters of few sizes. A folder\n"
    "stands for all files below it whose names end in .tamis or .tamis.0000. If the hash is keyed\n"
    "and the first filter's file contains the secret, the bank's file contains the secret, too.\n"
    "\n"
    "Examples:\n"
    "  tamis bank build -o logs.bank logs/*.tamis\n"
    "  tamis bank build -o lake.bank --paths lake/\n";

#if TAMIS_TOOLS_PARQUET
constexpr char kParquetFooter[] =
    "  tamis bank build -o users.bank --from-parquet user_id lake/\n"
    "\n"
    "With --from-parquet, the Bloom filter of each row group becomes a member, named\n"
    "FILE#ROWGROUP. No data is read. Row groups without values do not become members. Give `tamis\n"
    "bank query` the keys in the form in which the file stores them: --integers for INT32 and\n"
    "INT64 (dates and times are integers), numbers for FLOAT and DOUBLE, text for other types.\n";
#endif

constexpr char kAddFooter[] =
    "Replaces the file of the bank as a whole, or leaves it unchanged if there is an error.\n"
    "\n"
    "Examples:\n"
    "  tamis bank add logs.bank logs/monday.tamis\n";

constexpr char kRemoveFooter[] =
    "Replaces the file of the bank as a whole, or leaves it unchanged if there is an error, such\n"
    "as a name that is not in the bank. `tamis bank add` reuses the places of removed members.\n"
    "--compact fills them with other members, and drops groups that become empty.\n"
    "\n"
    "Examples:\n"
    "  tamis bank remove logs.bank monday tuesday\n";

// Options of all three commands.
struct ChangeOptions {
  std::string bank;
  std::vector<std::string> given;  // files and folders; for `remove`, names of members
  bool paths = false;              // members are named by the paths of their files
  bool compact = false;
  SecretOptions secret;
  SaveOptions save;
  bool quiet = false;
  bool json = false;
  ParquetFilterOptions parquet;  // set by `build` only
};

std::string NameFor(const ChangeOptions& options, const fs::path& file) {
  if (options.paths) return file.string();
  const fs::path name = file.extension() == ".0000" ? file.stem() : file.filename();
  return (name.extension() == ".tamis" ? name.stem() : file.filename()).string();
}

struct Header {
  fs::path path;
  FileHeader header;
};

// Reads the headers of all files. Throws if a filter is not a split-block filter.
std::vector<Header> Headers(const std::vector<fs::path>& files) {
  std::vector<Header> headers;
  for (const fs::path& path : files) {
    headers.push_back({path, ReadHeader(path)});
    const FileHeader& header = headers.back().header;
    if (header.kind != SplitBlockBloomFilter::kKind) {
      throw Error(ErrorCode::kIncompatible,
                  path.string() +
                      ": a bank can contain only split-block filters; this filter's kind is " +
                      FilterKindName(header.kind));
    }
  }
  return headers;
}

// Returns the size of all filters. A bank of them is at least as large.
uint64_t PayloadBytes(const std::vector<Header>& headers) {
  uint64_t bytes = 0;
  for (const Header& file : headers) bytes += file.header.payload_bytes;
  return bytes;
}

// Adds filters to the bank. Finish() prints a warning if filters have sizes that waste memory.
class Adder {
 public:
  Adder(const ChangeOptions& options, FilterBank& bank) : options_(options), bank_(bank) {}

  void Add(const std::string& name, const SplitBlockBloomFilter& filter, const std::string& from) {
    try {
      const FilterBank::Added added = bank_.Add(name, filter);
      if (!added.foreign_size) return;
      foreign_.insert(added.num_blocks);
      if (first_foreign_.empty()) first_foreign_ = from;
    } catch (const FormatError&) {
      throw;  // the message contains the path
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kIo) throw;
      const bool by_paths = options_.paths || !options_.parquet.column.empty();
      const bool taken = bank_.Find(name).has_value();
      throw Error(error.code(), from + ": " + error.what() +
                                    (taken && !by_paths ? "; give --paths to name members by their "
                                                          "whole paths"
                                                        : ""));
    }
  }

  void Finish() {
    bank_.Flush();
    if (foreign_.empty()) return;
    const size_t others = foreign_.size() - 1;
    Say("warning: " + first_foreign_ +
        (others > 0 ? ", and filters of " + Counted(others, "other size") + ", have sizes"
                    : " has a size") +
        " that `tamis build --for-bank` would not choose. For each size, the bank allocates the "
        "memory of 512 filters");
  }

 private:
  const ChangeOptions& options_;
  FilterBank& bank_;
  std::set<uint64_t> foreign_;  // sizes, in blocks, that --for-bank would not choose
  std::string first_foreign_;
};

// Verifies and adds the filters.
void AddFilters(const ChangeOptions& options, const std::vector<Header>& headers,
                const std::optional<HashSecret>& secret, FilterBank& bank) {
  Progress progress("adding", Progress::Unit::kBytes, PayloadBytes(headers), options.quiet);
  Adder adder(options, bank);
  for (const Header& file : headers) {
    const SplitBlockBloomFilter filter = SplitBlockBloomFilter::Load(file.path, {.secret = secret});
    adder.Add(NameFor(options, file.path), filter, file.path.string());
    progress.Advance(file.header.payload_bytes);
  }
  adder.Finish();
}

uint64_t BytesOfFreePlaces(const FilterBank& of) {
  uint64_t bytes = 0;
  for (const BankGroupInfo& group : of.groups()) {
    bytes += group.bytes / bank::kGroupMembers * (bank::kGroupMembers - group.members);
  }
  return bytes;
}

void Save(const ChangeOptions& options, FilterBank& bank) {
  const Notice notice("saving " + options.bank + " ...", options.quiet);
  bank.Save(options.bank, options.save);
  OutputIsSaved();
}

void Report(const ChangeOptions& options, const FilterBank& bank, const char* what,
            uint64_t changed) {
  if (options.quiet && !options.json) return;
  const uint64_t bytes = bank.bytes(), free_places = BytesOfFreePlaces(bank);
  if (options.json) {
    Print(JsonText(nlohmann::ordered_json{{"file", options.bank},
                                          {what, changed},
                                          {"members", bank.num_members()},
                                          {"groups", bank.groups().size()},
                                          {"bytes", bytes},
                                          {"bytes_of_free_places", free_places}}));
  } else {
    Say(options.bank + ": " + std::string(what) + " " + WithCommas(changed) + ", now " +
        Counted(bank.num_members(), "member") + " in " + Counted(bank.groups().size(), "group") +
        " of " + BytesText(static_cast<double>(bytes)) +
        (free_places != 0
             ? ", of which " + BytesText(static_cast<double>(free_places)) + " are free places"
             : ""));
  }
}

void CheckOutputs(const ChangeOptions& options, const std::vector<std::string>& inputs) {
  CheckOutputPath(options.bank, options.save);
  CheckNotAnInput(options.bank, inputs);
  if (!options.json) return;
  CheckStandardOutputIsNoInput(inputs);
  CheckStandardOutputIsNot(options.bank);
}

std::vector<std::string> Strings(const std::vector<fs::path>& paths) {
  std::vector<std::string> strings;
  for (const fs::path& path : paths) strings.push_back(path.string());
  return strings;
}

#if TAMIS_TOOLS_PARQUET
// Builds a bank from the filters in Parquet files. The bank uses the hash of Parquet.
int RunBuildFromParquet(const ChangeOptions& options) {
  const std::vector<fs::path> files =
      FilesOf({options.given.begin(), options.given.end()}, {".parquet", ".parq"});
  CheckOutputs(options, Strings(files));
  SayIfSavedOnSignals(options.bank);
  FilterBank bank({.fpr = kDefaultFpr, .hash = {HashKind::kXxh64, 0}});
  Adder adder(options, bank);
  const Notice notice("reading filters ...", options.quiet);
  const ParquetFilters made = ForParquetFilters(
      files, options.parquet, [&](const std::string& name, const SplitBlockBloomFilter& filter) {
        adder.Add(name, filter, name);
      });
  adder.Finish();
  Save(options, bank);
  if (made.without_filter > 0 && !options.quiet) {
    Say(Counted(made.without_filter, "member") +
        " without a usable filter, reported for every key; the first: " + made.first_problem);
  }
  Report(options, bank, "added", made.added);
  return kDone;
}
#endif

int RunBuild(ChangeOptions options) {
#if TAMIS_TOOLS_PARQUET
  if (!options.parquet.column.empty()) return RunBuildFromParquet(options);
  if (options.parquet.keep_without_filter) {
    throw Error(ErrorCode::kInvalidArgument, "--keep-without-filter needs --from-parquet");
  }
#endif
  const std::vector<fs::path> files =
      FilesOf({options.given.begin(), options.given.end()}, {".tamis", ".tamis.0000"});
  CheckOutputs(options, options.secret.And(Strings(files)));
  SayIfSavedOnSignals(options.bank);
  const std::vector<Header> headers = Headers(files);
  BankOptions of_bank;
  of_bank.fpr = kDefaultFpr;
  const std::optional<HashSecret> secret = options.secret.Read();  // once: it may be a pipe
  of_bank.hash = SplitBlockBloomFilter::Map(files.front(), {.secret = secret}).hash();
  options.save.with_secret = headers.front().header.has_secret;
  FilterBank bank(of_bank);
  CheckOutputPath(options.bank, options.save, PayloadBytes(headers));
  AddFilters(options, headers, secret, bank);
  Save(options, bank);
  Report(options, bank, "added", headers.size());
  return kDone;
}

// Loads the bank to change it. `lock` prevents other processes from changing the bank's file.
FilterBank LoadToChange(ChangeOptions& options, const std::optional<HashSecret>& secret,
                        const FileLock* lock) {
  options.save.lock = lock;
  const Notice notice("reading " + options.bank + " ...", options.quiet);
  return FilterBank::Load(options.bank, {.secret = secret});
}

int RunAdd(ChangeOptions options) {
  const std::vector<fs::path> files =
      FilesOf({options.given.begin(), options.given.end()}, {".tamis", ".tamis.0000"});
  CheckOutputs(options, options.secret.And(Strings(files)));
  SayIfSavedOnSignals(options.bank);
  const std::vector<Header> headers = Headers(files);
  const auto lock = LockIfInput(options.bank, {options.bank});
  const std::optional<HashSecret> secret = options.secret.Read();  // once: it may be a pipe
  FilterBank bank = LoadToChange(options, secret, lock.get());
  AddFilters(options, headers, secret, bank);
  Save(options, bank);
  Report(options, bank, "added", headers.size());
  return kDone;
}

int RunRemove(ChangeOptions options) {
  CheckOutputs(options, options.secret.And({}));
  SayIfSavedOnSignals(options.bank);
  const auto lock = LockIfInput(options.bank, {options.bank});
  FilterBank bank = LoadToChange(options, options.secret.Read(), lock.get());
  for (const std::string& name : options.given) {
    if (bank.Remove(name)) continue;
    throw Error(ErrorCode::kInvalidArgument,
                options.bank + ": no member " + Quoted(name) +
                    ", or the name is given twice; nothing was removed");
  }
  if (options.compact) bank.Compact();
  Save(options, bank);
  Report(options, bank, "removed", options.given.size());
  return kDone;
}

void AddCommon(const CommandLine& command, ChangeOptions& options) {
  options.secret.AddTo(command);
  command.AddFlag("--replace-read-only", options.save.replace_read_only, kReplaceReadOnlyHelp);
  command.AddFlag("-q,--quiet", options.quiet, "no progress bar and no summary");
  command.AddFlag("--json", options.json, "a report in JSON on standard output");
}

void AddFiles(const CommandLine& command, ChangeOptions& options) {
  command.Add("FILE", options.given, "filters, or folders with filters").Required();
  command.AddFlag("--paths", options.paths, "name members by the paths of their files");
}

}  // namespace

Command AddBankBuild(const CommandLine& bank) {
  const CommandLine command = bank.AddCommand("build", "Make a bank of filters.");
  auto options = std::make_shared<ChangeOptions>();
  command.Footer(kBuildFooter);
  command.Add("-o,--output", options->bank, "file to save to, replaced as a whole (required)")
      .Required()
      .Type("FILE");
  AddFiles(command, *options);
#if TAMIS_TOOLS_PARQUET
  command.Footer(std::string(kBuildFooter) + kParquetFooter);
  command
      .Add("--from-parquet", options->parquet.column,
           "take the Bloom filters of this column of Parquet files")
      .Type("C")
      .NotEmpty();
  command.AddFlag(
      "--keep-without-filter", options->parquet.keep_without_filter,
      "if a row group has no usable filter, or a file cannot be read, add a member that "
      "may have every key (default: an error)");
#endif
  AddCommon(command, *options);
  AddShard(command, options->save);
  return {command, [options] { return RunBuild(*options); }};
}

Command AddBankAdd(const CommandLine& bank) {
  const CommandLine command = bank.AddCommand("add", "Add filters to a bank.");
  auto options = std::make_shared<ChangeOptions>();
  command.Footer(kAddFooter);
  command.Add("BANK", options->bank, "file saved by `tamis bank build`").Required();
  AddFiles(command, *options);
  AddCommon(command, *options);
  return {command, [options] { return RunAdd(*options); }};
}

Command AddBankRemove(const CommandLine& bank) {
  const CommandLine command = bank.AddCommand("remove", "Remove filters from a bank.");
  auto options = std::make_shared<ChangeOptions>();
  command.Footer(kRemoveFooter);
  command.Add("BANK", options->bank, "file saved by `tamis bank build`").Required();
  command.Add("NAME", options->given, "names of members").Required();
  command.AddFlag("--compact", options->compact, "release the memory of removed members");
  AddCommon(command, *options);
  return {command, [options] { return RunRemove(*options); }};
}

}  // namespace tamis::tools
