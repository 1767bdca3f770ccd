// tamis bank info: describes a bank.
#include <tamis/bank/filter_bank.h>
#include <tamis/hash_kinds.h>
#include <tamis/key_types_text.h>
#include <tamis/layout/bank.h>
#include <tamis/layout/split_block.h>
#include <tamis/units.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/commands/bank.h"
#include "tools/options/exit_codes.h"
#include "tools/options/secret.h"
#include "tools/output/console.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/output_file.h"

namespace tamis::tools {
namespace {

constexpr char kBankInfoFooter[] =
    "A false member is reported for a key that it does not have. The expected number of false\n"
    "members is computed for a key that no member has. For this number, the whole file is read\n"
    "and verified. --header leaves the number out, and answers at once.\n"
    "\n"
    "Examples:\n"
    "  tamis bank info logs.bank\n"
    "  tamis bank info --json --members logs.bank\n";

struct BankInfoOptions {
  std::string file;
  SecretOptions secret;
  bool header = false;
  bool members = false;
  bool json = false;
};

nlohmann::ordered_json Describe(const BankInfoOptions& options) {
  const FilterBank bank =
      FilterBank::Map(options.file, {.verify = options.header ? Verify::kHeader : Verify::kFull,
                                     .secret = options.secret.Read()});
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const BankGroupInfo& group : bank.groups()) {
    groups.push_back({{"blocks", group.num_blocks},
                      {"filter_bytes", group.num_blocks * split_block::kBlockBytes},
                      {"members", group.members},
                      {"removed", group.removed},
                      {"bytes", group.bytes}});
  }
  nlohmann::ordered_json json = {{"file", options.file},
                                 {"members", bank.num_members()},
                                 {"bytes", bank.bytes()},
                                 {"hash", HashKindName(bank.hash().kind)}};
  if (!IsKeyed(bank.hash().kind)) json["seed"] = bank.hash().seed;
  KeyTypes types;
  uint64_t inserted = 0;
  nlohmann::ordered_json members = nlohmann::ordered_json::array();
  for (const BankMember& member : bank.members()) {
    types.Add(member.key_types);
    inserted += member.inserted;
    if (!options.members) continue;
    members.push_back({{"name", member.name},
                       {"index", member.index},
                       {"filter_bytes", member.num_blocks * split_block::kBlockBytes},
                       {"capacity", member.capacity},
                       {"inserted", member.inserted},
                       {"key_types", KeyTypesText(member.key_types)}});
  }
  json["key_types"] = KeyTypesText(types);
  json["inserted"] = inserted;
  if (!options.header) json["expected_false_members"] = bank.expected_false_members();
  json["groups"] = groups;
  if (options.members) json["member_list"] = members;
  return json;
}

std::string InfoText(const nlohmann::ordered_json& json) {
  const auto count = [](const nlohmann::ordered_json& of, const char* key) {
    return WithCommas(of[key].get<uint64_t>());
  };
  const auto bytes = [](const nlohmann::ordered_json& of, const char* key) {
    return BytesText(of[key].get<double>());
  };
  std::string text = Printable(json["file"].get<std::string>()) + "\n";
  text += Row("members", count(json, "members"));
  text += Row("bytes", count(json, "bytes") + " (" + bytes(json, "bytes") + ")");
  text += Row("hash", json["hash"].get<std::string>() +
                          (json.contains("seed") ? ", seed " + count(json, "seed") : ""));
  text += Row("keys", json["key_types"].get<std::string>());
  text += Row("inserted", count(json, "inserted") + " keys, duplicates included");
  if (json.contains("expected_false_members")) {
    text += Row("false members", Format("%.3g expected for a key that no member has",
                                        json["expected_false_members"].get<double>()));
  }
  size_t number = 0;
  for (const auto& group : json["groups"]) {
    text += Row(Format("group %zu", ++number),
                count(group, "members") + " of 512 filters of " + bytes(group, "filter_bytes") +
                    ", " + bytes(group, "bytes") +
                    (group["removed"] == 0 ? "" : ", removed " + count(group, "removed")));
  }
  if (!json.contains("member_list")) return text;
  for (const auto& member : json["member_list"]) {
    text += "  " + Printable(member["name"].get<std::string>()) + ": " + count(member, "inserted") +
            " keys in " + bytes(member, "filter_bytes") + "\n";
  }
  return text;
}

int Run(const BankInfoOptions& options) {
  CheckStandardOutputIsNoInput(options.secret.And({options.file}));
  const nlohmann::ordered_json json = Describe(options);
  Print(options.json ? JsonText(json) : InfoText(json));
  return kDone;
}

}  // namespace

Command AddBankInfo(const CommandLine& bank) {
  const CommandLine command = bank.AddCommand("info", "Describe a bank and its members.");
  auto options = std::make_shared<BankInfoOptions>();
  command.Footer(kBankInfoFooter);
  command.Add("BANK", options->file, "file saved by `tamis bank build`").Required();
  options->secret.AddTo(command);
  command.AddFlag("--header", options->header, "leave out the number that requires the whole file");
  command.AddFlag("--members", options->members, "list each member");
  command.AddFlag("--json", options->json, "a report in JSON");
  return {command, [options] { return Run(*options); }};
}

}  // namespace tamis::tools
