// Inserts and erases fingerprints in the chunks of a cuckoo filter. Backends compile it to
// different instructions, and have vector code for two of its steps (see OneByOne).
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_CHUNK_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_CHUNK_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tamis/detail/change.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/cuckoo_kernels.h"
#include "tamis/layout/cuckoo.h"

namespace tamis::detail {

// Reads and writes the buckets of a chunk that no other thread uses at the same time.
template <int kBits>
struct OwnBuckets {
  using Word = cuckoo::Word<kBits>;

  static Word Load(const Word& bucket) noexcept { return bucket; }
  static void Store(Word& bucket, Word word) noexcept { bucket = word; }
  // If true, other threads read the buckets at the same time. CuckooChunk then calls Copied(a, b)
  // before it removes one of two copies of a fingerprint. Each of the two copies is in bucket `a`
  // or `b`.
  static constexpr bool kShared = false;
  void Copied(uint32_t, uint32_t) noexcept {}
};

// The full buckets that a search for room has reached, in the order of the search. Nodes 0 and 1
// are the two buckets of the key. Edge e begins at slot e % kSlots of node e / kSlots. It leads to
// the other bucket of the fingerprint in this slot, which becomes node e + 2 if it is full.
template <int kBits>
struct SearchNodes {
  static constexpr uint32_t kSlots = cuckoo::Bucket<kBits>::kSlots;
  // The maximum number of nodes. With 1024, tables fill to 97.6% (4 slots) and 98.7% (5 slots)
  // before the first search fails. With 4096, tables fill by 0.2% more, and with 256 by 0.4% less.
  static constexpr uint32_t kMax = 1024;
  static constexpr uint32_t kNumEdges = kMax * kSlots;
  static constexpr uint32_t kPadding = 16;  // vector code reads and writes beyond the last node

  uint64_t buckets[kMax + kPadding];
  uint64_t words[kMax + kPadding];  // the contents of the buckets
};

// The steps of a change for which a backend may have vector code, key by key and edge by edge.
template <int kBits>
struct OneByOne {
  // Sets alternates[i] to the alternate bucket of places[i], for n places.
  TAMIS_INLINE static void Alternates(const uint64_t* places, size_t n, uint32_t chunk_buckets,
                                      uint64_t* alternates) noexcept {
    for (size_t i = 0; i < n; ++i) {
      const cuckoo::Place place = cuckoo::Unpack(places[i]);
      alternates[i] = cuckoo::AlternateBucket(place.bucket, place.fingerprint, chunk_buckets);
    }
  }
  // Returns the first edge that leads to a bucket with room, or kNumEdges if all buckets are full.
  // The search begins with nodes 0 and 1, and adds the others.
  template <typename Chunk>
  static uint32_t FindRoom(const Chunk& chunk, SearchNodes<kBits>& nodes) noexcept {
    using Nodes = SearchNodes<kBits>;
    for (uint32_t edge = 0; edge < Nodes::kNumEdges; ++edge) {
      const uint32_t to = chunk.End(nodes, edge);
      const auto word = chunk.Load(to);
      if (cuckoo::ZeroSlots<kBits>(word) != 0) return edge;
      if (edge + 2 < Nodes::kMax) {
        nodes.buckets[edge + 2] = to;
        nodes.words[edge + 2] = word;
      }
    }
    return Nodes::kNumEdges;
  }
};

// A view of `chunk_buckets` buckets, which no other code changes at the same time.
template <int kBits, typename Buckets = OwnBuckets<kBits>, typename Steps = OneByOne<kBits>>
class CuckooChunk {
 public:
  using Word = cuckoo::Word<kBits>;
  using Nodes = SearchNodes<kBits>;

  CuckooChunk(Word* buckets, uint32_t chunk_buckets, Buckets access = {})
      : buckets_(buckets), chunk_buckets_(chunk_buckets), access_(access) {}

  const Word* buckets() const noexcept { return buckets_; }
  uint32_t chunk_buckets() const noexcept { return chunk_buckets_; }
  uint32_t Alternate(uint32_t bucket, uint32_t fingerprint) const noexcept {
    return cuckoo::AlternateBucket(bucket, fingerprint, chunk_buckets_);
  }
  Word Load(uint32_t bucket) const noexcept { return access_.Load(buckets_[bucket]); }
  // Returns the bucket at the end of an edge.
  uint32_t End(const Nodes& nodes, uint32_t edge) const noexcept {
    const uint32_t node = edge / kSlots;
    const uint64_t fingerprint = nodes.words[node] >> (kBits * (edge % kSlots));
    return Alternate(static_cast<uint32_t>(nodes.buckets[node]),
                     static_cast<uint32_t>(fingerprint & cuckoo::kSlotMask<kBits>));
  }

