#include <memory>
#include <utility>

#include "tamis/bank/filter_bank.h"
#include "tamis/engine/engine.h"
#include "tests/campaigns/fault_filters.h"
#include "tests/campaigns/fault_operations.h"

namespace tamis::campaigns {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKeysPerMember = 300;

FilterBank BankOf(uint64_t members) {
  FilterBank bank;
  for (uint64_t i = 0; i < members; ++i) bank.Add(i, KeysOf(i * kKeysPerMember, kKeysPerMember));
  return bank;
}

struct Banks {
  explicit Banks(const fs::path& folder) : path(folder / "f.bank"), bank(BankOf(3)) {
    bank.Save(path);
    old_file = BytesOf(path.string());
    BankOf(5).Save(path);
    new_file = BytesOf(path.string());
    hits = bank.Select(asked);
  }

  // Checks that every member still has its keys.
  std::string Whole(const FilterBank& of) const {
    for (const BankMember& member : of.members()) {
      const uint64_t first = std::stoull(member.name) * kKeysPerMember;
      const std::vector<uint64_t> counts = of.CountPerMember(KeysOf(first, kKeysPerMember));
      if (counts[member.index] != kKeysPerMember) return "member " + member.name + " lost keys";
    }
    return "";
  }

  fs::path path;
  std::vector<uint64_t> asked = KeysOf(kKeysPerMember / 2, 2 * kKeysPerMember);
  FilterBank bank;
  std::string old_file, new_file;
  std::vector<BankHit> hits;
  std::optional<FilterBank> made;
  std::vector<BankHit> found;
};

}  // namespace

std::vector<Operation> BankOperations(const fs::path& folder) {
  const auto b = std::make_shared<Banks>(folder);
  const auto old_file = [b] { b->bank.Save(b->path); };
  const auto none = [] {};
  const auto clear = [b] {
    b->made.reset();
    b->found = {};
  };
  const auto changed = [b](const Ending&) {
    if (b->made->num_members() < 3) return std::string("members are lost");
    return b->Whole(*b->made);
  };
  const auto answered = [b](const Ending& ending) {
    if (!ending.threw && b->found != b->hits) return std::string("the answer is wrong");
    return b->Whole(b->bank);
  };
  const auto more = std::make_shared<FilterBank>(BankOf(5));
  std::vector<Operation> all;
  all.push_back({"bank: save", old_file, [b, more] { more->Save(b->path); },
                 [b](const Ending& ending) {
                   const std::string& want = ending.saved() ? b->new_file : b->old_file;
                   const bool right = BytesOf(b->path.string()) == want;
                   return std::string(right ? "" : "neither the old nor the new file");
                 },
                 clear});
  const auto opened = [b](const Ending& ending) {
    if (BytesOf(b->path.string()) != b->old_file) return std::string("the file has changed");
    if (ending.threw) return std::string();
    if (b->found != b->hits) return std::string("the answer is wrong");
    return b->Whole(*b->made);
  };
  all.push_back({"bank: load", old_file,
                 [b] {
                   b->made.emplace(FilterBank::Load(b->path));
                   b->found = b->made->Select(b->asked);
                 },
                 opened, clear});
  all.push_back({"bank: map", old_file,
                 [b] {
                   b->made.emplace(FilterBank::Map(b->path));
                   b->found = b->made->Select(b->asked);
                 },
                 opened, clear});
  all.push_back(
      {"bank: select", none, [b] { b->found = b->bank.Select(b->asked); }, answered, clear});
  all.push_back({"bank: select by an engine", none,
                 [b] {
                   const Engine engine({.threads = 2});
                   b->found = b->bank.Select(engine, b->asked);
                 },
                 answered, clear});
  const auto two = [b] { b->made.emplace(BankOf(3)); };
  all.push_back({"bank: add", two,
                 [b] { b->made->Add(7, KeysOf(7 * kKeysPerMember, kKeysPerMember)); }, changed,
                 clear});
  all.push_back({"bank: flush", two, [b] { b->made->Flush(); }, changed, clear});
  all.push_back({"bank: compact", two,
                 [b] {
                   b->made->Flush();
                   b->made->Compact();
                 },
                 changed, clear});
  return all;
}

}  // namespace tamis::campaigns
