// tamis redis create, info, pull, push, drop: manage a filter on Redis servers as a whole.
#include <tamis/error.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/sizing.h>
#include <tamis/filters/split_block_filter.h>
#include <tamis/hash_kinds.h>
#include <tamis/redis/split_block_filter.h>
#include <tamis/units.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tools/options/exit_codes.h"
#include "tools/options/kind_options.h"
#include "tools/options/parse.h"
#include "tools/options/signals.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"
#include "tools/redis/command.h"
#include "tools/redis/options.h"

namespace tamis::tools {
namespace {

using Deadline = std::optional<std::chrono::system_clock::time_point>;

// Adds --deadline to a command that can create a filter.
void AddDeadlineTo(const CommandLine& command, Deadline& deadline) {
  command
      .Add("--deadline", deadline, ParseTime,
           "time from which queries and insertions fail; an hour later, the filter is removed. "
           "2026-12-31T23:59:59Z, or a duration from now: 36h or 7d (default: never)")
      .Type("TIME");
}

// The options of a new filter.
struct CreateOptions {
  RedisOptions redis;
  FilterOptions filter;
  Deadline deadline;
};

std::string Summary(const std::string& name, const redis::Info& info) {
  return name + ": for " + Counted(info.capacity, "key") + " at " + PercentText(info.fpr) + ", " +
         BytesText(static_cast<double>(info.bytes)) + " in " + Counted(info.segments, "segment");
}

int RunCreate(const CreateOptions& options) {
  FilterOptions made = options.filter;
  const std::optional<HashSecret> secret = options.redis.secret.Read();
  if (secret) made.hash.secret = *secret;
  if (IsKeyed(made.hash.kind) != secret.has_value()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("the hash ") + HashKindName(made.hash.kind) +
            (secret ? " has no secret; give --hash siphash13"
                    : std::string(" needs a secret: give --secret FILE (") + kMakeSecret + ")"));
  }
  redis::SplitBlockFilter filter = redis::SplitBlockFilter::Create(
      options.redis.Servers(), options.redis.name, {made, options.deadline}, {.secret = secret});
  if (!options.redis.quiet) Say(Summary(options.redis.name, filter.GetInfo()));
  return kDone;
}

struct RedisInfoOptions {
  RedisOptions redis;
  bool json = false;
};

std::string UtcText(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  char text[64] = "";
  if (gmtime_r(&seconds, &utc) != nullptr) {
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  }
  return text;
}

nlohmann::ordered_json Describe(const std::string& name, const redis::Info& info) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const redis::Info::Node& node : info.nodes) {
    nodes.push_back({{"address", node.address}, {"segments", node.segments}});
  }
  return {
      {"filter", name},
      {"kind", "split-block"},
      {"blocks", info.blocks},
      {"bytes", info.bytes},
      {"capacity", info.capacity},
      {"fpr_at_capacity", info.fpr},
      {"hash", HashKindName(info.hash.kind)},
      {"seed", info.hash.seed},
      {"segments", info.segments},
      {"segment_bytes", info.segment_bytes},
      {"bad_segments", info.bad_segments},
      {"problem", info.problem},
      {"deadline", info.deadline ? nlohmann::ordered_json(UtcText(*info.deadline)) : nullptr},
      {"rebuild", RebuildStateName(info.rebuild)},
      {"server_bytes", info.server_bytes},
      {"measured_segments", info.measured_segments},
      {"nodes", nodes},
  };
}

std::string ServerMemoryText(const redis::Info& info) {
  if (info.measured_segments == 0) return "unknown: no server reported it";
  std::string text = BytesText(static_cast<double>(info.server_bytes));
  if (info.measured_segments < info.segments) {
    text +=
        " for " + Counted(info.measured_segments, "segment") + "; no server reported the others";
  }
  return text;
}

