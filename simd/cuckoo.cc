// Cuckoo filters: probe and locate, mirroring tamis/layout/cuckoo.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuckoo.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include "core/src/filters/kinds/cuckoo/cuckoo_chunk.h"
#include "simd/families.h"
#include "simd/hash-inl.h"
#include "simd/pipeline-inl.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/cuckoo_kernels.h"
#include "tamis/layout/cuckoo.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Returns the product of the low halves of each lane.
HWY_INLINE V64 MulLow32(V64 a, V64 b) {
  return hn::MulEven(hn::BitCast(D32(), a), hn::BitCast(D32(), b));
}

// Computes cuckoo::Locate for each lane. (Vectors of SVE cannot be members of a struct.)
template <int kBits>
HWY_INLINE void LocateLanes(D64 d, V64 hash, const cuckoo::Geometry& geometry, V64& chunk,
                            V64& bucket, V64& fingerprint) {
  const V64 chunks = hn::Set(d, geometry.chunks);
  const V64 low16 = hn::Set(d, 0xFFFF);
  const V64 middle = hn::And(hn::ShiftRight<16>(hash), low16);
  const V64 scaled =
      hn::Add(MulLow32(SwapHalves(d, hash), chunks), hn::ShiftRight<16>(MulLow32(middle, chunks)));
  chunk = hn::ShiftRight<32>(scaled);
  bucket = hn::ShiftRight<32>(MulLow32(scaled, hn::Set(d, geometry.chunk_buckets)));
  const V64 x = hn::And(hash, low16);
  fingerprint =
      hn::Add(hn::ShiftRight<16>(hn::Sub(hn::ShiftLeft<kBits>(x), x)), hn::Set(d, uint64_t{1}));
}

// Computes cuckoo::AlternateBucket for each lane.
HWY_INLINE V64 AlternateLanes(D64 d, V64 bucket, V64 fingerprint, V64 chunk_buckets) {
  const V64 mixed = MulLow32(MulLow32(fingerprint, fingerprint), hn::Set(d, cuckoo::kAlternateMix));
  const V64 sum =
      hn::Or(hn::ShiftRight<32>(MulLow32(mixed, chunk_buckets)), hn::Set(d, uint64_t{1}));
  // One of the two candidates has wrapped around. The other candidate is the smaller 32-bit number.
  const D32 d32;
  const V32 difference = hn::Sub(hn::BitCast(d32, sum), hn::BitCast(d32, bucket));
  return hn::BitCast(d, hn::Min(difference, hn::Add(difference, hn::BitCast(d32, chunk_buckets))));
}

// Returns the fingerprint in every slot of a bucket in its lane. With 8 bits, a lane has two
// buckets.
template <int kBits>
HWY_INLINE V64 BroadcastLanes(D64 d, V64 fingerprint) {
  if constexpr (kBits == 12) {
    const V64 two = hn::Or(fingerprint, hn::ShiftLeft<12>(fingerprint));
    return hn::Or(hn::Or(two, hn::ShiftLeft<24>(two)), hn::ShiftLeft<48>(fingerprint));
  } else {
    const hn::Repartition<uint8_t, D64> d8;
    alignas(16) static constexpr uint8_t k8[16] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8};
    alignas(16) static constexpr uint8_t k16[16] = {0, 1, 0, 1, 0, 1, 0, 1, 8, 9, 8, 9, 8, 9, 8, 9};
    return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d8, fingerprint),
                                               hn::LoadDup128(d8, kBits == 8 ? k8 : k16)));
  }
}

// Computes cuckoo::ZeroSlots for each lane.
template <int kBits>
HWY_INLINE V64 ZeroSlotLanes(D64 d, V64 words) {
  if constexpr (kBits == 12) {
    const V64 ones = hn::Set(d, cuckoo::Bucket<12>::kOnes);
    return hn::And(hn::AndNot(words, hn::Sub(words, ones)),
                   hn::Set(d, cuckoo::Bucket<12>::kOnes << 11));
  } else {
    using T = std::conditional_t<kBits == 8, uint8_t, uint16_t>;
    const hn::Repartition<T, D64> ds;
    const auto slots = hn::BitCast(ds, words);
    const auto high = hn::Set(ds, static_cast<T>(1 << (kBits - 1)));
    return hn::BitCast(d, hn::And(hn::AndNot(slots, hn::Sub(slots, hn::Set(ds, T{1}))), high));
  }
}

