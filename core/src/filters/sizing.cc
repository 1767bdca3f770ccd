#include "tamis/sizing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>
#include <string>

#include "core/src/filters/sizing_checks.h"
#include "tamis/error.h"
#include "tamis/layout/counting.h"
#include "tamis/layout/split_block.h"

namespace tamis {

namespace sb = split_block;

void detail::CheckFpr(double fpr) {
  if (fpr >= kMinFpr && fpr <= kMaxFpr) return;  // false for NaN, too
  std::ostringstream message;
  message << "false-positive rate " << fpr << " is out of range [" << kMinFpr << ", " << kMaxFpr
          << "]";
  throw Error(ErrorCode::kInvalidArgument, message.str());
}

double detail::FprOrDefault(const FilterOptions& options) {
  if (options.fpr == 0) return kDefaultFpr;
  CheckFpr(options.fpr);
  return options.fpr;
}

namespace {

// The rate of a filter of blocks of eight words, `word_slots` slots in each, one of which a key
// takes; by the mean number of keys in a block.
double BlockedFpr(double load, double word_slots) {
  if (!(load > 0)) return 0;
  // With more keys than this a word of 32 slots has every one taken but for a chance below 1e-17.
  constexpr double kFull = 1300;
  if (load > kFull) return 1;

  // The weight of i keys relative to that of the most likely number, outwards from it until nothing
  // is left to add; the rate is the weighted mean.
  double weights = 0, sum = 0;
  const double log_free = std::log1p(-1 / word_slots);
  const auto add = [&](double i, double weight) {
    weights += weight;
    sum += weight * std::pow(-std::expm1(i * log_free), sb::kWords);
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

using Fpr = double (*)(double keys, uint64_t num_blocks);

// The fewest blocks that hold `capacity` keys at the rate asked for. Both blocked kinds have at
// most sb::kMaxBlocks.
uint64_t FewestBlocks(Fpr rate, const char* kind, uint64_t block_bytes, uint64_t capacity,
                      double fpr) {
  detail::CheckFpr(fpr);
  const double keys = static_cast<double>(capacity);
  if (rate(keys, sb::kMaxBlocks) > fpr) {
    std::ostringstream message;
    message << "a " << kind << " filter cannot hold " << capacity
            << " keys at a false-positive rate of " << fpr << ": it has at most " << sb::kMaxBlocks
            << " blocks (" << ((block_bytes << 32) >> 30) << " GiB)";
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
  return detail::FirstThatHolds(1, sb::kMaxBlocks,
                                [&](uint64_t blocks) { return rate(keys, blocks) <= fpr; });
}

uint64_t MostKeys(Fpr rate, uint64_t num_blocks, double fpr) {
  detail::CheckFpr(fpr);
  if (num_blocks < 1 || num_blocks > sb::kMaxBlocks) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(num_blocks) +
                                                 " blocks are out of range [1, " +
                                                 std::to_string(sb::kMaxBlocks) + "]");
  }
  // 1024 keys a block leave hardly a slot free: more than any rate allowed.
  return detail::LastThatHolds(1, 1024 * num_blocks, [&](uint64_t keys) {
    return rate(static_cast<double>(keys), num_blocks) <= fpr;
  });
}

}  // namespace

double SplitBlockFpr(double keys, uint64_t num_blocks) {
  return BlockedFpr(keys / static_cast<double>(num_blocks), 32);
}

uint64_t SplitBlockBlocks(uint64_t capacity, double fpr) {
  return FewestBlocks(SplitBlockFpr, "split-block", sb::kBlockBytes, capacity, fpr);
}

uint64_t SplitBlockCapacity(uint64_t num_blocks, double fpr) {
  return MostKeys(SplitBlockFpr, num_blocks, fpr);
}

uint64_t BankBlocks(uint64_t num_blocks) {
  if (num_blocks < 1 || num_blocks > sb::kMaxBlocks) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(num_blocks) +
                                                 " blocks are out of range [1, " +
                                                 std::to_string(sb::kMaxBlocks) + "]");
  }
  constexpr int kDigits = 3;  // the highest bits, all others are 0
  const int zeros = std::max(static_cast<int>(std::bit_width(num_blocks)) - kDigits, 0);
  const uint64_t step = uint64_t{1} << zeros;
  return std::min((num_blocks + step - 1) / step * step, sb::kMaxBlocks);
}

double SplitBlockEstimatedCount(uint64_t bits_set, uint64_t num_blocks) {
  const double z = static_cast<double>(num_blocks);
  const double fill = static_cast<double>(bits_set) / (static_cast<double>(sb::kBlockBits) * z);
  return -32 * z * std::log1p(-fill);
}

double CountingFpr(double keys, uint64_t num_blocks) {
  return BlockedFpr(keys / static_cast<double>(num_blocks), counting::kWordCounters);
}

uint64_t CountingBlocks(uint64_t capacity, double fpr) {
  return FewestBlocks(CountingFpr, "counting", counting::kBlockBytes, capacity, fpr);
}

uint64_t CountingCapacity(uint64_t num_blocks, double fpr) {
  return MostKeys(CountingFpr, num_blocks, fpr);
}

double CountingEstimatedCount(uint64_t counters, uint64_t num_blocks) {
  const double z = static_cast<double>(num_blocks);
  const double fill =
      static_cast<double>(counters) / (static_cast<double>(counting::kBlockCounters) * z);
  return -16 * z * std::log1p(-fill);
}

}  // namespace tamis
