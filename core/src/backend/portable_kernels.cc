// The portable backend: plain loops over the arithmetic in the public headers. It is the oracle
// that every other backend is tested against, and serves machines that no other backend fits.
#include <bit>

#include "core/src/backend/providers.h"
#include "core/src/filters/cuckoo/cuckoo_chunk.h"
#include "tamis/bloom.h"
#include "tamis/counting.h"
#include "tamis/cuckoo.h"
#include "tamis/detail/kernels.h"
#include "tamis/split_block.h"

namespace tamis {
namespace {

void Hash(const Batch& batch, uint64_t* hashes) {
  for (size_t i = 0; i < batch.n; ++i) {
    hashes[i] = batch.hasher(batch.values[i]);
  }
}

void BitsToBytes(const uint64_t* bits, size_t n, uint8_t* bytes) {
  for (size_t i = 0; i < n; ++i) bytes[i] = (bits[i / 64] >> (i % 64)) & 1;
}

template <typename Index>
size_t BitsToIndices(const uint64_t* bits, size_t n, uint64_t first, Index* out) {
  size_t found = 0;
  for (size_t word = 0; 64 * word < n; ++word) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      out[found++] = static_cast<Index>(first + 64 * word + std::countr_zero(rest));
    }
  }
  return found;
}

uint64_t PopCount(const uint64_t* words, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::popcount(words[i]);
  return sum;
}

void Merge(uint64_t* into, const uint64_t* from, size_t n) {
  for (size_t i = 0; i < n; ++i) into[i] |= from[i];
}

void Intersect(uint64_t* into, const uint64_t* from, size_t n) {
  for (size_t i = 0; i < n; ++i) into[i] &= from[i];
}

namespace sb = split_block;

bool SplitBlockContainsOne(const uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  return sb::BlockContains(words + sb::kWords * sb::BlockIndex(hash, num_blocks), hash);
}

void SplitBlockInsertOne(uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  sb::BlockInsert(words + sb::kWords * sb::BlockIndex(hash, num_blocks), hash);
}

// Bit i becomes contains_one(hash of value i).
template <typename ContainsOne>
void ContainsAll(const Batch& batch, uint64_t* bits, const ContainsOne& contains_one) {
  for (size_t i = 0; i < batch.n; i += 64) {
    uint64_t found = 0;
    for (size_t j = i; j < batch.n && j < i + 64; ++j) {
      found |= uint64_t{contains_one(batch.hasher(batch.values[j]))} << (j - i);
    }
    bits[i / 64] = found;
  }
}

void SplitBlockContains(const uint32_t* words, uint64_t num_blocks, const Batch& batch,
                        uint64_t* bits) {
  ContainsAll(batch, bits,
              [&](uint64_t hash) { return SplitBlockContainsOne(words, num_blocks, hash); });
}

void SplitBlockInsert(uint32_t* words, uint64_t num_blocks, const Batch& batch) {
  for (size_t i = 0; i < batch.n; ++i) {
    SplitBlockInsertOne(words, num_blocks, batch.hasher(batch.values[i]));
  }
}

template <int kBits>
void CuckooContains(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                    uint64_t* bits) {
  const auto* const buckets = static_cast<const cuckoo::Word<kBits>*>(words);
  ContainsAll(batch, bits, [&](uint64_t hash) {
    const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry);
    const auto* const chunk = buckets + uint64_t{place.chunk} * geometry.chunk_buckets;
    const uint32_t partner =
        cuckoo::PartnerBucket(place.bucket, place.fingerprint, geometry.chunk_buckets);
    return cuckoo::PairContains<kBits>(chunk[place.bucket], chunk[partner], place.fingerprint);
  });
}

template <int kBits>
void CuckooLocate(const cuckoo::Geometry& geometry, const Batch& batch, uint64_t* places) {
  for (size_t i = 0; i < batch.n; ++i) {
    places[i] = cuckoo::Pack(cuckoo::Locate<kBits>(batch.hasher(batch.values[i]), geometry));
  }
}

template <int kBits, bool kOneChunk>
size_t CuckooChange(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                    size_t n) {
  return ChangePlaces<kBits, kOneChunk>(change, buckets, chunk_buckets, places, n);
}

template <int kBits>
constexpr CuckooKernels kCuckoo = {.contains = CuckooContains<kBits>,
                                   .locate = CuckooLocate<kBits>,
                                   .change_chunk = CuckooChange<kBits, true>,
                                   .change_table = CuckooChange<kBits, false>};

void BloomContains(const uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                   const Batch& batch, uint64_t* bits) {
  ContainsAll(batch, bits,
              [&](uint64_t hash) { return bloom::Contains(words, num_bits, num_hashes, hash); });
}

void BloomInsert(uint64_t* words, uint64_t num_bits, uint32_t num_hashes, const Batch& batch) {
  for (size_t i = 0; i < batch.n; ++i) {
    bloom::Insert(words, num_bits, num_hashes, batch.hasher(batch.values[i]));
  }
}

bool CountingContainsOne(const uint64_t* words, uint64_t num_blocks, uint64_t hash) {
  return counting::BlockContains(words + counting::kWords * counting::BlockIndex(hash, num_blocks),
                                 hash);
}

void CountingInsertOne(uint64_t* words, uint64_t num_blocks, uint64_t hash) {
  counting::BlockInsert(words + counting::kWords * counting::BlockIndex(hash, num_blocks), hash);
}

bool CountingEraseOne(uint64_t* words, uint64_t num_blocks, uint64_t hash) {
  return counting::BlockErase(words + counting::kWords * counting::BlockIndex(hash, num_blocks),
                              hash);
}

void CountingContains(const uint64_t* words, uint64_t num_blocks, const Batch& batch,
                      uint64_t* bits) {
  ContainsAll(batch, bits,
              [&](uint64_t hash) { return CountingContainsOne(words, num_blocks, hash); });
}

void CountingInsert(uint64_t* words, uint64_t num_blocks, const Batch& batch) {
  for (size_t i = 0; i < batch.n; ++i) {
    CountingInsertOne(words, num_blocks, batch.hasher(batch.values[i]));
  }
}

}  // namespace

constexpr Kernels kPortableKernels = {
    .hash = Hash,
    .bits_to_bytes = BitsToBytes,
    .bits_to_indices32 = BitsToIndices<uint32_t>,
    .bits_to_indices64 = BitsToIndices<uint64_t>,
    .popcount = PopCount,
    .merge = Merge,
    .intersect = Intersect,
    .split_block = {.contains = SplitBlockContains,
                    .insert = SplitBlockInsert,
                    .contains_one = SplitBlockContainsOne,
                    .insert_one = SplitBlockInsertOne},
    .cuckoo8 = kCuckoo<8>,
    .cuckoo12 = kCuckoo<12>,
    .cuckoo16 = kCuckoo<16>,
    .bloom = {.contains = BloomContains,
              .insert = BloomInsert,
              .contains_one = bloom::Contains,
              .insert_one = bloom::Insert},
    .counting = {.contains = CountingContains,
                 .insert = CountingInsert,
                 .contains_one = CountingContainsOne,
                 .insert_one = CountingInsertOne,
                 .erase_one = CountingEraseOne},
};

}  // namespace tamis