// The keys in the pipeline.
struct CuckooRing {
  alignas(64) Ring offsets[2];  // offsets of both buckets, in bytes
  // Without the gap, the fingerprints of a step would be written 4 KiB behind its offsets. If the
  // physical addresses of the two pages are similar, as in one pair of pages in some hundred, each
  // such pair of stores takes hundreds of cycles (bench/NOTES_CUCKOO.md). So the distance is
  // neither a multiple of 4 KiB nor near one.
  alignas(64) uint64_t gap[144];
  alignas(64) Ring fingerprints;  // the fingerprint of a key in every slot of a word
  alignas(64) Ring hashes;
  // The contents of the buckets. With 8 bits, both are in one word of words[0].
  alignas(64) Ring words[2];
};

// Number of keys by which buckets are read before the comparison. Buckets are read one by one,
// which is faster than gathering them (bench/NOTES_CUCKOO.md), and stored in the ring. If a vector
// of the ring were loaded right after these stores, the load would wait for them.
inline constexpr size_t kReadBucketsAhead = 32;
static_assert(kReadBucketsAhead < kPrefetchAhead);

// Computes cuckoo::Pack for each lane.
HWY_INLINE V64 PackLanes(V64 chunk, V64 bucket, V64 fingerprint) {
  return hn::Or(hn::Or(hn::ShiftLeft<32>(chunk), hn::ShiftLeft<16>(bucket)), fingerprint);
}

// Hashes kStep keys to ring positions [at, at + kStep).
template <Source kSource>
HWY_INLINE void HashStep(const uint64_t* HWY_RESTRICT values, uint64_t seed_term, size_t at,
                         CuckooRing& ring) {
  const D64 d;
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; i += hn::Lanes(d)) {
    const V64 hash = HashLanes<kSource>(d, hn::LoadU(d, values + i), hn::Set(d, seed_term));
    hn::Store(hash, d, ring.hashes + at + i);
  }
}

// Locates the buckets of the hashes at ring positions [at, at + kStep). If kWithPlaces, also writes
// the places to `places`.
template <int kBits, bool kWithPlaces>
HWY_INLINE void LocateBuckets(const cuckoo::Geometry& geometry, size_t at, CuckooRing& ring,
                              uint64_t* HWY_RESTRICT places) {
  constexpr int kShift = sizeof(cuckoo::Word<kBits>) == 8 ? 3 : 2;
  const D64 d;
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; i += hn::Lanes(d)) {
    const V64 hash = hn::Load(d, ring.hashes + at + i);
    V64 chunk = hash, bucket = hash, fingerprint = hash;
    LocateLanes<kBits>(d, hash, geometry, chunk, bucket, fingerprint);
    const V64 begin = MulLow32(chunk, hn::Set(d, geometry.chunk_buckets));
    const V64 alternate =
        AlternateLanes(d, bucket, fingerprint, hn::Set(d, geometry.chunk_buckets));
    hn::Store(hn::ShiftLeft<kShift>(hn::Add(begin, bucket)), d, ring.offsets[0] + at + i);
    hn::Store(hn::ShiftLeft<kShift>(hn::Add(begin, alternate)), d, ring.offsets[1] + at + i);
    hn::Store(BroadcastLanes<kBits>(d, fingerprint), d, ring.fingerprints + at + i);
    if constexpr (kWithPlaces) hn::StoreU(PackLanes(chunk, bucket, fingerprint), d, places + i);
  }
}

template <int kBits>
HWY_INLINE void ReadBuckets(const char* table, size_t at, CuckooRing& ring) {
  constexpr size_t kBytes = sizeof(cuckoo::Word<kBits>);
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; ++i) {
    char* const first = reinterpret_cast<char*>(ring.words[0] + at + i);
    char* const second =
        kBits == 8 ? first + kBytes : reinterpret_cast<char*>(ring.words[1] + at + i);
    hwy::CopyBytes<kBytes>(table + ring.offsets[0][at + i], first);
    hwy::CopyBytes<kBytes>(table + ring.offsets[1][at + i], second);
  }
}

