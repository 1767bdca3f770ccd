#include "tamis/sizing.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>
#include <string>

#include "core/src/sizing_checks.h"
#include "tamis/bloom.h"
#include "tamis/error.h"
#include "tamis/split_block.h"

namespace tamis {

namespace sb = split_block;

void CheckFpr(double fpr) {
  if (fpr >= kMinFpr && fpr <= kMaxFpr) return;  // false for NaN, too
  std::ostringstream message;
  message << "false-positive rate " << fpr << " is out of range [" << kMinFpr << ", " << kMaxFpr
          << "]";
  throw Error(ErrorCode::kInvalidArgument, message.str());
}

double SplitBlockFpr(double keys, uint64_t num_blocks) {
  const double load = keys / static_cast<double>(num_blocks);
  if (!(load > 0)) return 0;
  // A word of a block with more keys than this has every bit set but for a chance below 1e-17.
  constexpr double kFull = 1300;
  if (load > kFull) return 1;

  // The weight of i keys relative to that of the most likely number, outwards from it until nothing
  // is left to add; the rate is the weighted mean.
  double weights = 0, sum = 0;
  const auto add = [&](double i, double weight) {
    weights += weight;
    sum += weight * std::pow(-std::expm1(i * std::log1p(-1.0 / 32)), sb::kWords);
  };
  constexpr double kNegligible = 1e-25;
  const double mode = std::floor(load);
  double weight = 1;
  for (double i = mode; weight > kNegligible; ++i) {
    add(i, weight);
    weight *= load / (i + 1);
  }
  weight = 1;
  for (double i = mode; i > 0 && weight > kNegligible; --i) {
    weight *= i / load;
    add(i - 1, weight);
  }
  return sum / weights;
}

uint64_t SplitBlockBlocks(uint64_t capacity, double fpr) {
  CheckFpr(fpr);
  const double keys = static_cast<double>(capacity);
  if (SplitBlockFpr(keys, sb::kMaxBlocks) > fpr) {
    std::ostringstream message;
    message << "a split-block filter cannot hold " << capacity
            << " keys at a false-positive rate of " << fpr << ": it has at most " << sb::kMaxBlocks
            << " blocks (128 GiB)";
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
  return FirstThatHolds(1, sb::kMaxBlocks,
                        [&](uint64_t blocks) { return SplitBlockFpr(keys, blocks) <= fpr; });
}

uint64_t SplitBlockCapacity(uint64_t num_blocks, double fpr) {
  CheckFpr(fpr);
  if (num_blocks < 1 || num_blocks > sb::kMaxBlocks) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(num_blocks) +
                                                 " blocks are out of range [1, " +
                                                 std::to_string(sb::kMaxBlocks) + "]");
  }
  // 1024 keys a block leave hardly a bit unset: more than any rate allowed.
  return LastThatHolds(1, 1024 * num_blocks, [&](uint64_t keys) {
    return SplitBlockFpr(static_cast<double>(keys), num_blocks) <= fpr;
  });
}

double SplitBlockEstimatedCount(uint64_t bits_set, uint64_t num_blocks) {
  const double z = static_cast<double>(num_blocks);
  const double fill = static_cast<double>(bits_set) / (static_cast<double>(sb::kBlockBits) * z);
  return -32 * z * std::log1p(-fill);
}

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
  CheckFpr(fpr);
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
  CheckFpr(fpr);
  if (num_bits < bloom::kWordBits || num_bits > bloom::kMaxBits) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(num_bits) + " bits are out of range [" +
                                                 std::to_string(bloom::kWordBits) + ", " +
                                                 std::to_string(bloom::kMaxBits) + "]");
  }
  return LastThatHolds(1, 2 * num_bits, [&](uint64_t keys) {
    return BloomFpr(static_cast<double>(keys), num_bits, BloomHashes(num_bits, keys)) <= fpr;
  });
}

double BloomEstimatedCount(uint64_t bits_set, uint64_t num_bits, uint32_t num_hashes) {
  const double m = static_cast<double>(num_bits);
  return -m / num_hashes * std::log1p(-static_cast<double>(bits_set) / m);
}

}  // namespace tamis
