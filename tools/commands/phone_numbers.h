// All 11-digit phone numbers in an order that looks random, and the place of each number in it.
#ifndef TAMIS_TOOLS_COMMANDS_PHONE_NUMBERS_H_
#define TAMIS_TOOLS_COMMANDS_PHONE_NUMBERS_H_

#include <cstdint>
#include <numeric>
#include <span>

namespace tamis::tools {

namespace phone {

inline constexpr uint64_t kFirst = 10'000'000'000;
inline constexpr uint64_t kCount = 90'000'000'000;
inline constexpr uint64_t kStart = 31'415'926'535;
inline constexpr uint64_t kStep = 55'623'058'987;  // coprime to kCount: 2, 3, 5
static_assert(std::gcd(kStep, kCount) == 1);

// Returns a * b mod kCount, for a and b below kCount. No step needs more than 56 bits.
constexpr uint64_t MultiplyMod(uint64_t a, uint64_t b) {
  constexpr int kHalf = 18;  // kCount has 37 bits
  const uint64_t high = (a * (b >> kHalf) % kCount) << kHalf;
  return (high + a * (b & ((1 << kHalf) - 1))) % kCount;
}

// Returns the inverse of kStep modulo kCount. By Euler's theorem it is kStep^(phi - 1), where phi =
// kCount (1 - 1/2) (1 - 1/3) (1 - 1/5).
constexpr uint64_t InverseStep() {
  uint64_t result = 1;
  uint64_t power = kStep;
  for (uint64_t exponent = kCount / 30 * 8 - 1; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = MultiplyMod(result, power);
    power = MultiplyMod(power, power);
  }
  return result;
}
inline constexpr uint64_t kInverseStep = InverseStep();
static_assert(MultiplyMod(kStep, kInverseStep) == 1);

}  // namespace phone

// A bijection between [0, kCount) and the numbers [10^10, 10^11): number i is 10^10 + (i * kStep +
// kStart) mod kCount. The first N numbers in this order serve as the set of known numbers: a number
// is known if IndexOf returns less than N.
//
// Fill computes each number by one addition. kStep is near the golden section of the range, so for
// every N, the first N numbers are spread evenly over the range. The filter hashes the numbers, so
// their order does not have to be random.
struct PhoneNumbers {
  static constexpr uint64_t kFirst = phone::kFirst;
  static constexpr uint64_t kCount = phone::kCount;

  // Returns number `index`. Requires index < kCount.
  static uint64_t At(uint64_t index) {
    return kFirst + (phone::MultiplyMod(index, phone::kStep) + phone::kStart) % kCount;
  }

  // Returns the index of `number`, which must be in [kFirst, kFirst + kCount).
  static uint64_t IndexOf(uint64_t number) {
    return phone::MultiplyMod(number - kFirst + kCount - phone::kStart, phone::kInverseStep);
  }

  // Sets numbers[j] to At(first + j). Requires first + numbers.size() <= kCount.
  static void Fill(uint64_t first, std::span<uint64_t> numbers);
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_PHONE_NUMBERS_H_