  // Inserts the fingerprint into its bucket or the alternate one, whichever has fewer fingerprints.
  // If both are full, searches breadth first for the shortest way to make room, and moves
  // fingerprints if there is a way. Otherwise changes nothing and returns false. The result depends
  // only on the table.
  TAMIS_INLINE bool Insert(uint32_t bucket, uint32_t fingerprint) noexcept {
    return Insert(bucket, Alternate(bucket, fingerprint), fingerprint);
  }
  // The same, if the caller knows the alternate bucket.
  TAMIS_INLINE bool Insert(uint32_t bucket, uint32_t alternate, uint32_t fingerprint) noexcept {
    // Has no branch, because a branch would be mispredicted every other time.
    const uint32_t choose_alternate =
        -static_cast<uint32_t>(NumUsed(Load(alternate)) < NumUsed(Load(bucket)));
    const uint32_t emptier = bucket ^ ((bucket ^ alternate) & choose_alternate);
    const Word word = Load(emptier);
    const Word zeros = cuckoo::ZeroSlots<kBits>(word);
    if (zeros == 0) return MakeRoom(bucket, alternate, fingerprint);
    // The lowest of `zeros` is the highest bit of the slot.
    const int shift = std::countr_zero(zeros) - (kBits - 1);
    access_.Store(buckets_[emptier], word | static_cast<Word>(fingerprint) << shift);
    return true;
  }

  // Erases one copy of the fingerprint. Returns whether there was one.
  TAMIS_INLINE bool Erase(uint32_t bucket, uint32_t fingerprint) noexcept {
    if constexpr (Buckets::kShared) {
      // A reader may have found a key by the copy that is removed now. The other copy may be newer.
      if (Copies(bucket, fingerprint) > 1) {
        access_.Copied(bucket, Alternate(bucket, fingerprint));
      }
    }
    return EraseFrom(bucket, fingerprint) || EraseFrom(Alternate(bucket, fingerprint), fingerprint);
  }

  // Returns how often the two buckets contain the fingerprint.
  int Copies(uint32_t bucket, uint32_t fingerprint) const noexcept {
    const uint32_t alternate = Alternate(bucket, fingerprint);
    int copies = 0;
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      copies += Get(bucket, slot) == fingerprint;
      copies += Get(alternate, slot) == fingerprint;
    }
    return copies;
  }

  // Always inlined: see PrefetchRead.
  TAMIS_INLINE void Prefetch(uint32_t bucket, uint32_t alternate) const noexcept {
    PrefetchWrite(buckets_ + bucket);
    PrefetchWrite(buckets_ + alternate);
  }

  bool Contains(uint32_t bucket, uint32_t fingerprint) const noexcept {
    return cuckoo::PairContains<kBits>(Load(bucket), Load(Alternate(bucket, fingerprint)),
                                       fingerprint);
  }

 private:
  static constexpr uint32_t kSlots = Nodes::kSlots;

  // Returns cuckoo::NumUsed(word), computed with a processor instruction that the public header
  // cannot use.
  static int NumUsed(Word word) noexcept {
    constexpr Word kHighs = cuckoo::Bucket<kBits>::kOnes << (kBits - 1);
    constexpr Word kRest = kHighs - cuckoo::Bucket<kBits>::kOnes;
    return std::popcount(static_cast<Word>((((word & ~kHighs) + kRest) | word) & kHighs));
  }
  static uint32_t LowestSlot(Word zeros) noexcept {
    return static_cast<uint32_t>(std::countr_zero(zeros)) / kBits;
  }
  uint32_t Get(uint32_t bucket, uint32_t slot) const noexcept {
    return static_cast<uint32_t>(Load(bucket) >> (kBits * slot) & cuckoo::kSlotMask<kBits>);
  }
  void Put(uint32_t bucket, uint32_t slot, uint32_t fingerprint) noexcept {
    const uint32_t shift = kBits * slot;
    access_.Store(buckets_[bucket], (Load(bucket) & ~(cuckoo::kSlotMask<kBits> << shift)) |
                                        static_cast<Word>(fingerprint) << shift);
  }

  TAMIS_INLINE bool EraseFrom(uint32_t bucket, uint32_t fingerprint) noexcept {
    const Word matches =
        cuckoo::ZeroSlots<kBits>(Load(bucket) ^ cuckoo::Broadcast<kBits>(fingerprint));
    if (matches == 0) return false;
    Put(bucket, LowestSlot(matches), 0);
    return true;
  }

  TAMIS_NOINLINE bool MakeRoom(uint32_t bucket, uint32_t alternate, uint32_t fingerprint) noexcept;

  Word* buckets_;
  uint32_t chunk_buckets_;
  TAMIS_NO_UNIQUE_ADDRESS Buckets access_;
};

