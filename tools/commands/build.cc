// tamis build: builds a filter from keys.
#include <tamis/engine/build.h>
#include <tamis/engine/engine.h>
#include <tamis/error.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/any_scalable_filter.h>
#include <tamis/filters/filter.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/scalable_filter.h>
#include <tamis/filters/sizing.h>
#include <tamis/filters/split_block_filter.h>
#include <tamis/hash_kinds.h>
#include <tamis/plan/plan.h>
#include <tamis/units.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tools/commands/commands.h"
#include "tools/commands/overfull.h"
#include "tools/input/count_keys.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/options/exit_codes.h"
#include "tools/options/kind_options.h"
#include "tools/options/parse.h"
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

constexpr char kScalableHelp[] =
    "A scalable filter grows by adding layers. For this kind, --capacity is the capacity of the\n"
    "first layer (default: 65536), --fpr the highest false-positive rate for any number of keys,\n"
    "and --bytes the largest size.\n";

constexpr char kHashHelp[] =
    "If an attacker may choose the keys, use a keyed hash: siphash13, or siphash24 with a larger\n"
    "margin. `tamis query` then requires the same secret, unless the filter's file contains it.\n";

constexpr char kBuildExamples[] =
    "Examples:\n"
    "  tamis build -o seen.tamis urls.txt\n"
    "  tamis build -o ids.tamis --integers --csv --column user_id users-*.csv.gz\n"
    "  xz -dc log.xz | tamis build -o log.tamis --capacity 2e9 --fpr 0.1%\n"
    "  tamis build -o ids.tamis --u64 --capacity 5G ids.bin\n"
    "  tamis build -o live.tamis --kind cuckoo16 sessions.txt    # `tamis erase` can erase keys\n"
    "  xz -dc log.xz | tamis build -o log.tamis --kind scalable    # for any number of keys\n"
    "  tamis build -o hashes.tamis --kind fuse8 hashes.txt    # the smallest; never changes\n"
    "  openssl rand -hex 16 > secret; tamis build -o s.tamis --hash siphash13 --secret secret "
    "keys\n";

struct BuildOptions {
  InputOptions input;
  RunOptions run;
  std::string output;
  FilterKind kind = FilterKinds().front().kind;
  std::optional<FilterKind> layers;  // layers of a scalable filter; nullopt: split-block
  FilterOptions filter;
  SecretOptions secret;
  bool secret_in_file = false;
  bool no_huge_pages = false;
  bool interleave = false;
  bool for_bank = false;
  SaveOptions save;
  bool allow_empty = false;
  bool overfull = false;
  bool oversized = false;
  bool json = false;

  bool scalable() const { return KindInfo(kind).has_layers; }
  bool is_static() const { return KindInfo(kind).is_static; }
};

// The options, and everything that is derived from them before the filter is made.
struct BuildJob {
  const BuildOptions& options;
  uint64_t total_bytes = 0;  // size of all inputs; 0: unknown
  FilterOptions filter = {};
  SaveOptions save = {};
};

AnyFilter MakeFilterFor(const BuildJob& job) {
  const BuildOptions& options = job.options;
  const FilterOptions& filter = job.filter;
  if (!options.scalable()) return MakeFilter(options.kind, filter);
  ScalableOptions scalable;
  if (filter.capacity != 0) scalable.initial_capacity = filter.capacity;
  if (filter.fpr != 0) scalable.fpr = filter.fpr;
  scalable.max_bytes = filter.bytes;
  scalable.hash = filter.hash;
  scalable.memory = filter.memory;
  scalable.backend = filter.backend;
  return MakeScalableFilter(options.layers.value_or(FilterKinds().front().kind), scalable);
}

// The values that determine the size of a filter, or of the first layer of a scalable filter.
struct Sizing {
  FilterKind kind;
  uint64_t capacity;
  double fpr;
};

