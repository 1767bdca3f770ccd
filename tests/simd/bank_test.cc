// The bank kernels of every backend give the same answers, counts and rows as the portable kernels,
// and the portable kernels match their definition.
#include "tamis/layout/bank.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis::bank_test {

using detail::BankRows;

constexpr uint64_t kMembers = bank::kGroupMembers;
using Mask = std::vector<uint64_t>;

class BankKernelTest : public BackendTest {
 protected:
  const detail::BankKernels& bank_kernels() const { return kernels().bank; }
  const detail::BankKernels& oracle() const { return portable().bank; }
};

// Rows at a multiple of 64 bytes. Seven of eight bits are set, so an AND of eight rows has a third
// of its bits set.
class Rows : public GuardedArray<uint64_t> {
 public:
  explicit Rows(uint64_t num_blocks)
      : GuardedArray(num_blocks * bank::kBlockRows * bank::kRowWords, 0) {}

  void Randomize(uint64_t seed) {
    Random random(seed);
    for (uint64_t& word : span()) word = random() | random() | random();
  }
};

bool BitOf(const uint64_t* words, uint64_t i) { return ((words[i / 64] >> (i % 64)) & 1) != 0; }

Mask RandomMask(Random& random) {
  Mask mask(bank::kRowWords);
  for (uint64_t& word : mask) {
    const uint64_t kind = random.Below(3);
    word = kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : random();
  }
  return mask;
}

TEST_P(BankKernelTest, LookUpEqualsPortable) {
  const std::vector<uint64_t> sizes = {1, 2, 3, 5, 40};
  std::vector<std::unique_ptr<Rows>> rows;
  std::vector<Mask> live;
  Random random(/*seed=*/1);
  for (const uint64_t blocks : sizes) {
    rows.push_back(std::make_unique<Rows>(blocks));
    rows.back()->Randomize(/*seed=*/blocks);
    live.push_back(RandomMask(random));
  }
  live[0].assign(bank::kRowWords, ~uint64_t{0});
  for (size_t num_groups = 0; num_groups <= sizes.size(); ++num_groups) {
    std::vector<BankRows> groups;
    for (size_t g = 0; g < num_groups; ++g) {
      groups.push_back({rows[g]->data(), sizes[g], live[g].data()});
    }
    const size_t stride = bank::kRowWords * num_groups + num_groups % 2;
    for (const BatchSpec& spec : kBatchSpecs) {
      for (const size_t n : {0, 1, 2, 7, 127, 128, 129, 300}) {
        const std::vector<uint64_t> values = RandomValues(n, /*seed=*/n);
        const detail::Batch batch = spec.Make(values.data(), n);
        std::vector<uint64_t> want(n * stride, 7), got(n * stride, 7);
        oracle().look_up(groups.data(), num_groups, batch, want.data(), stride);
        bank_kernels().look_up(groups.data(), num_groups, batch, got.data(), stride);
        ASSERT_EQ(got, want) << num_groups << " groups, " << spec << ", n = " << n;
      }
    }
  }
}

TEST_P(BankKernelTest, CountEqualsPortable) {
  Random random(/*seed=*/2);
  for (const size_t words : {1, 3, 7, 8, 9, 16, 21}) {
    for (const size_t n : {0, 1, 2, 254, 255, 256, 511, 700}) {
      const size_t stride = words + n % 3;
      GuardedArray<uint64_t> bits(n * stride);
      for (uint64_t& word : bits.span()) word = random() | random();
      std::vector<uint64_t> want(64 * words, 5), got(64 * words, 5);
      oracle().count(bits.data(), n, stride, words, want.data());
      bank_kernels().count(bits.data(), n, stride, words, got.data());
      ASSERT_EQ(got, want) << words << " words, " << n << " rows";
    }
  }
}

TEST_P(BankKernelTest, TransposeEqualsPortable) {
  Random random(/*seed=*/3);
  for (const uint64_t blocks : {1, 2, 3, 4, 7, 9}) {
    for (int round = 0; round < 6; ++round) {
      Mask mask = RandomMask(random);
      if (round == 0) mask.assign(bank::kRowWords, ~uint64_t{0});
      std::vector<std::unique_ptr<GuardedArray<uint64_t>>> filters;
      std::vector<const uint64_t*> pointers(kMembers, nullptr);
      for (uint64_t c = 0; c < kMembers; ++c) {
        if (!BitOf(mask.data(), c)) continue;
        filters.push_back(std::make_unique<GuardedArray<uint64_t>>(4 * blocks));
        for (uint64_t& word : filters.back()->span()) word = random();
        pointers[c] = filters.back()->data();
      }
      Rows want(blocks), got(blocks);
      want.Randomize(/*seed=*/round);
      got.Randomize(/*seed=*/round);
      oracle().transpose(pointers.data(), mask.data(), blocks, want.data());
      bank_kernels().transpose(pointers.data(), mask.data(), blocks, got.data());
      ASSERT_EQ(got.vector(), want.vector()) << blocks << " blocks, round " << round;
      ASSERT_TRUE(got.Intact());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, BankKernelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

// The definition: each member is a filter, and row j contains bit j of every filter.
TEST(PortableBankTest, RowsAreBitsOfFilters) {
  constexpr uint64_t kBlocks = 3;
  const detail::Kernels& kernels = *FindBackend("portable").kernels;
  Random random(/*seed=*/4);
  const Mask mask = {~uint64_t{0}, random(), 0, 1, uint64_t{1} << 63, random(), random(), 0};
  std::vector<std::vector<uint64_t>> filters(kMembers);
  std::vector<const uint64_t*> pointers(kMembers, nullptr);
  for (uint64_t c = 0; c < kMembers; ++c) {
    for (uint64_t i = 0; i < 4 * kBlocks; ++i) filters[c].push_back(random() | random());
    if (BitOf(mask.data(), c)) pointers[c] = filters[c].data();
  }
  Rows rows(kBlocks);
  rows.Randomize(/*seed=*/5);
  const std::vector<uint64_t> before = rows.vector();
  kernels.bank.transpose(pointers.data(), mask.data(), kBlocks, rows.data());
  for (uint64_t j = 0; j < kBlocks * bank::kBlockRows; ++j) {
    for (uint64_t c = 0; c < kMembers; ++c) {
      const bool want = BitOf(mask.data(), c) ? BitOf(filters[c].data(), j)
                                              : BitOf(before.data() + j * bank::kRowWords, c);
      ASSERT_EQ(BitOf(rows.data() + j * bank::kRowWords, c), want) << "row " << j << ", " << c;
    }
  }
  // A lookup gives the answer of each filter.
  const std::vector<uint64_t> hashes = RandomValues(200, /*seed=*/6);
  const BankRows group = {rows.data(), kBlocks, mask.data()};
  std::vector<uint64_t> bits(hashes.size() * bank::kRowWords);
  const detail::Batch batch = detail::HashBatch(hashes.data(), hashes.size());
  kernels.bank.look_up(&group, 1, batch, bits.data(), bank::kRowWords);
  for (size_t i = 0; i < hashes.size(); ++i) {
    for (uint64_t c = 0; c < kMembers; ++c) {
      const bool want = pointers[c] != nullptr &&
                        kernels.split_block.contains_one(
                            reinterpret_cast<const uint32_t*>(pointers[c]), kBlocks, hashes[i]);
      ASSERT_EQ(BitOf(bits.data() + i * bank::kRowWords, c), want) << "key " << i << ", " << c;
    }
  }
}

}  // namespace tamis::bank_test
