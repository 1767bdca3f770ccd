// The join kernels of every backend give the answers of the portable kernels, and the portable
// kernels match their definition.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/keys.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis::join_test {

using detail::ValueList;
using detail::ValueRange;

class JoinKernelTest : public BackendTest {
 protected:
  // Calls the kernel of both backends, and compares all words and the word after them.
  template <typename Call>
  std::vector<uint64_t> Same(size_t n, const Call& call) {
    std::vector<uint64_t> got(BitmapWords(n) + 1, ~uint64_t{0}), want = got;
    call(kernels().join, got.data());
    call(portable().join, want.data());
    EXPECT_EQ(got, want) << n;
    EXPECT_EQ(got.back(), ~uint64_t{0});
    return got;
  }
};

constexpr size_t kSizes[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 1000, 4099};

// Values around both ends of a range, and any others.
std::vector<uint64_t> Around(const ValueRange& range, size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<uint64_t> values(n);
  for (uint64_t& value : values) {
    switch (random.Below(4)) {
      case 0:
        value = random();
        break;
      case 1:
        value = range.low - 3 + random.Below(6);
        break;
      case 2:
        value = range.low + range.span - 3 + random.Below(6);
        break;
      default:
        value = range.low + (range.span == ~uint64_t{0} ? random() : random.Below(range.span + 1));
    }
  }
  return values;
}

TEST_P(JoinKernelTest, InRange_EqualsPortable) {
  for (const ValueRange range :
       {ValueRange{0, 0}, ValueRange{0, ~uint64_t{0}}, ValueRange{~uint64_t{0} - 9, 20},
        ValueRange{5, uint64_t{1} << 63}, ValueRange{uint64_t{1} << 63, 7}}) {
    for (const size_t n : kSizes) {
      const std::vector<uint64_t> values = Around(range, n, n);
      const auto bits = Same(n, [&](const detail::JoinKernels& join, uint64_t* out) {
        join.in_range(range, values.data(), n, out);
      });
      for (size_t i = 0; i < n; ++i) {
        EXPECT_EQ((bits[i / 64] >> (i % 64)) & 1, values[i] - range.low <= range.span);
      }
    }
  }
}

TEST_P(JoinKernelTest, InBitmap_EqualsPortable) {
  for (const ValueRange range :
       {ValueRange{0, 0}, ValueRange{3, 62}, ValueRange{~uint64_t{0} - 9, 63},
        ValueRange{uint64_t{1} << 63, 64}, ValueRange{1000, 100'000}}) {
    GuardedArray<uint64_t> words((range.span + 2 + 63) / 64, 0);
    Random random(1);
    for (uint64_t& word : words.span()) word = random();
    const uint64_t past = range.span + 1;
    words.span()[past / 64] &= (uint64_t{1} << (past % 64)) - 1;
    // A kernel may add zeros to the last values, so the value 0 is in if the range has it.
    const uint64_t zero = 0 - range.low;
    if (zero <= range.span) words.span()[zero / 64] |= uint64_t{1} << (zero % 64);
    for (const size_t n : kSizes) {
      const std::vector<uint64_t> values = Around(range, n, n);
      const auto bits = Same(n, [&](const detail::JoinKernels& join, uint64_t* out) {
        join.in_bitmap(words.span().data(), range, values.data(), n, out);
      });
      for (size_t i = 0; i < n; ++i) {
        const uint64_t bit = values[i] - range.low;
        const bool in = bit <= range.span && ((words.span()[bit / 64] >> (bit % 64)) & 1) != 0;
        EXPECT_EQ((bits[i / 64] >> (i % 64)) & 1, in);
      }
    }
  }
}

TEST_P(JoinKernelTest, InList_EqualsPortable) {
  const std::vector<uint64_t> slots = RandomValues(1024, /*seed=*/3);
  for (const int shift : {54, 60, 63}) {
    const ValueList list = {slots.data(), 0x9E3779B97F4A7C15, shift};
    for (const size_t n : kSizes) {
      std::vector<uint64_t> values = RandomValues(n, n);
      for (size_t i = 0; i < n; i += 3) values[i] = slots[i % slots.size()];
      const auto bits = Same(n, [&](const detail::JoinKernels& join, uint64_t* out) {
        join.in_list(list, values.data(), n, out);
      });
      for (size_t i = 0; i < n; ++i) {
        const bool in = slots[(values[i] * list.multiplier) >> shift] == values[i];
        EXPECT_EQ((bits[i / 64] >> (i % 64)) & 1, in);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, JoinKernelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::join_test
