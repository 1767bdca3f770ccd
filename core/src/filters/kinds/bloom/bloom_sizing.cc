// Sizes and rates of classic Bloom filters.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "core/src/filters/base/sizing_checks.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/layout/bloom.h"

namespace tamis {

namespace {

// The probability that an absent key finds all of its bits set by other keys.
double ByChance(double keys, double num_bits, double num_hashes) {
  return std::pow(-std::expm1(-num_hashes * keys / num_bits), num_hashes);
}

// The probability that another key has the same first position and step.
double SameWalk(double keys, double num_bits) { return -std::expm1(-keys / num_bits / num_bits); }

}  // namespace

double BloomFpr(double keys, uint64_t num_bits, uint32_t num_hashes) {
  const auto m = static_cast<double>(num_bits);
  const double by_chance = ByChance(keys, m, num_hashes);
  return by_chance + (1 - by_chance) * SameWalk(keys, m);
}

double detail::OldBloomFpr(double keys, uint64_t num_bits, uint32_t num_hashes) {
  return ByChance(keys, static_cast<double>(num_bits), num_hashes);
}

uint32_t BloomHashes(uint64_t num_bits, uint64_t capacity) {
  constexpr double kNegligible = 0.01;
  const auto m = static_cast<double>(num_bits);
  const auto n = static_cast<double>(capacity);
  const auto best = static_cast<uint32_t>(std::clamp(std::round(m / n * std::numbers::ln2), 1.0,
                                                     static_cast<double>(bloom::kMaxHashes)));
  for (uint32_t k = 1; k < best; ++k) {
    if (ByChance(n, m, k) <= kNegligible * SameWalk(n, m)) return k;
  }
  return best;
}

uint64_t BloomBits(uint64_t capacity, double fpr) {
  detail::CheckFpr(fpr);
  const double keys = static_cast<double>(std::max<uint64_t>(capacity, 1));
  const double ideal = -std::log(fpr) / (std::numbers::ln2 * std::numbers::ln2);  // m/n
  const double k = std::max(1.0, std::round(ideal * std::numbers::ln2));
  // BloomFpr solved for m/n.
  const double whole = -k / std::log1p(-std::pow(fpr, 1 / k));
  const double first =
      std::ceil(keys * std::max(ideal, whole) / static_cast<double>(bloom::kWordBits));
  constexpr uint64_t kMaxWords = bloom::kMaxBits / bloom::kWordBits;
  const auto is_enough = [&](uint64_t words) {
    const uint64_t bits = words * bloom::kWordBits;
    return BloomFpr(keys, bits, BloomHashes(bits, std::max<uint64_t>(capacity, 1))) <= fpr;
  };
  if (first > static_cast<double>(kMaxWords) || !is_enough(kMaxWords)) {
    std::ostringstream message;
    message << "a Bloom filter cannot hold " << capacity << " keys at a false-positive rate of "
            << fpr << ": it has at most " << bloom::kMaxBits
            << " bits (1 PiB), which give a rate of "
            << BloomFpr(keys, bloom::kMaxBits, BloomHashes(bloom::kMaxBits, capacity));
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
  // Finds the first size whose rate is low enough. At `most`, each of the two terms of the rate is
  // at most half the rate.
  const auto least = static_cast<uint64_t>(first);
  const double most = std::ceil(2 * first + std::sqrt(2 * keys / fpr) / bloom::kWordBits);
  const uint64_t words = detail::FirstThatHolds(
      least, static_cast<uint64_t>(std::min(most, static_cast<double>(kMaxWords))), is_enough);
  return words * bloom::kWordBits;
}

uint64_t BloomCapacity(uint64_t num_bits, double fpr) {
  detail::CheckFpr(fpr);
  if (num_bits < bloom::kWordBits || num_bits > bloom::kMaxBits) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat(num_bits, " bits are out of range [", bloom::kWordBits, ", ",
                               bloom::kMaxBits, "]"));
  }
  return detail::LastThatHolds(1, 2 * num_bits, [&](uint64_t keys) {
    return BloomFpr(static_cast<double>(keys), num_bits, BloomHashes(num_bits, keys)) <= fpr;
  });
}

double BloomEstimatedCount(uint64_t bits_set, uint64_t num_bits, uint32_t num_hashes) {
  const double m = static_cast<double>(num_bits);
  return -m / num_hashes * std::log1p(-static_cast<double>(bits_set) / m);
}

}  // namespace tamis
