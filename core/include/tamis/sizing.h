// False-positive rates and sizes, exact where a closed form misleads.
#ifndef TAMIS_SIZING_H_
#define TAMIS_SIZING_H_

#include <cstdint>

namespace tamis {

// Limits of what the sizing functions accept.
inline constexpr double kMinFpr = 1e-12;
inline constexpr double kMaxFpr = 0.5;

// The probability that a split-block filter of `num_blocks` blocks holding `keys` distinct keys
// answers "maybe" for a key that is not in it.
//
// A block holds Poisson(keys / num_blocks) keys; one with i keys passes an absent key with
// (1 - (1 - 1/32)^i)^8. The sum over i is the rate (Putze, Sanders and Singler, 2007, equation 3,
// with one bit in each of eight 32-bit words). The formula of an unblocked filter, which Parquet
// writers commonly use, is 1.5 times too low at 1%.
// num_blocks >= 1. O(1 + sqrt(keys / num_blocks)).
double SplitBlockFpr(double keys, uint64_t num_blocks);

// The fewest blocks for which SplitBlockFpr(capacity, blocks) <= fpr; at least 1.
// Throws Error(kInvalidArgument) unless fpr is in [kMinFpr, kMaxFpr] and the result is at most
// split_block::kMaxBlocks (128 GiB).
uint64_t SplitBlockBlocks(uint64_t capacity, double fpr);

// The most keys for which SplitBlockFpr(keys, num_blocks) <= fpr; at least 1. Throws as above.
uint64_t SplitBlockCapacity(uint64_t num_blocks, double fpr);

// The number of distinct keys whose insertion leaves `bits_set` of a filter's bits set, in
// expectation: n = -32 z ln(1 - B / (256 z)) for z blocks, exact for Poisson block loads because
// each key sets one bit of 32 in each word. Infinite when every bit is set.
double SplitBlockEstimatedCount(uint64_t bits_set, uint64_t num_blocks);

}  // namespace tamis

#endif  // TAMIS_SIZING_H_