// Returns one bit for each of kStep keys: whether either bucket has its fingerprint.
template <int kBits>
HWY_INLINE uint8_t CompareBuckets(const CuckooRing& ring, size_t at) {
  const D64 d;
  alignas(8) uint8_t lanes[8];
  unsigned bits = 0;
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; i += hn::Lanes(d)) {
    const V64 fingerprint = hn::Load(d, ring.fingerprints + at + i);
    V64 either = ZeroSlotLanes<kBits>(d, hn::Xor(hn::Load(d, ring.words[0] + at + i), fingerprint));
    if constexpr (kBits != 8) {
      either = hn::Or(either, ZeroSlotLanes<kBits>(
                                  d, hn::Xor(hn::Load(d, ring.words[1] + at + i), fingerprint)));
    }
    hn::StoreMaskBits(d, hn::Ne(either, hn::Zero(d)), lanes);
    bits |= static_cast<unsigned>(lanes[0]) << i;
  }
  return static_cast<uint8_t>(bits);
}

template <int kBits>
bool CuckooContainsOne(const void* words, const cuckoo::Geometry& geometry, uint64_t hash) {
  const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry);
  const auto* const chunk = static_cast<const cuckoo::Word<kBits>*>(words) +
                            uint64_t{place.chunk} * geometry.chunk_buckets;
  const uint32_t alternate =
      cuckoo::AlternateBucket(place.bucket, place.fingerprint, geometry.chunk_buckets);
  return cuckoo::PairContains<kBits>(chunk[place.bucket], chunk[alternate], place.fingerprint);
}

template <int kBits, Source kSource, Prefetch kPrefetch, bool kWithPlaces = false>
void CuckooContainsAll(const void* words, const cuckoo::Geometry& shared, const Batch& batch,
                       uint64_t* bits, uint64_t* places) {
  const cuckoo::Geometry geometry = shared;  // writes to `bits` cannot change it
  const char* const table = static_cast<const char*>(words);
  const uint64_t seed_term = batch.hasher.seed_term;
  const size_t whole = batch.n / 64 * 64;
  auto* const bytes = reinterpret_cast<uint8_t*>(bits);
  CuckooRing ring;
  if (whole != 0) HashStep<kSource>(batch.values, seed_term, 0, ring);
  ForEachStep<kPrefetch>(
      batch.values, whole, table, ring.offsets,
      [&](size_t i, size_t at) HWY_ATTR {
        if (kWithPlaces && i >= whole) return;
        LocateBuckets<kBits, kWithPlaces>(geometry, at, ring, kWithPlaces ? places + i : nullptr);
        // Hashes the next step here, because hashing and locating are both chains of
        // multiplications.
        HashStep<kSource>(batch.values + (i + kStep < whole ? i + kStep : 0), seed_term,
                          (at + kStep) % kRing, ring);
      },
      [&](size_t i, size_t at) HWY_ATTR {
        if (i == 0) {
          for (size_t j = 0; j < kReadBucketsAhead; j += kStep) ReadBuckets<kBits>(table, j, ring);
        }
        if (i + kReadBucketsAhead < whole) {
          ReadBuckets<kBits>(table, (at + kReadBucketsAhead) % kRing, ring);
        }
        bytes[i / 8] = CompareBuckets<kBits>(ring, at);
      });
  if (whole == batch.n) return;
  uint64_t last = 0;
  for (size_t i = whole; i < batch.n; ++i) {
    const uint64_t hash = batch.hasher(batch.values[i]);
    last |= uint64_t{CuckooContainsOne<kBits>(words, geometry, hash)} << (i - whole);
    if constexpr (kWithPlaces) places[i] = cuckoo::Pack(cuckoo::Locate<kBits>(hash, geometry));
  }
  bits[whole / 64] = last;
}

// Up to this size, buckets are read early enough without prefetching.
inline constexpr uint64_t kNearBytes = (uint64_t{5} << 20) / 4;

