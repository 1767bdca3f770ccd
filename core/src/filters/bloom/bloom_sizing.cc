// Sizes and rates of classic Bloom filters.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>
#include <string>

#include "core/src/filters/sizing_checks.h"
#include "tamis/error.h"
#include "tamis/layout/bloom.h"
#include "tamis/sizing.h"

namespace tamis {

double BloomFpr(double keys, uint64_t num_bits, uint32_t num_hashes) {
  const double k = num_hashes;
  return std::pow(-std::expm1(-k * keys / static_cast<double>(num_bits)), k);
}

uint32_t BloomHashes(uint64_t num_bits, uint64_t capacity) {
  const double best =
      static_cast<double>(num_bits) / static_cast<double>(capacity) * std::numbers::ln2;
  return static_cast<uint32_t>(
      std::clamp(std::round(best), 1.0, static_cast<double>(bloom::kMaxHashes)));
}

uint64_t BloomBits(uint64_t capacity, double fpr) {
  detail::CheckFpr(fpr);
  const double keys = static_cast<double>(std::max<uint64_t>(capacity, 1));
  const double ideal = -std::log(fpr) / (std::numbers::ln2 * std::numbers::ln2);  // m/n
  const double k = std::max(1.0, std::round(ideal * std::numbers::ln2));
  // BloomFpr solved for m/n.
  const double whole = -k / std::log1p(-std::pow(fpr, 1 / k));
  const double bits = keys * std::max(ideal, whole);
  const double words = std::ceil(bits / static_cast<double>(bloom::kWordBits));
  constexpr uint64_t kMaxWords = bloom::kMaxBits / bloom::kWordBits;
  if (words > static_cast<double>(kMaxWords)) {
    std::ostringstream message;
    message << "a Bloom filter cannot hold " << capacity << " keys at a false-positive rate of "
            << fpr << ": it has at most " << bloom::kMaxBits << " bits (1 PiB)";
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
  return static_cast<uint64_t>(words) * bloom::kWordBits;
}

uint64_t BloomCapacity(uint64_t num_bits, double fpr) {
  detail::CheckFpr(fpr);
  if (num_bits < bloom::kWordBits || num_bits > bloom::kMaxBits) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(num_bits) + " bits are out of range [" +
                                                 std::to_string(bloom::kWordBits) + ", " +
                                                 std::to_string(bloom::kMaxBits) + "]");
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
