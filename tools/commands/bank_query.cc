// tamis bank query: finds the members of a bank that may have the keys of an input.
#include <tamis/bank/filter_bank.h>
#include <tamis/engine/engine.h>
#include <tamis/error.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tools/commands/bank.h"
#include "tools/input/bank_keys.h"
#include "tools/input/input.h"
#include "tools/input/key_reader.h"
#include "tools/input/key_type.h"
#include "tools/options/exit_codes.h"
#include "tools/options/open_options.h"
#include "tools/options/parse.h"
#include "tools/options/run_options.h"
#include "tools/options/secret.h"
#include "tools/os/file.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

constexpr char kBankQueryFooter[] =
    "Writes a line KEY<tab>NAME for each key and each member that may have it. These are all\n"
    "members that have the key, and the false members, whose expected number `tamis bank info`\n"
    "reports. Control characters in names are written as \\xNN.\n"
    "\n"
    "With --count-per-member, writes a line NAME<tab>KEYS for each member that may have at least\n"
    "one of the keys, or N with --at-least N. The member with the most keys comes first.\n"
    "\n";

constexpr char kBankQueryExamples[] =
    "Examples:\n"
    "  tamis bank query logs.bank keys.txt\n"
    "  tamis bank query logs.bank --integers --csv --column user_id users.csv | sort -u\n"
    "  tamis bank query logs.bank --count-per-member --top 10 keys.txt\n"
    "  tamis bank query logs.bank --count keys.txt    # how many keys any member may have\n";

struct BankQueryOptions {
  std::string bank;
  InputOptions input;
  KeyTypeOptions form;
  SecretOptions secret;
  RunOptions run;
  OpenOptions open;
  bool per_member = false;
  std::optional<uint64_t> at_least;
  std::optional<uint64_t> top;
  bool invert = false;
  bool count = false;
  bool json = false;

  bool WritesPairs() const { return !per_member && !invert && !count && !json; }
};

FilterBank OpenBank(const BankQueryOptions& options, std::optional<uint64_t> input_bytes) {
  return OpenAsAsked(
      options.bank, options.open, options.run, options.secret, input_bytes,
      [&](const LoadOptions& load) { return FilterBank::Load(options.bank, load); },
      [&](const MapOptions& map) { return FilterBank::Map(options.bank, map); });
}

// Returns the key as it was written in the input. The number alone is ambiguous: -1 and
// 18446744073709551615 are the same key.
std::string TextOf(const KeyBatch& batch, size_t i) {
  if (!batch.texts.empty()) return std::string(batch.texts[i]);
  return batch.are_integers ? std::to_string(batch.integers[i]) : std::string(batch.strings[i]);
}

// Counts of keys and answers.
struct Tally {
  uint64_t keys = 0;
  uint64_t found = 0;  // keys that at least one member may have
  uint64_t pairs = 0;
  std::vector<uint64_t> per_member;
};

class Query {
 public:
  Query(const BankQueryOptions& options, std::optional<uint64_t> input_bytes)
      : options_(options),
        bank_(OpenBank(options, input_bytes)),
        engine_(options.run.MakeEngine()),
        keys_(bank_, options.form, options.bank, options.input.key_type(), options.run.quiet),
        names_(uint64_t{64} * bank_.row_words()) {
    for (BankMember& member : bank_.members()) names_[member.index] = std::move(member.name);
  }

  // Returns the largest number of keys in a batch. If all members may have all keys, the pairs of
  // the batch take at most 256 MiB. The result is at least 64, even if the pairs take more.
  size_t MaxBatch() const {
    constexpr uint64_t kMostPairs = uint64_t{1} << 24;
    return std::clamp<uint64_t>(kMostPairs / std::max<uint64_t>(bank_.num_members(), 1), 64,
                                uint64_t{1} << 20);
  }

