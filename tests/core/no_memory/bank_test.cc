// Filter banks in a process that runs out of memory: after a failed change, the bank answers
// queries for all its members. Also tests how much memory the library allocates for a file that
// claims a large bank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bank/src/bank_file.h"
#include "tamis/bank/bank_reader.h"
#include "tamis/bank/filter_bank.h"
#include "tamis/error.h"
#include "tests/core/no_memory/failing_new.h"

namespace tamis::bank_test {

using Filters = std::map<std::string, SplitBlockBloomFilter>;

// Returns a name that is too long for the inline buffer of std::string.
std::string NameOf(int i) { return "a member whose name takes memory " + std::to_string(i); }

SplitBlockBloomFilter FilterOf(uint64_t num_blocks, int i) {
  SplitBlockBloomFilter filter({.capacity = 10, .bytes = 32 * num_blocks});
  for (uint64_t key = 0; key < 5 * num_blocks; ++key) {
    filter.Insert(static_cast<uint64_t>(i) * 100 + key);
  }
  return filter;
}

// Makes members [first, end), of 1 to `sizes` blocks.
Filters SomeFilters(int first, int end, int sizes) {
  Filters filters;
  for (int i = first; i < end; ++i) {
    filters.emplace(NameOf(i), FilterOf(static_cast<uint64_t>(1 + i % sizes), i));
  }
  return filters;
}

void AddAll(const Filters& filters, FilterBank& bank) {
  for (const auto& [name, filter] : filters) bank.Add(name, filter);
}

// Expects all members in `there`, and possibly some of `added`, each once, with the bits and the
// answers of its filter.
void ExpectHas(const FilterBank& bank, const Filters& there, const Filters& added) {
  const std::vector<BankMember> members = bank.members();
  ASSERT_EQ(members.size(), bank.num_members());
  std::map<std::string, uint64_t> indexes;
  std::vector<uint64_t> row(bank.row_words());
  for (const BankMember& member : members) {
    ASSERT_TRUE(indexes.emplace(member.name, member.index).second) << member.name;
    const auto found = bank.Find(member.name);
    ASSERT_TRUE(found.has_value()) << member.name;
    ASSERT_EQ(found->index, member.index) << member.name;
    const Filters& from = there.contains(member.name) ? there : added;
    const auto filter = from.find(member.name);
    ASSERT_NE(filter, from.end()) << member.name;
    ASSERT_TRUE(std::ranges::equal(bank.Extract(member.name).payload(), filter->second.payload()));
  }
  for (const auto& [name, filter] : there) ASSERT_TRUE(indexes.contains(name)) << name;
  for (uint64_t key = 0; key < 3000; key += 101) {
    bank.Contains(key, Bitmap(row));
    for (const auto& [name, index] : indexes) {
      const SplitBlockBloomFilter& filter =
          (there.contains(name) ? there : added).find(name)->second;
      ASSERT_EQ(((row[index / 64] >> (index % 64)) & 1) != 0, filter.Contains(key)) << name;
    }
  }
}

// Makes a bank and changes it, once for each allocation of the change that can fail. Beyond a
// limit, only some allocations are tried. Returns how many failed.
int FailuresOf(const std::function<FilterBank()>& make,
               const std::function<void(FilterBank&)>& change, const Filters& there,
               const Filters& added) {
  constexpr int kAll = 40, kStep = 29;
  for (int n = 0, failed = 0;; n += n < kAll ? 1 : kStep, ++failed) {
    FilterBank bank = make();
    failures = 0;
    later_ones_fail = true;
    allocations_left = n;
    try {
      change(bank);
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    }
    allocations_left = -1;
    SCOPED_TRACE("allocation " + std::to_string(n));
    ExpectHas(bank, there, added);
    bank.Compact();
    ExpectHas(bank, there, added);
    if (failures == 0 || testing::Test::HasFatalFailure()) return failed;
  }
}

TEST(BankWithoutMemoryTest, ChangesThatFailLeaveABank) {
  for (const int members : {0, 511}) {
    const Filters there = SomeFilters(0, members, 1), added = SomeFilters(members, members + 1, 1);
    const auto make = [&] {
      FilterBank bank;
      AddAll(there, bank);
      return bank;
    };
    EXPECT_GT(FailuresOf(
                  make, [&](FilterBank& bank) { AddAll(added, bank); }, there, added),
              3);
  }
  const Filters there = SomeFilters(0, 40, 4);
  const auto make = [&] {
    FilterBank bank;
    AddAll(there, bank);
    return bank;
  };
  EXPECT_GT(FailuresOf(make, [](FilterBank& bank) { bank.Flush(); }, there, {}), 10);
}

TEST(BankWithoutMemoryTest, MergingThatFailsLeavesABank) {
  const Filters there = SomeFilters(0, 20, 1), added = SomeFilters(100, 630, 1);
  FilterBank other;  // one full group, and another
  AddAll(added, other);
  other.Flush();
  const auto make = [&] {
    FilterBank bank;
    AddAll(there, bank);
    return bank;
  };
  EXPECT_GT(FailuresOf(
                make, [&](FilterBank& bank) { bank.Merge(other); }, there, added),
            50);
}

TEST(BankWithoutMemoryTest, CompactingThatFailsLosesNothing) {
  const Filters all = SomeFilters(0, 900, 1);
  Filters there = SomeFilters(0, 900, 1);
  std::vector<std::string> gone;  // two of three, in both groups
  for (int i = 0; i < 900; ++i) {
    if (i % 3 != 0) gone.push_back(NameOf(i));
  }
  for (const std::string& name : gone) there.erase(name);
  const auto make = [&] {
    FilterBank bank;
    AddAll(all, bank);
    bank.Flush();
    for (const std::string& name : gone) bank.Remove(name);
    return bank;
  };
  EXPECT_GT(FailuresOf(make, [](FilterBank& bank) { bank.Compact(); }, there, {}), 20);
}

// A group without members takes 144 bytes in the tables of a file, and its rows need not exist.
TEST(BankWithoutMemoryTest, GroupsTakeMemoryForTheirMembers) {
  constexpr uint64_t kGroups = 2000;
  detail::BankFile file;
  file.fpr = 0.01;
  file.groups.resize(kGroups);
  file.pages.resize(kGroups);
  for (detail::BankFile::Group& group : file.groups) {
    group.num_blocks = 1;
    group.live[7] = group.filled[7] = uint64_t{1} << 63;
    group.members.Put(511, {std::to_string(&group - file.groups.data()), 1, 0, {}});
  }
  const detail::SealedBank sealed = detail::SealBank(file);
  const uint64_t tables_at = detail::kBankPayloadAt * (1 + kGroups);
  const auto read = [&](std::span<const BankRead> reads) {
    for (const BankRead& one : reads) {
      const std::byte* const from =
          one.offset == 0 ? sealed.start.data() : sealed.tables.data() + (one.offset - tables_at);
      std::memcpy(one.out.data(), from, one.out.size());
    }
  };
  allocated_bytes = 0;
  const BankReader reader(tables_at + sealed.tables.size(), read);
  EXPECT_EQ(reader.num_members(), kGroups);
  EXPECT_LT(allocated_bytes, kGroups * 1000);  // one of 512 members took 28 KiB for itself
}

}  // namespace tamis::bank_test
