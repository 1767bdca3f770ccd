#include "tamis/filters/sizing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

#include "core/src/filters/base/sizing_checks.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/layout/counting.h"
#include "tamis/layout/split_block.h"
#include "tamis/units.h"

namespace tamis {

namespace sb = split_block;

void detail::CheckFpr(double fpr) {
  if (fpr >= kMinFpr && fpr <= kMaxFpr) return;  // also false for NaN
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

// Returns the probability that an absent key passes a block of eight words, if each of `keys` keys
// took one slot in each word. `log_free` is ln(1 - 1/s) for s slots in a word. The slots depend on
// 32 bits of the hash. So the key also passes if another key has the same bits, with a probability
// of `same_slots` for each key. Does not use std::pow, because sizing a filter calls this some
// thousand times.
double PassesBlock(double keys, double log_free, double same_slots) {
  static_assert(sb::kWords == 8 && counting::kWords == 8);
  const double of_word = -std::expm1(keys * log_free);
  const double of_two = of_word * of_word;
  const double by_chance = of_two * of_two * (of_two * of_two);
  return by_chance + (1 - by_chance) * std::min(1.0, keys * same_slots);
}

constexpr double kSplitBlockSlots = 32;

// With more keys than this in a block, every slot is taken, except with a probability below 1e-17.
constexpr double kFullLoad = 1300;

// Returns the mean of passes(i) over the number i of keys in a block. ratio(i) must be the
// probability of i + 1 keys divided by the probability of i keys. Adds terms outwards from `mode`,
// the most likely number, until they are negligible.
template <typename Ratio, typename Passes>
double MeanOverLoads(double mode, const Ratio& ratio, const Passes& passes) {
  constexpr double kNegligible = 1e-25;
  double weights = 0, sum = 0;
  double weight = 1;
  for (double i = mode; weight > kNegligible; ++i) {
    weights += weight;
    sum += weight * passes(i);
    weight *= ratio(i);
  }
  weight = 1;
  for (double i = mode; i > 0; --i) {
    weight /= ratio(i - 1);
    if (weight <= kNegligible) break;
    weights += weight;
    sum += weight * passes(i - 1);
  }
  return sum / weights;
}

// `keys` must be a whole number.
double BlockedFprOfWhole(double keys, double blocks, double slots) {
  const double same_slots = std::max(0x1p-32, blocks * 0x1p-64);
  if (!(keys > 0)) return 0;
  if (keys / blocks > kFullLoad) return 1;
  const double log_free = std::log1p(-1 / slots);
  const auto passes = [&](double i) { return PassesBlock(i, log_free, same_slots); };
  if (blocks == 1) return passes(keys);
  const auto binomial = [&](double i) { return (keys - i) / (i + 1) / (blocks - 1); };
  return MeanOverLoads(std::floor((keys + 1) / blocks), binomial, passes);
}

double BlockedFpr(double keys, uint64_t num_blocks, double slots) {
  const auto blocks = static_cast<double>(num_blocks);
  const double whole = std::floor(keys);
  const double rate = BlockedFprOfWhole(whole, blocks, slots);
  if (!(keys > whole) || rate == 1) return rate;
  return rate + (keys - whole) * (BlockedFprOfWhole(whole + 1, blocks, slots) - rate);
}

using Fpr = double (*)(double keys, uint64_t num_blocks);

// A kind of filters that consist of blocks.
struct Blocked {
  const char* name;
  Fpr rate;
  uint64_t block_bytes;
  uint64_t max_blocks;
};
constexpr Blocked kSplitBlocks = {"split-block", SplitBlockFpr, sb::kBlockBytes, sb::kMaxBlocks};
constexpr Blocked kCounting = {"counting", CountingFpr, counting::kBlockBytes,
                               counting::kMaxBlocks};

// Returns the smallest number of blocks that hold `capacity` keys at the rate `fpr`.
uint64_t FewestBlocks(const Blocked& kind, uint64_t capacity, double fpr) {
  detail::CheckFpr(fpr);
  const double keys = static_cast<double>(capacity);
  if (const double lowest = kind.rate(keys, kind.max_blocks); lowest > fpr) {
    std::ostringstream message;
    message << "a " << kind.name << " filter cannot hold " << capacity
            << " keys at a false-positive rate of " << fpr << ": it has at most " << kind.max_blocks
            << " blocks (" << BytesText(static_cast<double>(kind.max_blocks * kind.block_bytes))
            << "), which give a rate of " << lowest;
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
  return detail::FirstThatHolds(1, kind.max_blocks,
                                [&](uint64_t blocks) { return kind.rate(keys, blocks) <= fpr; });
}

void CheckBlocks(uint64_t num_blocks, uint64_t max_blocks) {
  if (num_blocks >= 1 && num_blocks <= max_blocks) return;
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat(num_blocks, " blocks are out of range [1, ", max_blocks, "]"));
}

uint64_t MostKeys(const Blocked& kind, uint64_t num_blocks, double fpr) {
  detail::CheckFpr(fpr);
  CheckBlocks(num_blocks, kind.max_blocks);
  // With 1024 keys per block hardly a slot is free, and the rate is above any allowed one.
  return detail::LastThatHolds(1, 1024 * num_blocks, [&](uint64_t keys) {
    return kind.rate(static_cast<double>(keys), num_blocks) <= fpr;
  });
}

}  // namespace

double SplitBlockFpr(double keys, uint64_t num_blocks) {
  return BlockedFpr(keys, num_blocks, kSplitBlockSlots);
}

double detail::PoissonSplitBlockFpr(double keys, uint64_t num_blocks) {
  const double load = keys / static_cast<double>(num_blocks);
  if (!(load > 0)) return 0;
  if (load > kFullLoad) return 1;
  const auto poisson = [&](double i) { return load / (i + 1); };
  return MeanOverLoads(std::floor(load), poisson, [](double i) {
    return PassesBlock(i, std::log1p(-1 / kSplitBlockSlots), 0);
  });
}

uint64_t SplitBlockBlocks(uint64_t capacity, double fpr) {
  return FewestBlocks(kSplitBlocks, capacity, fpr);
}

uint64_t SplitBlockCapacity(uint64_t num_blocks, double fpr) {
  return MostKeys(kSplitBlocks, num_blocks, fpr);
}

uint64_t BankBlocks(uint64_t num_blocks) {
  CheckBlocks(num_blocks, sb::kMaxBlocks32);
  constexpr int kDigits = 3;  // the highest bits; all others become 0
  const int zeros = std::max(static_cast<int>(std::bit_width(num_blocks)) - kDigits, 0);
  const uint64_t step = uint64_t{1} << zeros;
  return std::min((num_blocks + step - 1) / step * step, sb::kMaxBlocks32);
}

double SplitBlockEstimatedCount(uint64_t bits_set, uint64_t num_blocks) {
  const double z = static_cast<double>(num_blocks);
  const double fill = static_cast<double>(bits_set) / (static_cast<double>(sb::kBlockBits) * z);
  return -32 * z * std::log1p(-fill);
}

double CountingFpr(double keys, uint64_t num_blocks) {
  return BlockedFpr(keys, num_blocks, counting::kWordCounters);
}

uint64_t CountingBlocks(uint64_t capacity, double fpr) {
  return FewestBlocks(kCounting, capacity, fpr);
}

uint64_t CountingCapacity(uint64_t num_blocks, double fpr) {
  return MostKeys(kCounting, num_blocks, fpr);
}

double CountingEstimatedCount(uint64_t counters, uint64_t num_blocks) {
  const double z = static_cast<double>(num_blocks);
  const double fill =
      static_cast<double>(counters) / (static_cast<double>(counting::kBlockCounters) * z);
  return -16 * z * std::log1p(-fill);
}

}  // namespace tamis
