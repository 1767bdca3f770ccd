// The hash kernels of every backend give the hashes of the portable kernels.
// tests/core/hash_test.cc compares those with the xxHash library, and with SipHash as the paper
// defines it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis::hash_test {

class HashKernelTest : public BackendTest {};

std::vector<BatchSpec> AllSpecs() {
  std::vector<BatchSpec> specs(std::begin(kBatchSpecs), std::end(kBatchSpecs));
  for (const detail::Source source : {detail::Source::kSip13, detail::Source::kSip24,
                                      detail::Source::kXxh3Of4, detail::Source::kXxh64Of4}) {
    for (const uint64_t seed : {uint64_t{0}, 0x8123456789ABCDEF}) specs.push_back({source, seed});
  }
  return specs;
}

TEST_P(HashKernelTest, EqualsPortable) {
  std::vector<size_t> sizes(71);
  std::iota(sizes.begin(), sizes.end(), size_t{0});
  sizes.push_back(1000);
  for (const BatchSpec& spec : AllSpecs()) {
    for (const size_t n : sizes) {
      // All four pairs of slacks: for most n, both, one or none of input and output are aligned.
      for (const size_t in_slack : {0, 1}) {
        const GuardedArray<uint64_t> values(RandomValues(n, /*seed=*/n), in_slack);
        std::vector<uint64_t> want(n);
        portable().hash(spec.Make(values.data(), n), want.data());
        for (const size_t out_slack : {16, 17}) {
          const auto got = GuardedArray<uint64_t>::Output(n, out_slack);
          kernels().hash(spec.Make(values.data(), n), got.data());
          ASSERT_EQ(got.vector(), want)
              << spec << ", n = " << n << ", slacks " << in_slack << " and " << out_slack;
          ASSERT_TRUE(got.Intact()) << spec << ", n = " << n;
        }
        kernels().hash(spec.Make(values.data(), n), values.data());
        ASSERT_EQ(values.vector(), want) << spec << ", in place, n = " << n;
      }
    }
  }
}

// Returns a random length below 32 with `lanes` full lanes left, or any length from 32 on.
size_t LengthFor(detail::Xxh64Lanes lanes, Random& random) {
  if (lanes == detail::Xxh64Lanes::kAny) return 32 + random.Below(300);
  return 8 * static_cast<size_t>(lanes) + random.Below(8);
}

TEST_P(HashKernelTest, RestsOfStringsEqualPortable) {
  Random random(1);
  for (int lanes = 0; lanes <= static_cast<int>(detail::Xxh64Lanes::kAny); ++lanes) {
    const auto of = static_cast<detail::Xxh64Lanes>(lanes);
    for (size_t n = 0; n <= detail::Xxh64Rests::kMost; n += n < 40 ? 1 : 27) {
      // Unused elements may have any value.
      detail::Xxh64Rests rests;
      for (size_t i = 0; i < detail::Xxh64Rests::kMost; ++i) {
        const size_t length = LengthFor(of, random);
        rests.lengths[i] = length;
        rests.states[i] = random();
        for (auto& lane : rests.lanes) lane[i] = random();
        rests.last[i] = random() >> 1 >> (63 - 8 * (length % 8));
      }
      std::vector<uint64_t> want(n);
      portable().xxh64_rests(rests, of, n, want.data());
      const auto got = GuardedArray<uint64_t>::Output((n + 7) / 8 * 8, /*slack=*/16);
      kernels().xxh64_rests(rests, of, n, got.data());
      const std::vector<uint64_t> all = got.vector();
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(n);
      ASSERT_EQ(std::vector<uint64_t>(all.begin(), end), want)
          << "lanes " << lanes << ", n = " << n;
      ASSERT_TRUE(got.Intact()) << "lanes " << lanes << ", n = " << n;
    }
  }
}

// Classes with lengths of their own, without lengths, and of all lengths.
constexpr detail::LengthClasses kClasses[] = {detail::LengthClasses({3, 8, 16, 32, 64, 96, 128}),
                                              detail::LengthClasses({0, 1, 2, 3, 127, 128, 254}),
                                              detail::LengthClasses({7, 7, 7, 50, 50, 254, 254})};

TEST_P(HashKernelTest, StringsAreSortedByClassOfLength) {
  Random random(2);
  for (const detail::LengthClasses& classes : kClasses) {
    for (size_t n = 0; n <= detail::kStringsAtOnce; n += n < 70 ? 1 : 31) {
      for (const size_t below : {1, 10, 60, 256}) {
        const GuardedArray<uint8_t> lengths{std::vector<uint8_t>(detail::kStringsAtOnce)};
        for (size_t i = 0; i < detail::kStringsAtOnce; ++i) {
          lengths.data()[i] = static_cast<uint8_t>(random.Below(below));
        }
        std::vector<std::vector<uint8_t>> want(detail::LengthClasses::kCount);
        for (size_t i = 0; i < n; ++i) {
          const auto& longest = classes.longest;
          const auto of = std::lower_bound(longest.begin(), longest.end(), lengths.data()[i]);
          want[static_cast<size_t>(of - longest.begin())].push_back(static_cast<uint8_t>(i));
        }
        detail::SortedStrings sorted;
        kernels().sort_by_length(classes, lengths.data(), n, sorted);
        for (size_t c = 0; c < want.size(); ++c) {
          const uint8_t* const numbers = sorted.numbers[c];
          ASSERT_EQ(std::vector<uint8_t>(numbers, numbers + sorted.counts[c]), want[c])
              << "class " << c << ", n = " << n << ", lengths below " << below;
        }
      }
    }
  }
}

TEST_P(HashKernelTest, LastStepsOfXxh3EqualPortable) {
  Random random(3);
  for (size_t n = 0; n <= detail::kStringsAtOnce; n += n < 40 ? 1 : 27) {
    const std::vector<uint64_t> sums = RandomValues(n, /*seed=*/n);
    std::vector<uint8_t> lengths(detail::kStringsAtOnce);
    for (uint8_t& length : lengths) length = static_cast<uint8_t>(random.Below(256));
    std::vector<uint64_t> want = sums;
    portable().end_xxh3(lengths.data(), n, want.data());
    for (const size_t slack : {0, 1}) {
      const GuardedArray<uint64_t> got(sums, slack);
      kernels().end_xxh3(lengths.data(), n, got.data());
      ASSERT_EQ(got.vector(), want) << "n = " << n << ", slack " << slack;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, HashKernelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::hash_test
