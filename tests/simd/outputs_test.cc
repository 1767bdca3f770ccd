// The output stage and the whole-filter kernels of every backend: bits to bytes and to indices,
// counting, merging.
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/keys.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis::outputs_test {

class OutputKernelTest : public BackendTest {};

// Returns bitmaps of n bits: none set, all set, and various shares between. Bits past n are zero.
std::vector<std::vector<uint64_t>> Bitmaps(size_t n) {
  std::vector<std::vector<uint64_t>> bitmaps;
  for (const uint64_t percent : {0, 1, 10, 50, 90, 99, 100}) {
    Random random(1000 * n + percent);
    std::vector<uint64_t> bits(BitmapWords(n));
    for (size_t i = 0; i < n; ++i) {
      bits[i / 64] |= uint64_t{random.Below(100) < percent} << (i % 64);
    }
    bitmaps.push_back(bits);
  }
  return bitmaps;
}

TEST_P(OutputKernelTest, BytesAreZeroOrOneForEveryBit) {
  for (const size_t n : TestSizes()) {
    for (const std::vector<uint64_t>& bitmap : Bitmaps(n)) {
      const GuardedArray<uint64_t> bits(bitmap);
      std::vector<uint8_t> want(n);
      for (size_t i = 0; i < n; ++i) want[i] = (bitmap[i / 64] >> (i % 64)) & 1;
      for (const size_t slack : {64, 65, 67}) {
        const auto got = GuardedArray<uint8_t>::Output(n, slack);
        kernels().bits_to_bytes(bits.data(), n, got.data());
        ASSERT_EQ(got.vector(), want) << "n = " << n << ", slack " << slack;
        ASSERT_TRUE(got.Intact()) << "n = " << n << ", slack " << slack;
      }
    }
  }
}

// `out` has n elements. A backend may write all of them, but nothing past them.
template <typename Index>
void ExpectIndices(size_t (*kernel)(const uint64_t*, size_t, uint64_t, Index*),
                   const std::vector<uint64_t>& bitmap, size_t n, uint64_t first) {
  std::vector<Index> want;
  for (size_t i = 0; i < n; ++i) {
    if ((bitmap[i / 64] >> (i % 64)) & 1) want.push_back(static_cast<Index>(first + i));
  }
  const GuardedArray<uint64_t> bits(bitmap);
  for (const size_t slack : {32, 33}) {
    const auto out = GuardedArray<Index>::Output(n, slack);
    const size_t found = kernel(bits.data(), n, first, out.data());
    ASSERT_EQ(found, want.size()) << "n = " << n << ", first = " << first;
    ASSERT_TRUE(std::equal(want.begin(), want.end(), out.data()))
        << "n = " << n << ", first = " << first;
    ASSERT_TRUE(out.Intact()) << "n = " << n << ", slack " << slack;
  }
}

TEST_P(OutputKernelTest, Indices32ListTheOnes) {
  for (const size_t n : TestSizes()) {
    for (const std::vector<uint64_t>& bitmap : Bitmaps(n)) {
      for (const uint64_t first : {uint64_t{0}, uint64_t{12345}, (uint64_t{1} << 32) - n}) {
        ExpectIndices(kernels().bits_to_indices32, bitmap, n, first);
      }
    }
  }
}

TEST_P(OutputKernelTest, Indices64ListTheOnesAlsoAcross32Bits) {
  for (const size_t n : TestSizes()) {
    for (const std::vector<uint64_t>& bitmap : Bitmaps(n)) {
      for (const uint64_t first : {uint64_t{0}, (uint64_t{1} << 32) - n / 2, uint64_t{1} << 32,
                                   (uint64_t{1} << 63) - n / 3}) {
        ExpectIndices(kernels().bits_to_indices64, bitmap, n, first);
      }
    }
  }
}

TEST_P(OutputKernelTest, PopCountCountsEveryWord) {
  for (size_t n = 0; n <= 70; ++n) {
    for (const size_t slack : {0, 1}) {
      const GuardedArray<uint64_t> words(RandomValues(n, /*seed=*/n), slack);
      uint64_t want = 0;
      for (const uint64_t word : words.span()) want += std::popcount(word);
      ASSERT_EQ(kernels().popcount(words.data(), n), want) << "n = " << n;
    }
  }
  const std::vector<uint64_t> ones(100'000, ~uint64_t{0});
  EXPECT_EQ(kernels().popcount(ones.data(), ones.size()), 6'400'000u);
}

TEST_P(OutputKernelTest, MergeIsTheUnion) {
  std::vector<size_t> sizes = TestSizes();
  for (size_t n = 0; n <= 70; ++n) sizes.push_back(n);
  for (const size_t n : sizes) {
    const std::vector<uint64_t> a = RandomValues(n, /*seed=*/2 * n);
    const std::vector<uint64_t> b = RandomValues(n, /*seed=*/2 * n + 1);
    std::vector<uint64_t> want(n);
    for (size_t i = 0; i < n; ++i) want[i] = a[i] | b[i];
    for (const size_t slack : {8, 9}) {
      const GuardedArray<uint64_t> into(a, slack);
      const GuardedArray<uint64_t> from(b);
      kernels().merge(into.data(), from.data(), n);
      ASSERT_EQ(into.vector(), want) << "n = " << n;
      ASSERT_EQ(from.vector(), b) << "n = " << n;
      ASSERT_TRUE(into.Intact() && from.Intact()) << "n = " << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, OutputKernelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::outputs_test
