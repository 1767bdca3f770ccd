// tamis redis insert, query, rebuild: read keys from files, for a filter on Redis servers.
#include <tamis/redis/rebuild.h>
#include <tamis/redis/split_block_filter.h>
#include <tamis/unanswered_error.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/commands/query_keys.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/options/exit_codes.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"
#include "tools/redis/command.h"
#include "tools/redis/options.h"

namespace tamis::tools {
namespace {

constexpr char kInsertExamples[] =
    "Examples:\n"
    "  tamis redis insert --name seen urls.txt\n"
    "  tamis redis insert --url redis://cache-1:6379 --name ids --integers --csv users.csv\n";

constexpr char kRedisQueryFooter[] =
    "Writes the lines whose keys may be in the filter: all lines whose keys are in it, and\n"
    "others at about the rate that the filter was made for. If servers or parts of the filter\n"
    "are unavailable, the command fails. With --fail-open their answers are \"maybe\" instead.\n"
    "Servers do not store whether strings or integers were inserted, so a note is printed if\n"
    "hardly any key is found.\n"
    "\n";

constexpr char kRedisQueryExamples[] =
    "Examples:\n"
    "  tamis redis query --name seen new.txt > known.txt\n"
    "  tamis redis query --name seen --invert new.txt > certainly_new.txt\n"
    "  tamis redis query --name ids --integers --count ids.txt\n";

constexpr char kRebuildFooter[] =
    "Replaces the keys of the filter by the keys of the files. Clients use the old keys until the\n"
    "new keys are complete. Keys that clients insert during the rebuild are in the new filter,\n"
    "too. Keys that clients inserted shortly before the rebuild must be in the files. Allocates\n"
    "memory for one filter on this machine, and for a second copy of the filter on the servers.\n"
    "\n"
    "With --end-abandoned and without files, ends a rebuild whose process is gone.\n"
    "\n";

constexpr char kRebuildExamples[] =
    "Examples:\n"
    "  tamis redis rebuild --name seen urls.txt\n"
    "  psql -Atc 'select id from users' | tamis redis rebuild --name ids --integers\n";

struct InsertOptions {
  RedisOptions redis;
  InputOptions input;
  bool json = false;
};

// Prints how many of the `sent` keys were inserted although `error` was thrown.
void SayWhatIsIn(uint64_t sent, const UnansweredError& error) {
  const uint64_t unknown = error.keys().size();
  std::string said;
  if (error.code() == ErrorCode::kNotDurable) {
    said = "inserted: " + Counted(sent, "key") + ", of which " + WithCommas(unknown) +
           " may be on too few replicas";
  } else {
    said = "inserted: " + Counted(sent - unknown, "key") + "; " + WithCommas(unknown) +
           " more may be missing";
  }
  Say(said + ". Inserting them again does no harm");
}

int RunInsert(const InsertOptions& options) {
  options.input.Check();
  if (options.json) CheckStandardOutputIsNoInput(options.redis.And(options.input.paths));
  const std::optional<uint64_t> total_bytes = options.input.TotalBytes();
  redis::SplitBlockFilter filter = options.redis.Open();
  Progress progress("inserting", Progress::Unit::kBytes, total_bytes.value_or(0),
                    options.redis.quiet);
  KeyReader reader(options.input, {});
  KeyBatch batch;
  uint64_t inserted = 0;
  for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
    try {
      inserted += filter.Insert(batch.keys());
    } catch (const UnansweredError& error) {
      SayWhatIsIn(inserted + batch.keys().CountValid(), error);
      throw;
    } catch (const Error&) {
      Say(Counted(inserted, "key") +
          " had been inserted before the error; inserting them again does no harm");
      throw;
    }
    progress.Advance(reader.bytes_read() - before);
  }
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"filter", options.redis.name},
        {"inserted", inserted},
        {"bad_lines", reader.num_bad()},
        {"empty_lines", reader.num_empty()},
    };
    Print(JsonText(json));
  } else if (!options.redis.quiet) {
    Say(options.redis.name + ": " + Counted(inserted, "key") + " inserted");
  }
  reader.Conclude("", /*some_key=*/false);
  return kDone;
}

struct RebuildCommand {
  RedisOptions redis;
  InputOptions input;
  bool end_abandoned = false;
  bool json = false;
};