std::string InfoText(const std::string& name, const redis::Info& info) {
  std::string text = Printable(name) + "\n";
  text += Row("kind", "split-block, on Redis servers");
  text += Row("blocks", WithCommas(info.blocks));
  text += Row("bytes",
              WithCommas(info.bytes) + " (" + BytesText(static_cast<double>(info.bytes)) + ")");
  text += Row("hash", std::string(HashKindName(info.hash.kind)) +
                          (IsKeyed(info.hash.kind) ? ", its secret not on the servers"
                                                   : detail::StrCat(", seed ", info.hash.seed)));
  text += Row("capacity", Counted(info.capacity, "key") + " at " + PercentText(info.fpr));
  text += Row("segments", WithCommas(info.segments) + " of " +
                              BytesText(static_cast<double>(info.segment_bytes)));
  text += Row("server memory", ServerMemoryText(info));
  for (const redis::Info::Node& node : info.nodes) {
    text += Row("master", Printable(node.address) + ", " + Counted(node.segments, "segment"));
  }
  if (info.deadline) text += Row("deadline", UtcText(*info.deadline));
  if (info.rebuild != redis::RebuildState::kNone) {
    const bool unknown = info.rebuild == redis::RebuildState::kUnknown;
    text +=
        Row("rebuild", unknown ? "unknown: no server reported it" : RebuildStateName(info.rebuild));
  }
  if (info.bad_segments > 0) {
    text += Row("bad segments", WithCommas(info.bad_segments) + ": " + Printable(info.problem));
  }
  return text;
}

int RunInfo(const RedisInfoOptions& options) {
  const redis::Info info = options.redis.Open().GetInfo();
  Print(options.json ? JsonText(Describe(options.redis.name, info))
                     : InfoText(options.redis.name, info));
  return info.bad_segments == 0 ? kDone : kFailure;
}

struct FileOptions {
  RedisOptions redis;
  std::string path;
  bool create = false;
  Deadline deadline;  // if `create`: deadline of the new filter
  SaveOptions save;
};

int RunPull(const FileOptions& options) {
  CheckOutputPath(options.path, options.save);
  CheckNotAnInput(options.path, options.redis.And({}));
  SayIfSavedOnSignals(options.path);
  redis::SplitBlockFilter filter = options.redis.Open();
  const SplitBlockBloomFilter local = [&] {
    const Notice notice("pulling " + options.redis.name + " ...", options.redis.quiet);
    return filter.Pull();
  }();
  SaveFilter(local, options.path, options.redis.quiet, options.save);
  if (!options.redis.quiet) {
    Say(options.path + ": " + BytesText(static_cast<double>(local.bytes())) + ", about " +
        Counted(static_cast<uint64_t>(local.estimated_count()), "distinct key"));
  }
  return kDone;
}

redis::SplitBlockFilter OpenOrCreate(const FileOptions& options,
                                     const SplitBlockBloomFilter& local) {
  if (options.create) {
    const double fpr =
        FilterFpr(local.kind(), static_cast<double>(local.capacity()), local.bytes());
    redis::SplitBlockFilter::Create(options.redis.Servers(), options.redis.name,
                                    {{.capacity = local.capacity(),
                                      .fpr = std::clamp(fpr, kMinFpr, kMaxFpr),
                                      .bytes = local.bytes(),
                                      .hash = local.hash()},
                                     options.deadline},
                                    {.secret = options.redis.secret.Read()});
  }
  return options.redis.Open();
}

int RunPush(const FileOptions& options) {
  if (options.deadline && !options.create) {
    throw Error(ErrorCode::kInvalidArgument,
                "--deadline needs --create: the deadline of an existing filter cannot be changed");
  }
  const SplitBlockBloomFilter local = SplitBlockBloomFilter::Map(
      options.path, {.verify = Verify::kFull, .secret = options.redis.secret.Read()});
  redis::SplitBlockFilter filter = OpenOrCreate(options, local);
  {
    const Notice notice("pushing " + options.path + " ...", options.redis.quiet);
    filter.Push(local);
  }
  if (!options.redis.quiet) Say(Summary(options.redis.name, filter.GetInfo()));
  return kDone;
}