template <int kBits>
void CuckooContains(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                    uint64_t* bits) {
  const uint64_t bytes = geometry.buckets() * sizeof(cuckoo::Word<kBits>);
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    const auto all = bytes > kFarBytes    ? CuckooContainsAll<kBits, source(), Prefetch::kL2>
                     : bytes > kNearBytes ? CuckooContainsAll<kBits, source(), Prefetch::kL1>
                                          : CuckooContainsAll<kBits, source(), Prefetch::kNone>;
    all(words, geometry, batch, bits, nullptr);
  });
}

// Always prefetches. Even in a small table, a bucket that another core has just changed must be
// fetched from that core.
template <int kBits>
void CuckooContainsChanging(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                            uint64_t* bits, uint64_t* places) {
  const uint64_t bytes = geometry.buckets() * sizeof(cuckoo::Word<kBits>);
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    const auto all = bytes > kFarBytes ? CuckooContainsAll<kBits, source(), Prefetch::kL2, true>
                                       : CuckooContainsAll<kBits, source(), Prefetch::kL1, true>;
    all(words, geometry, batch, bits, places);
  });
}

template <int kBits, Source kSource>
void CuckooLocateAll(const cuckoo::Geometry& geometry, const Batch& batch,
                     uint64_t* HWY_RESTRICT places) {
  const D64 d;
  const V64 seed_term = hn::Set(d, batch.hasher.seed_term);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= batch.n; i += hn::Lanes(d)) {
    PrefetchRead(batch.values + i + kReadAhead);
    const V64 hash = HashLanes<kSource>(d, hn::LoadU(d, batch.values + i), seed_term);
    V64 chunk = hash, bucket = hash, fingerprint = hash;
    LocateLanes<kBits>(d, hash, geometry, chunk, bucket, fingerprint);
    hn::StoreU(PackLanes(chunk, bucket, fingerprint), d, places + i);
  }
  for (; i < batch.n; ++i) {
    places[i] = cuckoo::Pack(cuckoo::Locate<kBits>(batch.hasher(batch.values[i]), geometry));
  }
}

#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 32
#define TAMIS_GATHERS 1
#else
#define TAMIS_GATHERS 0
#endif

#if TAMIS_GATHERS
// Reads the words of buckets of a chunk.
template <int kBits>
HWY_INLINE V64 GatherWords(D64 d, const cuckoo::Word<kBits>* buckets, V64 bucket) {
  if constexpr (kBits == 8) {
    const hn::Rebind<uint32_t, D64> d_half;
    const hn::Rebind<int32_t, D64> d_index;
    return hn::PromoteTo(
        d, hn::GatherIndex(d_half, buckets, hn::BitCast(d_index, hn::TruncateTo(d_half, bucket))));
  } else {
    return hn::GatherIndex(d, buckets, hn::BitCast(hn::RebindToSigned<D64>(), bucket));
  }
}

// The number of nodes whose edges fit into a vector.
template <int kBits>
inline constexpr size_t kNodesPerVector = hn::MaxLanes(D64()) / SearchNodes<kBits>::kSlots;

// Returns the value of a node for each of its edges: `of_nodes[0]`, or the first two. A load of a
// vector would wait for the stores of its parts.
template <int kBits>
HWY_INLINE V64 ForEdges(D64 d, const uint64_t* of_nodes) {
  if constexpr (kNodesPerVector<kBits> == 2) {
    const hn::Half<D64> d_half;
    return hn::Combine(d, hn::Set(d_half, of_nodes[1]), hn::Set(d_half, of_nodes[0]));
  } else {
    return hn::Set(d, of_nodes[0]);
  }
}