int RunRebuild(const RebuildCommand& options) {
  redis::SplitBlockFilter filter = options.redis.Open();
  if (options.end_abandoned) {
    const bool ended = redis::EndAbandonedRebuild(filter);
    if (options.json) {
      const nlohmann::ordered_json json = {
          {"filter", options.redis.name},
          {"ended_abandoned", ended},
      };
      Print(JsonText(json));
    } else if (!options.redis.quiet) {
      Say(options.redis.name + ": " +
          (ended ? "an abandoned rebuild was ended" : "there is no abandoned rebuild"));
    }
    return kDone;
  }
  options.input.Check();
  if (options.json) CheckStandardOutputIsNoInput(options.redis.And(options.input.paths));
  const std::optional<uint64_t> total_bytes = options.input.TotalBytes();
  KeyReader reader(options.input, {});
  Progress progress("reading", Progress::Unit::kBytes, total_bytes.value_or(0),
                    options.redis.quiet);
  const auto source = [&](redis::RebuildInserter& to) {
    KeyBatch batch;
    for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
      to.Insert(batch.keys());
      progress.Advance(reader.bytes_read() - before);
    }
    reader.Conclude("; the filter is unchanged", /*some_key=*/true);
  };
  const redis::RebuildResult result = redis::Rebuild(filter, source);
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"filter", options.redis.name},
        {"keys", result.keys},
        {"ended_abandoned", result.ended_abandoned},
        {"bad_lines", reader.num_bad()},
        {"empty_lines", reader.num_empty()},
    };
    Print(JsonText(json));
  } else if (!options.redis.quiet) {
    Say(options.redis.name + ": rebuilt from " + Counted(result.keys, "key"));
  }
  return kDone;
}

struct RedisQueryOptions {
  RedisOptions redis;
  KeyQueryOptions query;
  bool fail_open = false;
};

int RunQuery(const RedisQueryOptions& options) {
  options.query.Check(options.redis.And(options.query.input.paths));
  const std::optional<uint64_t> input_bytes = options.query.input.TotalBytes();
  const redis::SplitBlockFilter filter = options.redis.Open(
      options.fail_open ? redis::Unavailable::kMaybe : redis::Unavailable::kThrow);
  return QueryKeys(filter, options.redis.name, options.query, input_bytes, /*engine=*/nullptr,
                   options.redis.quiet);
}

}  // namespace

Command AddRedisInsert(const CommandLine& redis) {
  const CommandLine command = redis.AddCommand("insert", "Insert the keys of files.");
  auto options = std::make_shared<InsertOptions>();
  command.Footer(std::string(kKeyTypesHelp) + "\n" + kRedisHelp + "\n" + kInsertExamples);
  options->redis.AddTo(command);
  options->redis.secret.AddTo(command);
  options->redis.AddDurableTo(command);
  command.AddFlag("--json", options->json, "a report in JSON on standard output");
  options->input.AddTo(command);
  return {command, [options] { return RunInsert(*options); }};
}

Command AddRedisRebuild(const CommandLine& redis) {
  const CommandLine command = redis.AddCommand(
      "rebuild", "Replace the keys of the filter by those of files, while clients use it.");
  auto options = std::make_shared<RebuildCommand>();
  command.Footer(std::string(kRebuildFooter) + kKeyTypesHelp + "\n" + kRedisHelp + "\n" +
                 kRebuildExamples);
  options->redis.AddTo(command);
  options->redis.secret.AddTo(command);
  options->redis.AddDurableTo(command);
  command.AddFlag("--end-abandoned", options->end_abandoned,
                  "end a rebuild whose process is gone, and read no keys");
  command.AddFlag("--json", options->json, "a report in JSON on standard output");
  options->input.AddTo(command);
  return {command, [options] { return RunRebuild(*options); }};
}

Command AddRedisQuery(const CommandLine& redis) {
  const CommandLine command =
      redis.AddCommand("query", "Find the lines whose keys may be in the filter.");
  auto options = std::make_shared<RedisQueryOptions>();
  command.Footer(std::string(kRedisQueryFooter) + kKeyTypesHelp + "\n" + kRedisHelp + "\n" +
                 kRedisQueryExamples);
  options->redis.AddTo(command);
  options->redis.secret.AddTo(command);
  options->query.AddTo(command);
  command.AddFlag("--fail-open", options->fail_open,
                  "missing answers are \"maybe\" instead of an error");
  options->query.input.AddTo(command);
  return {command, [options] { return RunQuery(*options); }};
}

}  // namespace tamis::tools
