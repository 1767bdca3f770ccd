// False-positive rates and sizes. The formulas are exact where the usual closed forms are not.
//
// The functions whose names end in Fpr return the probability that a filter with `keys` distinct
// keys answers "maybe" for a key that is not in it.
#ifndef TAMIS_FILTERS_SIZING_H_
#define TAMIS_FILTERS_SIZING_H_

#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis {

namespace cuckoo {
struct Geometry;
}  // namespace cuckoo

// The range of `fpr` in the options of filters.
inline constexpr double kMinFpr = 1e-12;
inline constexpr double kMaxFpr = 0.5;
// The false-positive rate of a Bloom filter whose options give none.
inline constexpr double kDefaultFpr = 0.01;

// ---- Split-block filters ----

// The number of keys in a block is Binomial(keys, 1 / num_blocks). A block with i keys passes an
// absent key with probability p = (1 - (1 - 1/32)^i)^8. The rate is the mean over i (Putze, Sanders
// and Singler, 2007, equation 3, for many blocks and one bit in each of eight 32-bit words).
//
// The eight bits follow from 32 bits of the hash. So an absent key also passes if one of the i keys
// has the same 32 bits, with probability i / 2^32. With more than 2^32 blocks, all keys of a block
// have some of these bits in common, and the probability is i * num_blocks / 2^64. Such keys matter
// for rates below about 1e-8. A rate below 2.4e-10 takes a block or more for each key. The formula
// of an unblocked filter, which Parquet writers commonly use, is 1.5 times too low at 1%.
//
// The rate is interpolated between whole numbers of keys. num_blocks >= 1.
// O(1 + sqrt(keys / num_blocks)).
double SplitBlockFpr(double keys, uint64_t num_blocks);

// Returns the smallest number of blocks, at least 1, for which SplitBlockFpr(capacity, blocks) <=
// fpr. Throws Error(kInvalidArgument) if `fpr` is out of range, or if the result exceeds
// split_block::kMaxBlocks (32 TiB).
uint64_t SplitBlockBlocks(uint64_t capacity, double fpr);

// Returns the largest number of keys, at least 1, for which SplitBlockFpr(keys, num_blocks) <= fpr.
// Throws Error(kInvalidArgument) if `num_blocks` is not in [1, split_block::kMaxBlocks], or if
// `fpr` is out of range.
uint64_t SplitBlockCapacity(uint64_t num_blocks, double fpr);

// Rounds `num_blocks` up to 1, 2, 3, or 4, 5, 6 or 7 times a power of two. The result is less than
// a quarter larger. Returns split_block::kMaxBlocks32 above 7 * 2^29. Filters of such sizes share
// the groups of a FilterBank. Throws Error(kInvalidArgument) if `num_blocks` is not in [1,
// split_block::kMaxBlocks32].
uint64_t BankBlocks(uint64_t num_blocks);

// Returns the number n of distinct keys whose insertion is expected to set `bits_set` bits of a
// filter. n = -32 z ln(1 - B / (256 z)) for B bits and z blocks. This is exact for Poisson block
// loads, because each key sets one of the 32 bits in each word. Infinite if every bit is set.
double SplitBlockEstimatedCount(uint64_t bits_set, uint64_t num_blocks);

// ---- Cuckoo filters, with fingerprints of 8, 12 or 16 bits ----

// A class of keys shares a fingerprint and two buckets. An absent key is a false positive if a key
// of its class is in the filter. There are (buckets / 2) F classes for F = 2^bits - 1 fingerprints.
// Each class has Poisson(2 keys / (buckets F)) keys, so the rate is 1 - exp(-2 keys / (buckets F)).
// To first order, this is 2 slots load / F (Fan et al., "Cuckoo Filter", CoNEXT 2014, section 5.1).
double CuckooFpr(int fingerprint_bits, double keys, uint64_t buckets);

// Returns the smallest table in which `capacity` distinct keys fit. The probability that a key does
// not fit is below one in a million. The load of the table is the load in cuckoo_filter.h, minus
// five standard deviations of the number of keys in a chunk. The table is larger if `fpr` requires
// a lower load. If `fpr` is 0, the rate does not matter. Throws Error(kInvalidArgument) for a
// width, `fpr` or result out of range.
cuckoo::Geometry CuckooGeometry(int fingerprint_bits, uint64_t capacity, double fpr = 0);

// Returns the largest table of at most `bytes`, with the smallest number of equal chunks. Throws
// Error(kInvalidArgument) for a width or size out of range.
cuckoo::Geometry CuckooGeometryOfBytes(int fingerprint_bits, uint64_t bytes);

// Returns the largest number of keys, at least 1, for which a table of this geometry is large
// enough by the rules of CuckooGeometry.
uint64_t CuckooCapacity(int fingerprint_bits, const cuckoo::Geometry& geometry, double fpr = 0);

// ---- Classic Bloom filters of m bits, of which each key sets k ----

// The rate is p + (1 - p) (1 - e^(-n/m^2)) with p = (1 - e^(-kn/m))^k for n keys (p: Bloom, 1970).
// The second term is the probability that the absent key has the same first position and step as
// one of the keys, and so the same bits. There are m^2 such pairs. This term matters for small
// filters at low rates. num_bits, num_hashes >= 1.
double BloomFpr(double keys, uint64_t num_bits, uint32_t num_hashes);

// Returns the smallest number of bits, in whole words of 64, for which BloomFpr with BloomHashes is
// at most `fpr` for `capacity` keys. The result is about -n ln p / ln^2 2, and about sqrt(n / p)
// for few keys. Throws Error(kInvalidArgument) if `fpr` is out of range, or if the result exceeds
// bloom::kMaxBits.
uint64_t BloomBits(uint64_t capacity, double fpr);

// Returns the k with the lowest rate: max(1, round(m/n ln 2)), at most bloom::kMaxHashes. If the
// first term of the rate is at most a hundredth of the second term for a smaller k, returns that k,
// because more hashes would not help. num_bits, capacity >= 1.
uint32_t BloomHashes(uint64_t num_bits, uint64_t capacity);

// Returns the largest number of keys, at least 1, for which BloomFpr with the best number of hashes
// is at most `fpr`. Throws Error(kInvalidArgument) if `num_bits` is not in [64, bloom::kMaxBits],
// or if `fpr` is out of range.
uint64_t BloomCapacity(uint64_t num_bits, double fpr);

// Returns the number of distinct keys whose insertion is expected to set B = `bits_set` bits:
// -(m/k) ln(1 - B/m) (Swamidass and Baldi, "Mathematical Correction for Fingerprint Similarity
// Measures to Improve Chemical Retrieval", 2007). Infinite if every bit is set.
double BloomEstimatedCount(uint64_t bits_set, uint64_t num_bits, uint32_t num_hashes);

// ---- Counting filters ----

// SplitBlockFpr with 16 counters in each word instead of 32 bits. num_blocks >= 1.
double CountingFpr(double keys, uint64_t num_blocks);

// SplitBlockBlocks for CountingFpr. The result is at most counting::kMaxBlocks (256 GiB).
uint64_t CountingBlocks(uint64_t capacity, double fpr);

// SplitBlockCapacity for CountingFpr.
uint64_t CountingCapacity(uint64_t num_blocks, double fpr);

// Returns the number n of distinct keys whose insertion is expected to leave B = `counters`
// counters of a filter other than 0: n = -16 z ln(1 - B / (128 z)) for z blocks. Infinite if no
// counter is 0.
double CountingEstimatedCount(uint64_t counters, uint64_t num_blocks);

}  // namespace tamis

#endif  // TAMIS_FILTERS_SIZING_H_
