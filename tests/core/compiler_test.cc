#include "tamis/detail/compiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace tamis::detail {
namespace {

// Numbers whose sums and products are just below or above the limits, and random numbers.
std::vector<int64_t> Numbers() {
  std::vector<int64_t> numbers = {0, 1, 3, 1'000'000'000, 86'400'000'000'000};
  for (const int bits : {31, 32, 33, 62}) {
    for (const int64_t more : {-1, 0, 1}) numbers.push_back((int64_t{1} << bits) + more);
  }
  numbers.push_back(std::numeric_limits<int64_t>::max());
  std::mt19937_64 random(1);
  for (int i = 1; i < 64; ++i) numbers.push_back(static_cast<int64_t>(random() >> i));
  for (size_t i = 0, n = numbers.size(); i < n; ++i) numbers.push_back(~numbers[i]);
  return numbers;
}

// Computes the high half of a product as on paper, with digits of 32 bits.
uint64_t HighProductOnPaper(uint64_t a, uint64_t b) {
  constexpr uint64_t kDigit = 0xFFFFFFFF;
  const uint64_t low = (a & kDigit) * (b & kDigit);
  const uint64_t middle = (a >> 32) * (b & kDigit);
  const uint64_t other = (a & kDigit) * (b >> 32);
  const uint64_t carry = ((low >> 32) + (middle & kDigit) + (other & kDigit)) >> 32;
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32) + carry;
}

TEST(CompilerTest, HighProduct_OfAnyNumbers_IsThatOnPaper) {
  static_assert(HighProduct(~uint64_t{0}, ~uint64_t{0}) == ~uint64_t{0} - 1);
  for (const int64_t a : Numbers()) {
    for (const int64_t b : Numbers()) {
      const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
      const uint64_t high = HighProductOnPaper(x, y);
      ASSERT_EQ(HighProduct(x, y), high) << x << " * " << y;
      // A negative factor is less by 2^64 than its bits as an unsigned number.
      const uint64_t less = (a < 0 ? y : 0) + (b < 0 ? x : 0);
      ASSERT_EQ(SignedHighProduct(a, b), static_cast<int64_t>(high - less)) << a << " * " << b;
    }
  }
}

TEST(CompilerTest, AddOverflows_AnyNumbers_ComparesWithTheLimits) {
  for (const int64_t a : Numbers()) {
    for (const int64_t b : Numbers()) {
      int64_t sum = 7;
      const bool overflows = b < 0 ? a < std::numeric_limits<int64_t>::min() - b
                                   : a > std::numeric_limits<int64_t>::max() - b;
      ASSERT_EQ(AddOverflows(a, b, &sum), overflows) << a << " + " << b;
      ASSERT_EQ(sum, static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)));
    }
  }
}

TEST(CompilerTest, MultiplyOverflows_AnyNumbers_ComparesTheHighHalf) {
  for (const int64_t a : Numbers()) {
    for (const int64_t b : Numbers()) {
      int64_t product = 7;
      const auto low = static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      const bool fits = SignedHighProduct(a, b) == (low < 0 ? -1 : 0);
      ASSERT_EQ(MultiplyOverflows(a, b, &product), !fits) << a << " * " << b;
      ASSERT_EQ(product, low) << a << " * " << b;
    }
  }
}

TEST(CompilerTest, ByteSwap_AnyNumber_ReversesItsBytes) {
  for (const int64_t number : Numbers()) {
    auto bytes = std::bit_cast<std::array<uint8_t, 8>>(number);
    std::reverse(bytes.begin(), bytes.end());
    EXPECT_EQ(ByteSwap(static_cast<uint64_t>(number)), std::bit_cast<uint64_t>(bytes));
    const auto small = static_cast<uint32_t>(number);
    auto few = std::bit_cast<std::array<uint8_t, 4>>(small);
    std::reverse(few.begin(), few.end());
    EXPECT_EQ(ByteSwap(small), std::bit_cast<uint32_t>(few));
  }
}

TEST(CompilerTest, Prefetch_OfAnInvalidAddress_DoesNothing) {
  for (const auto address : {uintptr_t{0}, uintptr_t{64}, ~uintptr_t{0}}) {
    PrefetchRead(reinterpret_cast<const void*>(address));
    PrefetchReadToL2(reinterpret_cast<const void*>(address));
    PrefetchWrite(reinterpret_cast<const void*>(address));
  }
}

TEST(CompilerTest, NoUniqueAddress_OfAnEmptyMember_TakesNoMemory) {
  struct Empty {};
  struct Both {
    int number;
    TAMIS_NO_UNIQUE_ADDRESS Empty empty;
  };
  EXPECT_EQ(sizeof(Both), sizeof(int));
}

}  // namespace
}  // namespace tamis::detail