// Returns std::nullopt if --bytes sets the size of the filter, if --fpr is not given, or if the
// layers of a scalable filter are not given.
std::optional<Sizing> SizingOf(const BuildOptions& options, uint64_t capacity) {
  const ScalableOptions growth;
  const double fpr = options.filter.fpr;
  if (!options.scalable()) {
    if (capacity == 0 || fpr == 0 || options.filter.bytes != 0) return std::nullopt;
    return Sizing{options.kind, capacity, fpr};
  }
  if (!options.layers) return std::nullopt;
  return Sizing{*options.layers, capacity != 0 ? capacity : growth.initial_capacity,
                std::max(kMinFpr, (fpr != 0 ? fpr : growth.fpr) * (1 - growth.tightening))};
}

// Throws for a filter of more than 1 MiB that takes more than 256 bits per key, or more than four
// times the size of the smallest kind. At very low rates, some kinds take gigabytes.
void RequireNotOversized(const BuildOptions& options, const Sizing& sizing) {
  constexpr uint64_t kMostBitsPerKey = 256;
  constexpr uint64_t kMostTimesTheBest = 4;
  constexpr uint64_t kSmall = uint64_t{1} << 20;
  const auto& [kind, capacity, fpr] = sizing;
  const uint64_t bytes = FilterBytes(kind, capacity, fpr);
  if (options.oversized || bytes <= kSmall) return;
  const FilterKind best = SmallestKind(kind, capacity, fpr);
  const uint64_t least = FilterBytes(best, capacity, fpr);
  if (bytes / kMostTimesTheBest <= least && bytes / (kMostBitsPerKey / 8) <= capacity) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      detail::StrCat(
          "a ", FilterKindName(kind), " filter takes ", BytesText(static_cast<double>(bytes)),
          " for ", Counted(capacity, "key"), " at ", PercentText(fpr),
          best == kind
              ? ""
              : detail::StrCat("; a ", FilterKindName(best), " filter can do the same and takes ",
                               BytesText(static_cast<double>(least))),
          "; the limits are four times the smallest size, and ", kMostBitsPerKey,
          " bits a key. Give another --fpr or --kind, or --oversized to make the filter anyway"));
}

void CheckSizing(const BuildOptions& options, uint64_t capacity) {
  const std::optional<Sizing> sizing = SizingOf(options, capacity);
  if (!sizing) return;
  RequireNotOversized(options, *sizing);
  const std::string advice = SizingAdvice(sizing->kind, sizing->capacity, sizing->fpr);
  if (!advice.empty()) Say("warning: " + advice);
}

// Returns --capacity, or 0 if --bytes or the kind sets the size. Otherwise counts the input's keys.
uint64_t CapacityOf(const BuildOptions& options, std::optional<uint64_t> total_bytes) {
  const FilterOptions& filter = options.filter;
  if (filter.capacity != 0 || filter.bytes != 0 || options.scalable()) return filter.capacity;
  if (!total_bytes) {
    throw Error(ErrorCode::kInvalidArgument,
                "give --capacity (or --bytes): the keys of a pipe cannot be counted in advance. Or "
                "use --kind scalable, or --kind fuse8 for a set that never changes");
  }
  // Inputs without keys make a filter for one key.
  return std::max<uint64_t>(CountKeys(options.input, *total_bytes, options.run.quiet), 1);
}

// Returns the smallest size for banks (`BankBlocks`) that reaches the requested rate.
uint64_t BytesInBank(const FilterOptions& filter) {
  const double fpr = filter.fpr != 0 ? filter.fpr : kDefaultFpr;
  return BankBlocks(SplitBlockBlocks(filter.capacity, fpr)) * uint64_t{split_block::kBlockBytes};
}

// Returns the hash. Reads or makes its secret if it is keyed.
HashSpec HashOf(const BuildOptions& options) {
  HashSpec hash = options.filter.hash;
  const std::optional<HashSecret> secret = options.secret.Read();
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("the hash ") + HashKindName(hash.kind) + problem);
  };
  if (!IsKeyed(hash.kind)) {
    if (secret || options.secret_in_file) refuse(" has no secret; give --hash siphash13");
    return hash;
  }
  if (hash.seed != 0) refuse(" has a secret instead of a seed: leave out --seed");
  if (secret) {
    hash.secret = *secret;
  } else if (options.secret_in_file) {
    hash = RandomKeyedHash(hash.kind);
  } else {
    refuse(std::string(" needs a secret: give --secret FILE (") + kMakeSecret +
           "), or --secret-in-file for a random secret in the file of the filter");
  }
  return hash;
}

