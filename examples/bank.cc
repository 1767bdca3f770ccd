// Which of many sets may contain a key? Builds a filter for each of a thousand files, and queries
// all filters at once.
#include <tamis/bank/filter_bank.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// Returns the keys of file i, such as numbers of users.
std::vector<uint64_t> KeysOf(uint64_t file) {
  std::vector<uint64_t> keys(1000);
  for (uint64_t i = 0; i < keys.size(); ++i) keys[i] = 1000 * file + i;
  return keys;
}

void Require(bool condition) {
  if (!condition) std::exit(1);
}

}  // namespace

int main() {
  // One member for each file. For an unknown key, ten of a thousand members are expected to be
  // false positives.
  tamis::FilterBank bank({.false_members = 10, .members = 1000});
  for (uint64_t file = 0; file < 1000; ++file) {
    bank.Add("part-" + std::to_string(file), KeysOf(file));
  }
  bank.Flush();

  // Finds the files to read for one key.
  std::vector<uint64_t> row(bank.row_words());
  const size_t maybe = bank.Contains(uint64_t{123'456}, tamis::Bitmap(row));
  std::printf("%zu of %llu files may have the key\n", maybe,
              static_cast<unsigned long long>(bank.num_members()));
  Require(tamis::Bitmap(row).Test(bank.Find("part-123")->index) && maybe < 50);

  // Finds the files that may have most of many keys.
  const std::vector<uint64_t> keys = KeysOf(7);
  const std::vector<uint64_t> counts = bank.CountPerMember(keys);
  for (const tamis::MemberCount& best : tamis::BestMembers(counts, /*at_least=*/500, /*most=*/3)) {
    std::printf("%s: %llu keys\n", bank.NameOf(best.member).c_str(),
                static_cast<unsigned long long>(best.keys));
    Require(bank.NameOf(best.member) == "part-7");
  }

  // Replaces one member by another one. Save replaces the file of the bank as a whole, and Map maps
  // it without a copy.
  bank.Remove("part-7");
  bank.Add("part-1000", KeysOf(1000));
  bank.Save("example.bank");
  const tamis::FilterBank mapped = tamis::FilterBank::Map("example.bank");
  const auto hits = mapped.Select(std::vector<uint64_t>{1'000'001});
  bool found = false;
  for (const tamis::BankHit& hit : hits) found |= mapped.NameOf(hit.member) == "part-1000";
  Require(found && !mapped.Find("part-7"));
  std::remove("example.bank");
  return 0;
}
