// Sizes and rates of cuckoo filters.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/src/filters/base/sizing_checks.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/layout/cuckoo.h"

namespace tamis {
namespace {

// The properties that depend on the width of fingerprints.
struct Width {
  int slots;  // slots of a bucket
  uint32_t word_bytes;
  uint32_t max_chunk_buckets;
  // A chunk of S slots holds load * S - spread * sqrt(S) - kSmallChunk keys; see MaxChunkKeys.
  double load;
  double spread;
};

template <int kBits>
constexpr Width kWidth = {cuckoo::Bucket<kBits>::kSlots, sizeof(cuckoo::Word<kBits>),
                          cuckoo::kMaxChunkBuckets<kBits>, kBits == 12 ? 0.9855 : 0.975,
                          kBits == 12 ? 0.75 : 1.0};

const Width& WidthOf(int fingerprint_bits) {
  if (fingerprint_bits == 8) return kWidth<8>;
  if (fingerprint_bits == 12) return kWidth<12>;
  if (fingerprint_bits == 16) return kWidth<16>;
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat("fingerprints of ", fingerprint_bits, " bits; allowed: 8, 12, 16"));
}

double Fingerprints(int fingerprint_bits) { return std::exp2(fingerprint_bits) - 1; }

// Returns how many distinct keys fit in a chunk, except with a probability far below one in a
// million. Measured with chunks of 16 to 2^18 slots. The load at the first failure has a mean of
// 0.976 (4 slots) and 0.987 (5 slots), a little more in small chunks. Its standard deviation is
// 0.20 / sqrt(S) and 0.15 / sqrt(S); below 100 slots its lower tail is longer. The keys of two full
// buckets always fit: a key is refused only if both of its buckets are full of other keys.
uint64_t MaxChunkKeys(const Width& width, uint32_t chunk_buckets) {
  constexpr double kSmallChunk = 16;
  const double slots = static_cast<double>(chunk_buckets) * width.slots;
  const double keys = width.load * slots - width.spread * std::sqrt(slots) - kSmallChunk;
  return std::max<uint64_t>(2 * width.slots, static_cast<uint64_t>(std::max(keys, 0.0)));
}

// Keys fall into chunks at random. Each chunk keeps room for this many standard deviations above
// the mean number of keys.
constexpr double kChunkSpread = 5;

bool Holds(const Width& width, const cuckoo::Geometry& geometry, uint64_t keys) {
  const double chunks = geometry.chunks;
  const double mean = static_cast<double>(keys) / chunks;
  const double deviation = std::sqrt(mean * (1 - 1 / chunks));
  return mean + kChunkSpread * deviation <=
         static_cast<double>(MaxChunkKeys(width, geometry.chunk_buckets));
}

// Returns the fewest buckets with a rate of at most fpr: CuckooFpr solved for the buckets. Returns
// 0 if fpr is 0.
double BucketsForFpr(int fingerprint_bits, uint64_t keys, double fpr) {
  if (fpr == 0) return 0;
  detail::CheckFpr(fpr);
  return std::ceil(2 * static_cast<double>(keys) /
                   (Fingerprints(fingerprint_bits) * -std::log1p(-fpr)));
}

}  // namespace

double CuckooFpr(int fingerprint_bits, double keys, uint64_t buckets) {
  WidthOf(fingerprint_bits);
  return -std::expm1(-2 * keys / (static_cast<double>(buckets) * Fingerprints(fingerprint_bits)));
}

cuckoo::Geometry CuckooGeometry(int fingerprint_bits, uint64_t capacity, double fpr) {
  const Width& width = WidthOf(fingerprint_bits);
  const double for_fpr = BucketsForFpr(fingerprint_bits, capacity, fpr);
  const auto enough = [&](uint32_t chunks, uint32_t chunk_buckets) {
    const cuckoo::Geometry geometry{chunks, chunk_buckets};
    return Holds(width, geometry, capacity) && static_cast<double>(geometry.buckets()) >= for_fpr;
  };
  if (!enough(cuckoo::kMaxChunks, width.max_chunk_buckets)) {
    std::ostringstream message;
    message << "a cuckoo filter of " << fingerprint_bits << "-bit fingerprints cannot hold "
            << capacity << " keys";
    if (fpr != 0) message << " at a false-positive rate of " << fpr;
    message << ": it has at most " << cuckoo::kMaxChunks << " chunks of " << cuckoo::kMaxChunkBytes
            << " bytes";
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
  const uint64_t chunks = detail::FirstThatHolds(1, cuckoo::kMaxChunks, [&](uint64_t n) {
    return enough(static_cast<uint32_t>(n), width.max_chunk_buckets);
  });
  const uint64_t pairs = detail::FirstThatHolds(1, width.max_chunk_buckets / 2, [&](uint64_t n) {
    return enough(static_cast<uint32_t>(chunks), static_cast<uint32_t>(2 * n));
  });
  return {static_cast<uint32_t>(chunks), static_cast<uint32_t>(2 * pairs)};
}

cuckoo::Geometry CuckooGeometryOfBytes(int fingerprint_bits, uint64_t bytes) {
  const Width& width = WidthOf(fingerprint_bits);
  const uint64_t buckets = bytes / width.word_bytes;
  const uint64_t chunks = (buckets + width.max_chunk_buckets - 1) / width.max_chunk_buckets;
  if (buckets < 2 || chunks > cuckoo::kMaxChunks) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("a cuckoo filter of ", bytes, " bytes is out of range [",
                               2 * width.word_bytes, ", ",
                               uint64_t{cuckoo::kMaxChunks} * cuckoo::kMaxChunkBytes, "]"));
  }
  return {static_cast<uint32_t>(chunks), static_cast<uint32_t>(buckets / chunks / 2 * 2)};
}

uint64_t CuckooCapacity(int fingerprint_bits, const cuckoo::Geometry& geometry, double fpr) {
  const Width& width = WidthOf(fingerprint_bits);
  const auto buckets = static_cast<double>(geometry.buckets());
  return detail::LastThatHolds(1, geometry.buckets() * width.slots, [&](uint64_t keys) {
    return Holds(width, geometry, keys) && BucketsForFpr(fingerprint_bits, keys, fpr) <= buckets;
  });
}

}  // namespace tamis