// Derives the job from the options. Reads all inputs if the keys must be counted.
BuildJob MakeJob(const BuildOptions& options) {
  const std::optional<uint64_t> total_bytes = options.input.TotalBytes();
  BuildJob job{options, total_bytes.value_or(0), options.filter, options.save};
  job.save.with_secret = options.secret_in_file;
  job.filter.hash = HashOf(options);
  job.filter.memory.huge_pages = !options.no_huge_pages;
  job.filter.memory.interleave = options.interleave;
  job.filter.backend = options.run.Pinned();
  if (options.is_static()) return job;
  job.filter.capacity = CapacityOf(options, total_bytes);
  CheckSizing(options, job.filter.capacity);
  if (options.for_bank) {
    job.filter.bytes = BytesInBank(job.filter);
    job.filter.fpr = 0;
  }
  return job;
}

struct Inserted {
  uint64_t bad = 0;              // lines without a key
  uint64_t empty = 0;            // empty lines among these
  uint64_t copies_left_out = 0;  // keys that a scalable filter rejected because it finds them
  double seconds = 0;
  std::string backend;
  unsigned threads = 0;
};

// Returns the first of `indices` whose key the filter does not find, or std::nullopt if it finds
// all keys.
std::optional<uint64_t> FirstThatIsAbsent(const Engine& engine, const Filter& filter, Keys keys,
                                          std::span<const uint64_t> indices) {
  std::vector<uint64_t> words(BitmapWords(keys.size()));
  const Bitmap found(words);
  engine.Contains(filter, keys, found);
  for (const uint64_t i : indices) {
    if (!found.Test(i)) return i;
  }
  return std::nullopt;
}

Inserted InsertAll(const BuildJob& job, ChangeableFilter& filter) {
  const BuildOptions& options = job.options;
  Engine engine = options.run.MakeEngine();
  const auto start = std::chrono::steady_clock::now();
  Progress progress("building", Progress::Unit::kBytes, job.total_bytes, options.run.quiet);
  KeyReader reader(options.input, {});
  KeyBatch batch;
  Inserted inserted;
  std::vector<uint64_t> rejected;
  uint64_t keys_before = 0;
  for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
    rejected.resize(batch.size());
    rejected.resize(batch.size() - engine.Insert(filter, batch.keys(), rejected));
    if (!rejected.empty()) {
      // A scalable filter also rejects copies of keys that it has. Other filters reject a key only
      // if they have no room for it.
      const std::optional<uint64_t> lost =
          options.scalable() ? FirstThatIsAbsent(engine, filter, batch.keys(), rejected)
                             : rejected[0];
      if (lost) {
        throw Error(
            ErrorCode::kInvalidArgument,
            "key " + WithCommas(keys_before + *lost + 1) + " does not fit: " +
                (options.scalable()
                     ? "another layer would exceed --bytes, the memory, or the rate of --fpr; "
                       "nothing was saved"
                     : "the filter is full, or cannot take another copy of this key; nothing was "
                       "saved. Give a larger --capacity, or each key only once"));
      }
      inserted.copies_left_out += rejected.size();
    }
    keys_before += batch.size();
    progress.Advance(reader.bytes_read() - before);
  }
  reader.Conclude("; nothing was saved", /*some_key=*/!options.allow_empty);
  inserted.bad = reader.num_bad();
  inserted.empty = reader.num_empty();
  inserted.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  inserted.backend =
      engine.PlanCall(filter, 1 << 20, Engine::Operation::kInsert).chosen.backend->name;
  inserted.threads = engine.threads();
  return inserted;
}

