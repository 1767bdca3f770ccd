#include "tests/core/filter_bank_test_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tamis/engine/engine.h"

namespace tamis {

SplitBlockBloomFilter RandomFilter(uint64_t num_blocks, Random& random, const HashSpec& hash) {
  SplitBlockBloomFilter filter({.capacity = 1 + random.Below(1000),
                                .bytes = num_blocks * split_block::kBlockBytes,
                                .hash = hash});
  std::vector<uint64_t> keys(random.Below(40 * num_blocks));
  for (uint64_t& key : keys) key = random.Below(4000);
  if (random.Below(2) == 0) {
    filter.Insert(Hashes{keys});
  } else {
    filter.Insert(keys);
  }
  return filter;
}

bool BitsEqual(const SplitBlockBloomFilter& a, const SplitBlockBloomFilter& b) {
  return std::ranges::equal(a.payload(), b.payload()) && a.hash() == b.hash() &&
         a.capacity() == b.capacity() && a.inserted_count() == b.inserted_count() &&
         a.key_types() == b.key_types();
}

void BankModel::AddMany(size_t n, Random& random) {
  constexpr uint64_t kSizes[] = {1, 2, 3, 4, 4, 4, 5, 9};
  for (size_t i = 0; i < n; ++i) {
    const std::string name = NewName();
    SplitBlockBloomFilter filter = RandomFilter(kSizes[random.Below(8)], random, options_.hash);
    bank_.Add(name, filter);
    filters_.emplace(name, std::move(filter));
  }
}

void BankModel::RemoveSome(Random& random) {
  const uint64_t of = 1 + random.Below(4);
  for (auto i = filters_.begin(); i != filters_.end();) {
    if (random.Below(of + 1) != 0) {
      ++i;
      continue;
    }
    ASSERT_TRUE(bank_.Remove(i->first));
    i = filters_.erase(i);
  }
}

void BankModel::RemoveAll() {
  for (const auto& [name, filter] : filters_) ASSERT_TRUE(bank_.Remove(name));
  filters_.clear();
}

void BankModel::MergeAnother(Random& random) {
  BankModel other(options_);
  other.next_ = next_;
  other.AddMany(random.Below(900), random);
  if (random.Below(2) == 0) other.RemoveSome(random);
  if (random.Below(2) == 0) other.bank_.Flush();
  next_ = other.next_;
  bank_.Merge(other.bank_);
  filters_.merge(other.filters_);
}

void BankModel::ExpectEqual(Random& random, size_t extracted) {
  ExpectEqual(bank_, random, extracted);
}

void BankModel::ExpectEqual(const FilterBank& bank, Random& random, size_t extracted) const {
  ASSERT_EQ(bank.num_members(), filters_.size());
  const std::vector<BankMember> members = bank.members();
  ASSERT_EQ(members.size(), filters_.size());
  std::vector<uint64_t> keys(random.Below(3) == 0 ? 1 : 150 + random.Below(300));
  for (uint64_t& key : keys) key = random.Below(4000);
  std::vector<uint8_t> valid(keys.size() / 8 + 1, 0xFF);
  if (random.Below(2) == 0) std::ranges::generate(valid, [&] { return uint8_t(random()); });
  const Keys batch = Keys(keys).WithValidity(valid.data());

  // The answers of the filters.
  const size_t stride = bank.row_words();
  std::vector<uint64_t> want(keys.size() * stride), counts(64 * stride);
  for (const BankMember& member : members) {
    const auto found = filters_.find(member.name);
    ASSERT_NE(found, filters_.end()) << member.name;
    ASSERT_EQ(bank.NameOf(member.index), member.name);
    ASSERT_EQ(bank.Find(member.name)->index, member.index);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!batch.IsValid(i) || !found->second.Contains(keys[i])) continue;
      want[i * stride + member.index / 64] |= uint64_t{1} << (member.index % 64);
      ++counts[member.index];
    }
  }
  std::vector<BankHit> hits;
  for (size_t i = 0; i < keys.size(); ++i) {
    for (const BankMember& member : members) {
      if (((want[i * stride + member.index / 64] >> (member.index % 64)) & 1) != 0) {
        hits.push_back({i, member.index});
      }
    }
  }

  static const Engine engine({.threads = 3});
  std::vector<uint64_t> got(want.size(), 7);
  ASSERT_EQ(bank.Contains(batch, Bitmap(got)), hits.size());
  ASSERT_EQ(got, want);
  std::ranges::fill(got, 7);
  ASSERT_EQ(bank.Contains(engine, batch, Bitmap(got)), hits.size());
  ASSERT_EQ(got, want);
  ASSERT_EQ(bank.Select(batch), hits);
  ASSERT_EQ(bank.Select(engine, batch), hits);
  ASSERT_EQ(bank.CountPerMember(batch), counts);
  ASSERT_EQ(bank.CountPerMember(engine, batch), counts);
  std::vector<uint64_t> row(stride, 7);
  for (size_t i = 0; i < keys.size(); i += 29) {
    if (!batch.IsValid(i)) continue;
    bank.Contains(keys[i], Bitmap(row));
    ASSERT_TRUE(std::equal(row.begin(), row.end(), want.begin() + long(i * stride)));
  }
  for (size_t i = 0; i < std::min(extracted, members.size()); ++i) {
    const size_t at = extracted >= members.size() ? i : random.Below(members.size());
    const std::string& name = members[at].name;
    ASSERT_TRUE(BitsEqual(bank.Extract(name), filters_.at(name))) << name;
  }
}

}  // namespace tamis
