// Cuckoo filters in plain C++: the reference for all other backends.
#include "core/src/backend/portable.h"
#include "core/src/filters/kinds/cuckoo/cuckoo_chunk.h"
#include "tamis/layout/cuckoo.h"

namespace tamis::detail {
namespace {

template <int kBits>
void CuckooContains(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                    uint64_t* bits) {
  const auto* const buckets = static_cast<const cuckoo::Word<kBits>*>(words);
  BitOfEach(batch, bits, [&](uint64_t hash) {
    const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry);
    const auto* const chunk = buckets + uint64_t{place.chunk} * geometry.chunk_buckets;
    const uint32_t alternate =
        cuckoo::AlternateBucket(place.bucket, place.fingerprint, geometry.chunk_buckets);
    return cuckoo::PairContains<kBits>(chunk[place.bucket], chunk[alternate], place.fingerprint);
  });
}

template <int kBits>
void CuckooLocate(const cuckoo::Geometry& geometry, const Batch& batch, uint64_t* places) {
  for (size_t i = 0; i < batch.n; ++i) {
    places[i] = cuckoo::Pack(cuckoo::Locate<kBits>(batch.hasher(batch.values[i]), geometry));
  }
}

template <int kBits>
void CuckooContainsChanging(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                            uint64_t* bits, uint64_t* places) {
  CuckooLocate<kBits>(geometry, batch, places);
  CuckooContains<kBits>(words, geometry, batch, bits);
}

template <int kBits, bool kOneChunk>
size_t CuckooChange(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                    size_t n) {
  return ChangePlaces<kBits, OneByOne<kBits>, kOneChunk>(change, buckets, chunk_buckets, places, n);
}

template <int kBits>
constexpr CuckooKernels kCuckoo = {.contains = CuckooContains<kBits>,
                                   .contains_changing = CuckooContainsChanging<kBits>,
                                   .locate = CuckooLocate<kBits>,
                                   .change_chunk = CuckooChange<kBits, true>,
                                   .change_table = CuckooChange<kBits, false>};

}  // namespace

namespace portable {

constexpr CuckooKernels cuckoo8 = kCuckoo<8>;
constexpr CuckooKernels cuckoo12 = kCuckoo<12>;
constexpr CuckooKernels cuckoo16 = kCuckoo<16>;

}  // namespace portable
}  // namespace tamis::detail