// Builds a filter of a kind that never changes. Its size follows from its keys.
AnyFilter BuildStatic(const BuildJob& job, Inserted& inserted) {
  const BuildOptions& options = job.options;
  const Engine engine = options.run.MakeEngine();
  const auto start = std::chrono::steady_clock::now();
  Progress progress("reading", Progress::Unit::kBytes, job.total_bytes, options.run.quiet);
  std::optional<Notice> notice;
  const auto read_all = [&](const std::function<void(Keys)>& visit) {
    KeyReader reader(options.input, {});
    KeyBatch batch;
    for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
      visit(batch.keys());
      progress.Advance(reader.bytes_read() - before);
    }
    reader.Conclude("; nothing was saved", /*some_key=*/!options.allow_empty);
    inserted.bad = reader.num_bad();
    inserted.empty = reader.num_empty();
    notice.emplace("building the filter", options.run.quiet);
  };
  AnyFilter filter = BuildFilter(options.kind, read_all, job.filter, &engine);
  inserted.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  inserted.backend = filter->backend().name;
  inserted.threads = engine.threads();
  return filter;
}

// Throws if the filter is overfull (see overfull.h), unless --overfull is given.
void RequireNotOverfull(const BuildJob& job, const Filter& filter) {
  const FilterOptions& given = job.options.filter;
  const double asked = given.fpr != 0 || given.bytes != 0 ? given.fpr : kDefaultFpr;
  if (job.options.overfull || !IsOverfull(filter, asked)) return;
  throw Error(ErrorCode::kInvalidArgument,
              WithCommas(filter.inserted_count()) + " keys in a filter for " +
                  WithCommas(filter.capacity()) + " make its false-positive rate " +
                  PercentText(filter.expected_fpr()) + ", and " +
                  PercentText(RateSizedFor(filter, asked)) +
                  " was requested; nothing was saved. Give a larger --capacity or --bytes, or "
                  "--overfull to save it");
}

void Report(const BuildOptions& options, const Filter& filter, const Inserted& inserted) {
  const uint64_t keys = filter.inserted_count();
  // The rate by the number of keys is an upper bound if keys were inserted more than once.
  const double fpr = options.scalable()
                         ? filter.expected_fpr()
                         : FilterFpr(filter.kind(), static_cast<double>(keys), filter.bytes());
  if (keys > filter.capacity()) {
    const double real = filter.expected_fpr();
    Say("warning: " + WithCommas(keys) + " keys were inserted into a filter for " +
        WithCommas(filter.capacity()) + "; the expected false-positive rate is " +
        PercentText(real));
  }
  if (inserted.copies_left_out > 0 && !options.run.quiet) {
    Say(WithCommas(inserted.copies_left_out) +
        " keys were left out, because the filter already contained them or keys that it cannot "
        "distinguish from them: queries find these keys, but they cannot be erased");
  }
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"file", options.output},
        {"kind", FilterKindName(filter.kind())},
        {"bytes", filter.bytes()},
        {"capacity", filter.capacity()},
        {"inserted", keys},
        {"bad_lines", inserted.bad},
        {"empty_lines", inserted.empty},
        {"copies_left_out", inserted.copies_left_out},
        {"bits_per_key", filter.bits_per_key()},
        {"fpr_if_distinct", fpr},
        {"seconds", inserted.seconds},
        {"backend", inserted.backend},
        {"threads", inserted.threads},
    };
    Print(JsonText(json));
  } else if (!options.run.quiet) {
    Say(options.output + ": " + Counted(keys, "key") + " in " + DurationText(inserted.seconds) +
        ", " + BytesText(static_cast<double>(filter.bytes())) + ", false-positive rate " +
        PercentText(fpr));
  }
}

