// False-positive rates and sizes, exact where a closed form misleads.
//
// The functions whose names end in Fpr give the probability that a filter which holds `keys`
// distinct keys answers "maybe" for a key that is not in it.
#ifndef TAMIS_FILTERS_SIZING_H_
#define TAMIS_FILTERS_SIZING_H_

#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis {

namespace cuckoo {
struct Geometry;
}  // namespace cuckoo

// The range of an `fpr` that is asked for.
inline constexpr double kMinFpr = 1e-12;
inline constexpr double kMaxFpr = 0.5;
// The false-positive rate of a Bloom filter if the options give none.
inline constexpr double kDefaultFpr = 0.01;

// ---- Split-block filters ----

// A block holds Binomial(keys, 1 / num_blocks) keys. One with i keys passes an absent key with
// p = (1 - (1 - 1/32)^i)^8. The mean over i is the rate (Putze, Sanders and Singler, 2007, equation
// 3, which is for many blocks, with one bit in each of eight 32-bit words). The eight bits follow
// from 32 bits of the hash, so the absent key also passes with i / 2^32 if one of the i keys has
// the same: that counts at rates below about 1e-8, and a rate below 2.4e-10 takes a block or more
// for each key. The formula of an unblocked filter, which Parquet writers commonly use, is 1.5
// times too low at 1%. Between whole numbers of keys the rate is interpolated. num_blocks >= 1. O(1
// + sqrt(keys / num_blocks)).
double SplitBlockFpr(double keys, uint64_t num_blocks);

// The fewest blocks for which SplitBlockFpr(capacity, blocks) <= fpr; at least 1.
// Throws Error(kInvalidArgument) for an fpr out of range, and if the result is more than
// split_block::kMaxBlocks (128 GiB).
uint64_t SplitBlockBlocks(uint64_t capacity, double fpr);

// The most keys for which SplitBlockFpr(keys, num_blocks) <= fpr; at least 1.
// Throws Error(kInvalidArgument) for num_blocks not in [1, split_block::kMaxBlocks] and an fpr out
// of range.
uint64_t SplitBlockCapacity(uint64_t num_blocks, double fpr);

// So many blocks, or less than a quarter more: the least of 1, 2, 3 and of 4, 5, 6, 7 times the
// powers of two that is enough; above 7 * 2^29 split_block::kMaxBlocks. Filters built to such sizes
// share the groups of a FilterBank. Throws Error(kInvalidArgument) for num_blocks not in
// [1, split_block::kMaxBlocks].
uint64_t BankBlocks(uint64_t num_blocks);

// The number of distinct keys whose insertion leaves `bits_set` of a filter's bits set, in
// expectation: n = -32 z ln(1 - B / (256 z)) for z blocks, exact for Poisson block loads because
// each key sets one bit of 32 in each word. Infinite when every bit is set.
double SplitBlockEstimatedCount(uint64_t bits_set, uint64_t num_blocks);

// ---- Cuckoo filters, with fingerprints of 8, 12 or 16 bits ----

// An absent key passes if a key with the same fingerprint and the same two buckets is in. There are
// (buckets / 2) F such classes for F = 2^bits - 1 fingerprints, each with
// Poisson(2 keys / (buckets F)) keys, hence 1 - exp(-2 keys / (buckets F)). To first order this is
// 2 slots load / F (Fan et al., "Cuckoo Filter", CoNEXT 2014, section 5.1).
double CuckooFpr(int fingerprint_bits, double keys, uint64_t buckets);

// The smallest table into which `capacity` distinct keys go, but for a chance below one in a
// million: as full as cuckoo_filter.h shows that tables get, less five standard deviations of the
// number of keys that a chunk gets. It is larger if fpr calls for a lower load; 0 asks for none.
// Throws Error(kInvalidArgument) for a width, fpr or result out of range.
cuckoo::Geometry CuckooGeometry(int fingerprint_bits, uint64_t capacity, double fpr = 0);

// The largest table of at most `bytes`, in as few equal chunks as it takes.
// Throws Error(kInvalidArgument) for a width or size out of range.
cuckoo::Geometry CuckooGeometryOfBytes(int fingerprint_bits, uint64_t bytes);

// The most keys for which CuckooGeometry would call a table large enough; at least 1.
uint64_t CuckooCapacity(int fingerprint_bits, const cuckoo::Geometry& geometry, double fpr = 0);

// ---- Classic Bloom filters, of m bits, of which each key sets k ----

// p + (1 - p) (1 - e^(-n/m^2)) with p = (1 - e^(-kn/m))^k for n keys (p: Bloom, 1970). The second
// term is the probability that one of the keys has the first position and the step of the absent
// key, of which there are m^2 pairs, and so all of its bits. It counts for small filters at low
// rates. num_bits, num_hashes >= 1.
double BloomFpr(double keys, uint64_t num_bits, uint32_t num_hashes);

// The fewest bits, in whole words of 64, for which BloomFpr with BloomHashes is at most `fpr` for
// `capacity` keys: about -n ln p / ln^2 2, and for few keys about sqrt(n / p).
// Throws Error(kInvalidArgument) for an fpr out of range, and if the result is more than
// bloom::kMaxBits.
uint64_t BloomBits(uint64_t capacity, double fpr);

// The k that makes the rate smallest: max(1, round(m/n ln 2)), at most bloom::kMaxHashes. If a
// smaller k makes the first term of the rate a hundredth of the second, it is that k: more hashes
// would not help. num_bits, capacity >= 1.
uint32_t BloomHashes(uint64_t num_bits, uint64_t capacity);

// The most keys for which BloomFpr with the best number of hashes is at most fpr; at least 1.
// Throws Error(kInvalidArgument) for num_bits not in [64, bloom::kMaxBits] and an fpr out of range.
uint64_t BloomCapacity(uint64_t num_bits, double fpr);

// The number of distinct keys whose insertion leaves B = `bits_set` bits set, in expectation:
// -(m/k) ln(1 - B/m) (Swamidass and Baldi, "Mathematical Correction for Fingerprint Similarity
// Measures to Improve Chemical Retrieval", 2007). Infinite when every bit is set.
double BloomEstimatedCount(uint64_t bits_set, uint64_t num_bits, uint32_t num_hashes);

// ---- Counting filters ----

// SplitBlockFpr with 16 counters in each word in place of 32 bits. num_blocks >= 1.
double CountingFpr(double keys, uint64_t num_blocks);

// SplitBlockBlocks for CountingFpr; at most counting::kMaxBlocks (256 GiB).
uint64_t CountingBlocks(uint64_t capacity, double fpr);

// SplitBlockCapacity for CountingFpr.
uint64_t CountingCapacity(uint64_t num_blocks, double fpr);

// The number of distinct keys that leave B = `counters` of a filter's counters other than 0, in
// expectation: n = -16 z ln(1 - B / (128 z)) for z blocks. Infinite when all are.
double CountingEstimatedCount(uint64_t counters, uint64_t num_blocks);

}  // namespace tamis

#endif  // TAMIS_FILTERS_SIZING_H_