  void Ask(const KeyBatch& batch, Output& out) {
    tally_.keys += batch.size();
    if (options_.per_member) {
      const std::vector<uint64_t> counts = keys_.CountPerMember(engine_, batch);
      tally_.per_member.resize(counts.size());
      for (size_t i = 0; i < counts.size(); ++i) tally_.per_member[i] += counts[i];
      return;
    }
    const std::vector<BankHit> hits = keys_.Select(engine_, batch);
    tally_.pairs += hits.size();
    auto hit = hits.begin();
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto first = hit;
      while (hit != hits.end() && hit->key == i) ++hit;
      if (hit != first) ++tally_.found;
      if (options_.WritesPairs()) {
        for (auto pair = first; pair != hit; ++pair) {
          out.Write(TextOf(batch, i) + "\t" + Printable(names_[pair->member]) + "\n");
        }
      } else if (options_.invert && hit == first && !options_.count && !options_.json) {
        out.Write(TextOf(batch, i) + "\n");
      }
    }
  }

  void Report(const KeyReader& reader, Output& out) const {
    if (keys_.misfits() > 0 && !options_.run.quiet) {
      Say(Counted(keys_.misfits(), "key") +
          (options_.input.key_type() == KeyType::kInteger
               ? " without a 32-bit value; members with INT32 keys were not queried for them"
               : " without a numeric value; members with FLOAT or DOUBLE keys were not queried for "
                 "them"));
    }
    nlohmann::ordered_json json = {{"bank", options_.bank},
                                   {"members", bank_.num_members()},
                                   {"keys", tally_.keys},
                                   {"bad_lines", reader.num_bad()},
                                   {"empty_lines", reader.num_empty()}};
    if (options_.per_member) {
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const MemberCount& member : BestMembers(tally_.per_member, options_.at_least.value_or(1),
                                                   options_.top.value_or(SIZE_MAX))) {
        const std::string& name = names_[member.member];
        if (options_.json) {
          list.push_back({{"name", name}, {"index", member.member}, {"keys", member.keys}});
        } else {
          out.Write(detail::StrCat(Printable(name), "\t", member.keys, "\n"));
        }
      }
      json["counts"] = list;
    } else {
      json["found"] = tally_.found;
      json["pairs"] = tally_.pairs;
    }
    if (options_.json) {
      out.Write(JsonText(json));
    } else if (options_.count) {
      const uint64_t selected = options_.invert ? tally_.keys - tally_.found : tally_.found;
      out.Write(detail::StrCat(selected, "/", tally_.keys, "\n"));
    }
  }

 private:
  const BankQueryOptions& options_;
  const FilterBank bank_;
  const Engine engine_;
  BankKeys keys_;
  std::vector<std::string> names_;  // element i: name of the member with index i
  Tally tally_;
};

int Run(const BankQueryOptions& options) {
  options.input.Check();
  if (!options.per_member && (options.at_least || options.top)) {
    throw Error(ErrorCode::kInvalidArgument, "--at-least and --top need --count-per-member");
  }
  std::vector<std::string> inputs = options.secret.And(options.input.paths);
  inputs.push_back(options.bank);
  CheckStandardOutputIsNoInput(inputs);
  const std::optional<uint64_t> input_bytes = options.input.TotalBytes();
  Query query(options, input_bytes);
  Output out;
  KeyReader reader(options.input, {.texts = true, .max_batch = query.MaxBatch()});
  const bool lines = options.WritesPairs() || options.invert;
  // No progress bar is shown if the lines go to a terminal, because both would mix.
  const bool quiet = options.run.quiet || (lines && os::IsTerminal(os::kStandardOutput));
  Progress progress("querying", Progress::Unit::kBytes, input_bytes.value_or(0), quiet);
  KeyBatch batch;
  for (uint64_t before = 0; reader.Next(batch); before = reader.bytes_read()) {
    query.Ask(batch, out);
    if (lines) out.Flush();  // slow input gets its answers without delay
    progress.Advance(reader.bytes_read() - before);
  }
  query.Report(reader, out);
  out.Close();
  reader.Conclude("", /*some_key=*/false);
  return kDone;
}

}  // namespace

Command AddBankQuery(const CommandLine& bank) {
  const CommandLine command =
      bank.AddCommand("query", "Find the members that may have keys of the input.");
  auto options = std::make_shared<BankQueryOptions>();
  command.Footer(std::string(kBankQueryFooter) + kVerifyHelp + "\n" + kKeyTypesHelp + "\n" +
                 kBankQueryExamples);
  command.Add("BANK", options->bank, "file saved by `tamis bank build`").Required();
  options->input.AddTo(command);
  options->form.AddTo(command);
  options->secret.AddTo(command);
  const Option per_member =
      command.AddFlag("--count-per-member", options->per_member, "lines NAME<tab>KEYS");
  command
      .Add("--at-least", options->at_least, ParsePositiveCount,
           "with --count-per-member: only members that may have N keys or more (default: 1)")
      .Type("N");
  command
      .Add("--top", options->top, ParsePositiveCount,
           "with --count-per-member: only the first N members")
      .Type("N");
  const Option invert = command.AddFlag("-v,--invert", options->invert,
                                        "write the keys that are certainly in no member");
  const Option count = command.AddFlag("-c,--count", options->count,
                                       "write FOUND/KEYS instead of lines: how many of the keys at "
                                       "least one member may have");
  command.AddFlag("--json", options->json, "write the counts in JSON");
  per_member.Excludes(invert).Excludes(count);
  options->open.AddTo(command);
  options->run.AddTo(command);
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