void Check(const BuildOptions& options) {
  options.input.Check();
  const auto refuse = [](const std::string& problem) {
    throw Error(ErrorCode::kInvalidArgument, problem);
  };
  if (options.layers && !options.scalable()) refuse("--layers needs --kind scalable");
  if (options.for_bank &&
      (options.kind != SplitBlockBloomFilter::kKind || options.filter.bytes != 0)) {
    refuse(
        "--for-bank is for split-block filters, and chooses their sizes: leave out --kind "
        "and --bytes");
  }
  if (options.is_static() && (options.filter.capacity != 0 || options.filter.bytes != 0)) {
    refuse(std::string("a ") + FilterKindName(options.kind) +
           " filter is sized by its keys: leave out --capacity and --bytes");
  }
  CheckOutputPath(options.output, options.save);
  CheckNotAnInput(options.output, options.secret.And(options.input.paths));
  if (options.json) {
    CheckStandardOutputIsNoInput(options.secret.And(options.input.paths));
    CheckStandardOutputIsNot(options.output);
  }
}

int Run(const BuildOptions& options) {
  Check(options);
  SayIfSavedOnSignals(options.output);
  const BuildJob job = MakeJob(options);
  Inserted inserted;
  const auto build = [&]() -> AnyFilter {
    if (options.is_static()) return BuildStatic(job, inserted);
    AnyFilter filter = MakeFilterFor(job);
    CheckOutputPath(options.output, job.save, filter->bytes());
    inserted = InsertAll(job, RequireChangeable(*filter));
    return filter;
  };
  const AnyFilter filter = build();
  RequireNotOverfull(job, *filter);
  SaveFilter(*filter, options.output, options.run.quiet, job.save);
  Report(options, *filter, inserted);
  return kDone;
}

}  // namespace

Command AddBuild(const CommandLine& program) {
  const CommandLine command = program.AddCommand("build", "Build a filter from keys and save it.");
  auto options = std::make_shared<BuildOptions>();
  command.Footer(std::string(kKeyTypesHelp) + "\n" + kScalableHelp + "\n" + kHashHelp + "\n" +
                 kBuildExamples);
  command.Add("-o,--output", options->output, "file to save to, replaced as a whole (required)")
      .Required()
      .Type("FILE");
  AddKindAndType(
      command, options->kind, [](const FilterKindInfo&) { return true; },
      "kind of filter (default: split-block)");
  AddKind(
      command, "--layers", options->layers,
      [](const FilterKindInfo& kind) { return kind.can_be_layer; },
      "kind of the layers of a scalable filter (default: split-block)");
  command
      .Add("-n,--capacity", options->filter.capacity, ParsePositiveCount,
           "keys to size for, such as 5e9 (default: counted in a first pass)")
      .Type("N");
  command
      .Add("-p,--fpr", options->filter.fpr, ParseFpr,
           "false-positive rate at capacity (default: 0.01; cuckoo, fuse: set by kind)")
      .Type("P");
  command
      .Add("--bytes", options->filter.bytes, ParseBytes,
           "size, such as 512M, instead of the size computed from --fpr")
      .Type("SIZE");
  AddHash(command, options->filter.hash.kind);
  command
      .Add("--seed", options->filter.hash.seed, ParseSeed,
           "seed of the hash (default: 0); random: each filter has other false positives")
      .Type("N|random");
  options->secret.AddTo(command);
  command.AddFlag("--secret-in-file", options->secret_in_file,
                  "save the secret in the file; without --secret, a random secret");
  command.AddFlag("--for-bank", options->for_bank,
                  "round the size up, by at most a quarter, to a size that suits `tamis bank`");
  command.AddFlag("--no-huge-pages", options->no_huge_pages, "do not use huge pages");
  command.AddFlag("--interleave", options->interleave,
                  "spread the filter over all memory nodes (NUMA) of the machine");
  command.AddFlag("--replace-read-only", options->save.replace_read_only, kReplaceReadOnlyHelp);
  AddShard(command, options->save);
  command.AddFlag("--allow-empty", options->allow_empty, "save a filter even if there is no key");
  command.AddFlag("--overfull", options->overfull,
                  "save a filter even if its rate is more than ten times the requested one");
  command.AddFlag("--oversized", options->oversized,
                  "allow over 256 bits a key, or over four times the size of the smallest kind");
  command.AddFlag("--json", options->json, "a report in JSON on standard output");
  options->run.AddTo(command);
  options->input.AddTo(command);
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