// See OneByOne::FindRoom. Follows the edges of one or two nodes at once.
template <int kBits>
HWY_NOINLINE uint32_t FindRoomByLanes(const cuckoo::Word<kBits>* buckets, uint32_t chunk_buckets,
                                      SearchNodes<kBits>& nodes) {
  using Nodes = SearchNodes<kBits>;
  constexpr uint32_t kNodes = kNodesPerVector<kBits>;
  constexpr uint32_t kEdges = kNodes * Nodes::kSlots;
  const D64 d;
  static_assert(Nodes::kMax % kNodes == 0 && hn::MaxLanes(D64()) <= Nodes::kPadding);
  alignas(64) uint64_t shifts[hn::MaxLanes(D64())] = {};
  for (uint32_t i = 0; i < kEdges; ++i) shifts[i] = kBits * (i % Nodes::kSlots);
  const V64 shift = hn::Load(d, shifts);
  const V64 mask = hn::Set(d, uint64_t{cuckoo::kSlotMask<kBits>});
  const V64 size = hn::Set(d, uint64_t{chunk_buckets});
  for (uint32_t edge = 0; edge < Nodes::kNumEdges; edge += kEdges) {
    const uint32_t node = edge / Nodes::kSlots;
    const V64 fingerprint = hn::And(hn::Shr(ForEdges<kBits>(d, nodes.words + node), shift), mask);
    const V64 to = AlternateLanes(d, ForEdges<kBits>(d, nodes.buckets + node), fingerprint, size);
    const V64 words = GatherWords<kBits>(d, buckets, to);
    V64 zeros = ZeroSlotLanes<kBits>(d, words);
    if constexpr (kBits == 8) zeros = hn::And(zeros, hn::Set(d, uint64_t{0xFFFFFFFF}));
    const auto has_room = hn::And(hn::Ne(zeros, hn::Zero(d)), hn::FirstN(d, kEdges));
    if (!hn::AllFalse(d, has_room)) {
      return edge + static_cast<uint32_t>(hn::FindKnownFirstTrue(d, has_room));
    }
    if (edge + 2 < Nodes::kMax) {
      hn::StoreU(to, d, nodes.buckets + edge + 2);
      hn::StoreU(words, d, nodes.words + edge + 2);
    }
  }
  return Nodes::kNumEdges;
}
#endif  // TAMIS_GATHERS

// The steps of OneByOne with vectors.
template <int kBits>
struct ByLanes {
  // Not inlined, because the code that calls it is not compiled for this target until it is
  // inlined.
  static HWY_NOINLINE void Alternates(const uint64_t* HWY_RESTRICT places, size_t n,
                                      uint32_t chunk_buckets, uint64_t* HWY_RESTRICT alternates) {
    const D64 d;
    const V64 low16 = hn::Set(d, uint64_t{0xFFFF});
    size_t i = 0;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
      const V64 place = hn::LoadU(d, places + i);
      const V64 bucket = hn::And(hn::ShiftRight<16>(place), low16);
      hn::Store(
          AlternateLanes(d, bucket, hn::And(place, low16), hn::Set(d, uint64_t{chunk_buckets})), d,
          alternates + i);
    }
    OneByOne<kBits>::Alternates(places + i, n - i, chunk_buckets, alternates + i);
  }
  template <typename Chunk>
  static uint32_t FindRoom(const Chunk& chunk, SearchNodes<kBits>& nodes) {
#if TAMIS_GATHERS
    if constexpr (kNodesPerVector<kBits> != 0) {
      return FindRoomByLanes<kBits>(chunk.buckets(), chunk.chunk_buckets(), nodes);
    }
#endif
    return OneByOne<kBits>::FindRoom(chunk, nodes);
  }
};
#undef TAMIS_GATHERS

template <int kBits, bool kOneChunk>
size_t CuckooChange(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                    size_t n) {
  return ChangePlaces<kBits, ByLanes<kBits>, kOneChunk>(change, buckets, chunk_buckets, places, n);
}

template <int kBits>
void CuckooLocate(const cuckoo::Geometry& geometry, const Batch& batch, uint64_t* places) {
  WithSource(batch.hasher.source, [&](auto source) HWY_ATTR {
    CuckooLocateAll<kBits, source()>(geometry, batch, places);
  });
}

template <int kBits>
inline constexpr CuckooKernels kCuckoo = {.contains = CuckooContains<kBits>,
                                          .contains_changing = CuckooContainsChanging<kBits>,
                                          .locate = CuckooLocate<kBits>,
                                          .change_chunk = CuckooChange<kBits, true>,
                                          .change_table = CuckooChange<kBits, false>};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::detail::simd {

TAMIS_DEFINE_FAMILY(CuckooKernels, cuckoo8, kCuckoo<8>)
TAMIS_DEFINE_FAMILY(CuckooKernels, cuckoo12, kCuckoo<12>)
TAMIS_DEFINE_FAMILY(CuckooKernels, cuckoo16, kCuckoo<16>)

}  // namespace tamis::detail::simd
#endif  // HWY_ONCE
