// Compares filter banks with the separate filters that they are made of.
#include "tamis/bank/filter_bank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/layout/bank.h"
#include "tamis/physical_memory.h"
#include "tests/core/filter_bank_test_util.h"
#include "tests/test_util.h"

namespace tamis::filter_bank_test {

ErrorCode CodeOf(const auto& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::kIo;
}

TEST(BankBlocksTest, IsALadder) {
  std::vector<uint64_t> steps = {1, 2, 3};
  for (uint64_t power = 1; power <= uint64_t{1} << 29; power *= 2) {
    for (uint64_t digit = 4; digit < 8; ++digit) steps.push_back(digit * power);
  }
  steps.push_back(split_block::kMaxBlocks32);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(BankBlocks(steps[i]), steps[i]);
    if (i > 0) {
      EXPECT_EQ(BankBlocks(steps[i - 1] + 1), steps[i]);
    }
  }
  EXPECT_EQ(CodeOf([] { BankBlocks(0); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf([] { BankBlocks(split_block::kMaxBlocks32 + 1); }), ErrorCode::kInvalidArgument);
}

TEST(FilterBankTest, EmptyBankHasNoAnswers) {
  const FilterBank bank;
  const std::vector<uint64_t> keys = RandomKeys(100, /*seed=*/1);
  std::vector<uint64_t> none;
  EXPECT_EQ(bank.row_words(), 0u);
  EXPECT_EQ(bank.Contains(keys, Bitmap(none)), 0u);
  EXPECT_EQ(bank.Contains(uint64_t{1}, Bitmap(none)), 0u);
  EXPECT_TRUE(bank.Select(keys).empty());
  EXPECT_TRUE(bank.CountPerMember(keys).empty());
  EXPECT_EQ(bank.expected_false_members(), 0);
  EXPECT_TRUE(bank.members().empty());
}

// A model test: after each change of a random sequence, every answer equals the answer of the
// separate filters.
TEST(FilterBankTest, AnyChangesLeaveTheAnswersOfTheFilters) {
  for (const uint64_t seed : {1, 2, 3}) {
    Random random(seed);
    BankModel model({.buffer_bytes = seed == 1 ? uint64_t{64} << 20 : 20'000 * seed});
    for (int step = 0; step < 24; ++step) {
      switch (random.Below(7)) {
        case 0:
        case 1:
          model.AddMany(random.Below(700), random);
          break;
        case 2:
          model.RemoveSome(random);
          break;
        case 3:
          model.bank().Flush();
          break;
        case 4:
          model.MergeAnother(random);
          break;
        case 5:
          model.bank().Compact();
          break;
        default:
          model.AddMany(1, random);
          break;
      }
      model.ExpectEqual(random, step % 6 == 0 ? model.size() : 5);
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
    EXPECT_GT(model.size(), 100u);
    model.RemoveAll();
    model.bank().Compact();
    EXPECT_EQ(model.bank().bytes(), 0u);
  }
}

TEST(FilterBankTest, FiltersOfOneSizeFillWholeGroups) {
  FilterBank bank;
  Random random(/*seed=*/4);
  for (uint64_t i = 0; i < 1025; ++i) bank.Add(i, RandomFilter(4, random));
  ASSERT_EQ(bank.groups().size(), 2u);
  EXPECT_EQ(bank.groups()[1].members, 512u);
  EXPECT_EQ(bank.row_words(), 17u);
  EXPECT_EQ(bank.NameOf(1024), "1024");
  bank.Remove(3);
  EXPECT_EQ(CodeOf([&] { bank.NameOf(3); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { bank.NameOf(1025); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(bank.groups()[0].removed, 1u);
  bank.Flush();  // into the place of member 3
  EXPECT_EQ(bank.groups().size(), 2u);
  EXPECT_EQ(bank.NameOf(3), "1024");
  EXPECT_EQ(bank.groups()[0].removed, 0u);
}

// Groups of 1 to 100 blocks with a filter each, and filters that wait.
TEST(FilterBankTest, FewKeysShareOutTheGroups) {
  FilterBank bank;
  Random random(/*seed=*/9);
  for (uint64_t i = 1; i <= 100; ++i) bank.Add(i, RandomFilter(i, random));
  bank.Flush();
  for (uint64_t i = 101; i <= 170; ++i) bank.Add(i, RandomFilter(4, random));
  ASSERT_EQ(bank.groups().size(), 100u);
  const Engine engine({.threads = 4});
  for (const size_t n : {1, 5, 6, 63, 64, 65, 200, 1000}) {
    std::vector<uint64_t> keys(n);
    for (uint64_t& key : keys) key = random.Below(4000);
    std::vector<uint64_t> want(n * bank.row_words()), got(want.size(), 7);
    for (size_t i = 0; i < n; ++i) {
      const std::span row = std::span(want).subspan(i * bank.row_words(), bank.row_words());
      bank.Contains(keys[i], Bitmap(row));
    }
    const size_t found = bank.Contains(engine, keys, Bitmap(got));
    EXPECT_EQ(got, want) << n;
    EXPECT_EQ(found, bank.Select(keys).size()) << n;
    EXPECT_EQ(bank.Select(engine, keys), bank.Select(keys)) << n;
  }
}

TEST(FilterBankTest, CompactFillsGroupsAndDropsRemovedMembers) {
  FilterBank bank;
  Random random(/*seed=*/5);
  std::map<uint64_t, SplitBlockBloomFilter> filters;
  for (uint64_t i = 0; i < 3 * 512; ++i) {
    filters.emplace(i, RandomFilter(3, random));
    bank.Add(i, filters.at(i));
  }
  for (uint64_t i = 0; i < 3 * 512; ++i) {
    if (i % 2 == 0) bank.Remove(i);
  }
  EXPECT_EQ(bank.groups().size(), 3u);
  bank.Compact();
  ASSERT_EQ(bank.groups().size(), 2u);
  EXPECT_EQ(bank.groups()[0].members + bank.groups()[1].members, 3 * 256u);
  EXPECT_EQ(bank.groups()[0].removed + bank.groups()[1].removed, 0u);
  for (uint64_t i = 1; i < 3 * 512; i += 2) {
    ASSERT_TRUE(BitsEqual(bank.Extract(i), filters.at(i))) << i;
  }
}

TEST(FilterBankTest, MembersOfKeysAreSizedForTheRateAskedFor) {
  FilterBank bank({.false_members = 2, .members = 200});
  EXPECT_DOUBLE_EQ(bank.fpr(), 0.01);
  const std::vector<uint64_t> keys = RandomKeys(1000, /*seed=*/6);
  EXPECT_EQ(bank.Add("empty", std::vector<uint64_t>()).num_blocks, 1u);
  const FilterBank::Added added = bank.Add("a", keys);
  EXPECT_EQ(added.num_blocks, BankBlocks(SplitBlockBlocks(1000, 0.01)));
  EXPECT_FALSE(added.foreign_size);
  EXPECT_EQ(bank.Find("a")->inserted, 1000u);
  EXPECT_EQ(bank.Find("a")->key_types, KeyType::kInteger);
  EXPECT_FALSE(bank.Find("b").has_value());
  const double want = SplitBlockFpr(1000, added.num_blocks);
  EXPECT_NEAR(bank.expected_false_members(), want, 0.1 * want);
  bank.Flush();
  EXPECT_NEAR(bank.expected_false_members(), want, 0.1 * want);
  std::vector<uint64_t> row(bank.row_words());
  for (const uint64_t key : keys) {
    ASSERT_EQ(bank.Contains(key, Bitmap(row)), 1u);
    ASSERT_TRUE(Bitmap(row).Test(bank.Find("a")->index));
  }
}

TEST(FilterBankTest, SaysThatASizeIsForeign) {
  FilterBank bank;
  Random random(/*seed=*/7);
  EXPECT_TRUE(bank.Add("a", RandomFilter(9, random)).foreign_size);
  EXPECT_FALSE(bank.Add("b", RandomFilter(9, random)).foreign_size);
  EXPECT_FALSE(bank.Add("c", RandomFilter(8, random)).foreign_size);
  bank.Flush();
  EXPECT_FALSE(bank.Add("d", RandomFilter(9, random)).foreign_size);
  EXPECT_TRUE(bank.Add("e", RandomFilter(11, random)).foreign_size);
}

TEST(FilterBankTest, RefusesMismatchedFilters) {
  const auto make = [](const BankOptions& options) { FilterBank bank(options); };
  const auto invalid = ErrorCode::kInvalidArgument;
  EXPECT_EQ(CodeOf([&] { make({.fpr = 0.7}); }), invalid);
  EXPECT_EQ(CodeOf([&] { make({.fpr = std::nan("")}); }), invalid);
  EXPECT_EQ(CodeOf([&] { make({.false_members = 2}); }), invalid);
  EXPECT_EQ(CodeOf([&] { make({.members = 2}); }), invalid);
  EXPECT_EQ(CodeOf([&] { make({.false_members = -1, .members = 2}); }), invalid);
  EXPECT_EQ(CodeOf([&] { make({.fpr = 0.1, .false_members = 1, .members = 2}); }), invalid);

  FilterBank bank;
  Random random(/*seed=*/8);
  const SplitBlockBloomFilter filter = RandomFilter(2, random);
  bank.Add("a", filter);
  EXPECT_EQ(CodeOf([&] { bank.Add("a", filter); }), invalid);
  EXPECT_EQ(CodeOf([&] { bank.Add("", filter); }), invalid);
  EXPECT_EQ(CodeOf([&] { bank.Add(std::string(MemberName::kMaxBytes + 1, 'x'), filter); }),
            invalid);
  bank.Add(std::string(MemberName::kMaxBytes, 'x'), filter);
  const SplitBlockBloomFilter other({.bytes = 64, .hash = {HashKind::kXxh3, 1}});
  EXPECT_EQ(CodeOf([&] { bank.Add("b", other); }), ErrorCode::kIncompatible);
  EXPECT_EQ(CodeOf([&] { bank.Extract("b"); }), invalid);
  EXPECT_FALSE(bank.Remove("b"));

  FilterBank second({.hash = {HashKind::kXxh3, 1}});
  EXPECT_EQ(CodeOf([&] { bank.Merge(second); }), ErrorCode::kIncompatible);
  FilterBank third;
  third.Add("new", filter);
  third.Add("a", filter);
  EXPECT_EQ(CodeOf([&] { bank.Merge(third); }), invalid);
  EXPECT_EQ(CodeOf([&] { bank.Merge(bank); }), invalid);
  EXPECT_EQ(bank.num_members(), 2u);

  std::vector<uint64_t> row(bank.row_words());
  const std::vector<uint64_t> keys = {1, 2};
  EXPECT_EQ(CodeOf([&] { bank.Contains(keys, Bitmap(row)); }), invalid);
  EXPECT_EQ(CodeOf([&] { bank.Contains(uint64_t{1}, Bitmap({})); }), invalid);
}

// Two groups, each of which would fit into the memory of the machine, but not both together.
// Limited refuses to allocate such a group, so the test takes no memory.
class Limited : public std::pmr::memory_resource {
 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    if (bytes > uint64_t{1} << 30) throw std::bad_alloc();
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* p, size_t bytes, size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST(FilterBankTest, GroupsThatDoNotFitTogetherAreRefused) {
  // A group of this many blocks needs all memory.
  const uint64_t blocks = PhysicalMemory() / bank::kBlockBytes;
  if (blocks * 32 > uint64_t{256} << 20) GTEST_SKIP() << "a filter would take too much here";
  const auto refusal = [&](bool has_another) -> std::string {
    Limited memory;
    FilterBank bank({.memory = {.resource = &memory}, .buffer_bytes = 0});
    if (has_another) bank.Add("another", SplitBlockBloomFilter({.bytes = 32 * 10}));
    try {
      bank.Add("large", SplitBlockBloomFilter({.capacity = 1, .bytes = 32 * blocks}));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
      EXPECT_EQ(bank.num_members(), has_another ? 2u : 1u);  // as Add documents
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(refusal(false).find("has none left"), std::string::npos) << refusal(false);
  EXPECT_NE(refusal(true).find("may use"), std::string::npos) << refusal(true);
}

TEST(BestMembersTest, AreThoseWithTheMostKeys) {
  const std::vector<uint64_t> counts = {3, 0, 5, 3, 1, 5};
  const auto best = [&](uint64_t at_least, size_t most) {
    std::vector<uint64_t> members;
    for (const MemberCount& c : BestMembers(counts, at_least, most)) {
      EXPECT_EQ(c.keys, counts[c.member]);
      members.push_back(c.member);
    }
    return members;
  };
  EXPECT_EQ(best(1, 10), (std::vector<uint64_t>{2, 5, 0, 3, 4}));
  EXPECT_EQ(best(3, 3), (std::vector<uint64_t>{2, 5, 0}));
  EXPECT_EQ(best(6, 3), std::vector<uint64_t>());
  EXPECT_EQ(best(0, 10).size(), 6u);
}

}  // namespace tamis::filter_bank_test