// No path visits a bucket twice. The search expands a bucket when it first reaches it, and so has
// found every slot that a second visit could find.
template <int kBits, typename Buckets, typename Steps>
bool CuckooChunk<kBits, Buckets, Steps>::MakeRoom(uint32_t bucket, uint32_t alternate,
                                                  uint32_t fingerprint) noexcept {
  // If both buckets contain only this fingerprint, a search would only go back and forth.
  const Word full = cuckoo::Broadcast<kBits>(fingerprint);
  Nodes nodes;
  nodes.buckets[0] = bucket;
  nodes.buckets[1] = alternate;
  nodes.words[0] = Load(bucket);
  nodes.words[1] = Load(alternate);
  if (nodes.words[0] == full && nodes.words[1] == full) return false;
  uint32_t edge = Steps::FindRoom(*this, nodes);
  if (edge == Nodes::kNumEdges) return false;
  // Goes from the free slot back to a root. Each fingerprint moves into the slot that the move
  // before has freed.
  uint32_t free_bucket = End(nodes, edge);
  uint32_t free_slot = LowestSlot(cuckoo::ZeroSlots<kBits>(Load(free_bucket)));
  for (;;) {
    const uint32_t node = edge / kSlots;
    const uint32_t slot = edge % kSlots;
    const auto from = static_cast<uint32_t>(nodes.buckets[node]);
    Put(free_bucket, free_slot, Get(from, slot));
    access_.Copied(free_bucket, from);
    free_bucket = from;
    free_slot = slot;
    if (node < 2) break;
    edge = node - 2;
  }
  Put(free_bucket, free_slot, fingerprint);
  return true;
}

// Applies kChange to n places (cuckoo::Pack), in their order: see CuckooKernels. If kOneChunk,
// `buckets` is one chunk, and the chunk that a place names is ignored. Otherwise `buckets` is the
// whole table.
template <int kBits, typename Steps, bool kOneChunk, Change kChange>
TAMIS_INLINE size_t ChangePlacesBy(void* buckets, uint32_t chunk_buckets, uint64_t* places,
                                   size_t n) noexcept {
  constexpr size_t kPrefetchAhead = 16;
  // Erasure finds most keys in their first buckets. A single chunk is in cache.
  constexpr bool kAlternates = kChange != Change::kErase;
  constexpr bool kPrefetch = kAlternates || !kOneChunk;
  constexpr size_t kBlock = 128;
  constexpr uint64_t kLowHalf = 0xFFFFFFFF;
  auto* const words = static_cast<cuckoo::Word<kBits>*>(buckets);
  const auto chunk_of = [&](const cuckoo::Place& place) {
    const uint64_t chunk = kOneChunk ? 0 : place.chunk;
    return CuckooChunk<kBits, OwnBuckets<kBits>, Steps>(words + chunk * chunk_buckets,
                                                        chunk_buckets);
  };
  alignas(64) uint64_t alternates[kBlock + kPrefetchAhead];
  size_t done = 0;
  for (size_t i = 0; i < n; ++i) {
    const size_t at = i % kBlock;
    if (kAlternates && at == 0) {
      const size_t known = std::min(kBlock + kPrefetchAhead, n - i);
      Steps::Alternates(places + i, known, chunk_buckets, alternates);
    }
    if (kPrefetch && i + kPrefetchAhead < n) {
      const cuckoo::Place later = cuckoo::Unpack(places[i + kPrefetchAhead]);
      auto chunk = chunk_of(later);
      chunk.Prefetch(later.bucket, kAlternates
                                       ? static_cast<uint32_t>(alternates[at + kPrefetchAhead])
                                       : chunk.Alternate(later.bucket, later.fingerprint));
    }
    const cuckoo::Place place = cuckoo::Unpack(places[i]);
    auto chunk = chunk_of(place);
    if constexpr (kChange == Change::kInsertIfAbsent) {
      if (chunk.Contains(place.bucket, place.fingerprint)) {
        places[i] = (places[i] & ~kLowHalf) | kIsIn;
        continue;
      }
    }
    const bool possible =
        kChange == Change::kErase
            ? chunk.Erase(place.bucket, place.fingerprint)
            : chunk.Insert(place.bucket, static_cast<uint32_t>(alternates[at]), place.fingerprint);
    if (possible) {
      ++done;
    } else if (kChange == Change::kInsertIfAbsent) {
      places[i] = (places[i] & ~kLowHalf) | kIsRefused;
    } else {
      places[i] &= ~uint64_t{0xFFFF};
    }
  }
  return done;
}

template <int kBits, typename Steps, bool kOneChunk>
TAMIS_INLINE size_t ChangePlaces(Change change, void* buckets, uint32_t chunk_buckets,
                                 uint64_t* places, size_t n) noexcept {
  switch (change) {
    case Change::kInsert:
      return ChangePlacesBy<kBits, Steps, kOneChunk, Change::kInsert>(buckets, chunk_buckets,
                                                                      places, n);
    case Change::kErase:
      return ChangePlacesBy<kBits, Steps, kOneChunk, Change::kErase>(buckets, chunk_buckets, places,
                                                                     n);
    case Change::kInsertIfAbsent:
      return ChangePlacesBy<kBits, Steps, kOneChunk, Change::kInsertIfAbsent>(
          buckets, chunk_buckets, places, n);
  }
  return 0;
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_CHUNK_H_