int RunDrop(const RedisOptions& options) {
  options.Open().Drop();
  if (!options.quiet) Say(options.name + ": removed");
  return kDone;
}

}  // namespace

Command AddRedisCreate(const CommandLine& redis) {
  const CommandLine command = redis.AddCommand("create", "Make an empty filter.");
  auto options = std::make_shared<CreateOptions>();
  command.Footer(std::string(kRedisHelp) +
                 "\nExample:\n  tamis redis create --name seen --capacity 1e8 --fpr 0.01\n");
  options->redis.AddTo(command);
  options->redis.secret.AddTo(command);
  command
      .Add("-n,--capacity", options->filter.capacity, ParsePositiveCount,
           "keys to size for, such as 1e8")
      .Type("N");
  command.Add("-p,--fpr", options->filter.fpr, ParseFpr, "false-positive rate (default: 0.01)")
      .Type("P");
  command
      .Add("--bytes", options->filter.bytes, ParseBytes,
           "size, such as 512M, instead of the size that --fpr needs")
      .Type("SIZE");
  AddHash(command, options->filter.hash.kind);
  command.Add("--seed", options->filter.hash.seed, ParseSeed, "seed of the hash (default: 0)")
      .Type("N|random");
  AddDeadlineTo(command, options->deadline);
  return {command, [options] { return RunCreate(*options); }};
}

Command AddRedisInfo(const CommandLine& redis) {
  const CommandLine command =
      redis.AddCommand("info", "Describe a filter, and check all of its segments.");
  auto options = std::make_shared<RedisInfoOptions>();
  command.Footer(std::string("Exit status 3 if segments are missing or damaged.\n\n") + kRedisHelp);
  options->redis.AddTo(command);
  options->redis.secret.AddTo(command);
  command.AddFlag("--json", options->json, "a report in JSON");
  return {command, [options] { return RunInfo(*options); }};
}

Command AddRedisPull(const CommandLine& redis) {
  const CommandLine command =
      redis.AddCommand("pull", "Save the filter to a file on this machine, bit for bit.");
  auto options = std::make_shared<FileOptions>();
  command.Footer(std::string(kRedisHelp) +
                 "\nExample:\n  tamis redis pull --name seen -o seen.tamis\n");
  options->redis.AddTo(command);
  options->redis.secret.AddTo(command);
  command.Add("-o,--output", options->path, "file to save to, replaced as a whole (required)")
      .Required()
      .Type("FILE");
  command.AddFlag("--replace-read-only", options->save.replace_read_only, kReplaceReadOnlyHelp);
  return {command, [options] { return RunPull(*options); }};
}

Command AddRedisPush(const CommandLine& redis) {
  const CommandLine command = redis.AddCommand("push", "Add all keys of a filter in a file.");
  auto options = std::make_shared<FileOptions>();
  command.Footer(std::string(kRedisHelp) +
                 "\nExample:\n"
                 "  tamis build -o seen.tamis urls.txt\n"
                 "  tamis redis push --name seen --create seen.tamis\n");
  options->redis.AddTo(command);
  options->redis.secret.AddTo(command);
  options->redis.AddDurableTo(command);
  command.AddFlag("--create", options->create,
                  "create the filter first, with the size and hash of FILE");
  AddDeadlineTo(command, options->deadline);
  command.Add("FILE", options->path, "file with a split-block filter of the same size and hash")
      .Required();
  return {command, [options] { return RunPush(*options); }};
}

Command AddRedisDrop(const CommandLine& redis) {
  const CommandLine command = redis.AddCommand("drop", "Remove the filter, for all its clients.");
  auto options = std::make_shared<RedisOptions>();
  command.Footer(kRedisHelp);
  options->AddTo(command);
  options->secret.AddTo(command);
  return {command, [options] { return RunDrop(*options); }};
}

}  // namespace tamis::tools
