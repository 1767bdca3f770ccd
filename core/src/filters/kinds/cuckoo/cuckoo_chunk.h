// Inserts and erases fingerprints in the chunks of a cuckoo filter. The code is the same for all
// backends, which only compile it to different instructions.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_CHUNK_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_CHUNK_H_

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

// A view of `chunk_buckets` buckets, which no other code changes at the same time.
template <int kBits, typename Buckets = OwnBuckets<kBits>>
class CuckooChunk {
 public:
  using Word = cuckoo::Word<kBits>;

  CuckooChunk(Word* buckets, uint32_t chunk_buckets, Buckets access = {})
      : buckets_(buckets), chunk_buckets_(chunk_buckets), access_(access) {}

  // Inserts the fingerprint into its bucket or the alternate one, whichever has fewer fingerprints.
  // If both are full, searches breadth first for the shortest way to make room, and moves
  // fingerprints if there is a way. Otherwise changes nothing and returns false. The result depends
  // only on the table.
  TAMIS_INLINE bool Insert(uint32_t bucket, uint32_t fingerprint) noexcept {
    const uint32_t alternate = Alternate(bucket, fingerprint);
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
    for (int slot = 0; slot < kSlots; ++slot) {
      copies += Get(bucket, slot) == fingerprint;
      copies += Get(alternate, slot) == fingerprint;
    }
    return copies;
  }

  // Always inlined: see PrefetchRead.
  TAMIS_INLINE void Prefetch(uint32_t bucket, uint32_t fingerprint) const noexcept {
    PrefetchWrite(buckets_ + bucket);
    PrefetchWrite(buckets_ + Alternate(bucket, fingerprint));
  }

  bool Contains(uint32_t bucket, uint32_t fingerprint) const noexcept {
    return cuckoo::PairContains<kBits>(Load(bucket), Load(Alternate(bucket, fingerprint)),
                                       fingerprint);
  }

 private:
  static constexpr int kSlots = cuckoo::Bucket<kBits>::kSlots;
  // The maximum number of buckets in a search. With 1024, tables fill to 97.6% (4 slots) and 98.7%
  // (5 slots) before the first search fails. With 4096, tables fill by 0.2% more, and with 256 by
  // 0.4% less.
  static constexpr uint32_t kMaxNodes = 1024;

  // A full bucket that the search reached by moving the fingerprint in `slot` of its parent.
  struct Node {
    uint16_t bucket;
    uint16_t parent;  // index of a node; a root is its own parent
    uint16_t slot;
  };

  uint32_t Alternate(uint32_t bucket, uint32_t fingerprint) const noexcept {
    return cuckoo::AlternateBucket(bucket, fingerprint, chunk_buckets_);
  }
  // Returns cuckoo::NumUsed(word), computed with a processor instruction that the public header
  // cannot use.
  static int NumUsed(Word word) noexcept {
    constexpr Word kHighs = cuckoo::Bucket<kBits>::kOnes << (kBits - 1);
    constexpr Word kRest = kHighs - cuckoo::Bucket<kBits>::kOnes;
    return std::popcount(static_cast<Word>((((word & ~kHighs) + kRest) | word) & kHighs));
  }
  static int LowestSlot(Word zeros) noexcept { return std::countr_zero(zeros) / kBits; }
  uint32_t Get(uint32_t bucket, int slot) const noexcept {
    return static_cast<uint32_t>(Load(bucket) >> (kBits * slot) & cuckoo::kSlotMask<kBits>);
  }
  Word Load(uint32_t bucket) const noexcept { return access_.Load(buckets_[bucket]); }
  void Put(uint32_t bucket, int slot, uint32_t fingerprint) noexcept {
    const int shift = kBits * slot;
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
template <int kBits, typename Buckets>
bool CuckooChunk<kBits, Buckets>::MakeRoom(uint32_t bucket, uint32_t alternate,
                                           uint32_t fingerprint) noexcept {
  // If both buckets contain only this fingerprint, a search would only go back and forth.
  if (Copies(bucket, fingerprint) == 2 * kSlots) return false;
  Node nodes[kMaxNodes];
  uint32_t num_nodes = 0;
  for (const uint32_t root : {bucket, alternate}) {
    nodes[num_nodes] = {static_cast<uint16_t>(root), static_cast<uint16_t>(num_nodes), 0};
    ++num_nodes;
  }
  for (uint32_t at = 0; at < num_nodes; ++at) {
    const uint32_t from = nodes[at].bucket;
    for (int slot = 0; slot < kSlots; ++slot) {
      const uint32_t to = Alternate(from, Get(from, slot));
      const Word zeros = cuckoo::ZeroSlots<kBits>(Load(to));
      if (zeros == 0) {
        if (num_nodes < kMaxNodes) {
          nodes[num_nodes++] = {static_cast<uint16_t>(to), static_cast<uint16_t>(at),
                                static_cast<uint16_t>(slot)};
        }
        continue;
      }
      // Goes from the free slot back to a root. Each fingerprint moves into the slot that the move
      // before has freed.
      uint32_t free_bucket = to;
      int free_slot = LowestSlot(zeros);
      int moved_slot = slot;
      for (uint32_t node = at;; node = nodes[node].parent) {
        Put(free_bucket, free_slot, Get(nodes[node].bucket, moved_slot));
        access_.Copied(free_bucket, nodes[node].bucket);
        free_bucket = nodes[node].bucket;
        free_slot = moved_slot;
        moved_slot = nodes[node].slot;
        if (nodes[node].parent == node) break;
      }
      Put(free_bucket, free_slot, fingerprint);
      return true;
    }
  }
  return false;
}

// Applies kChange to n places (cuckoo::Pack), in their order: see CuckooKernels. If kOneChunk,
// `buckets` is one chunk, and the chunk that a place names is ignored. Otherwise `buckets` is the
// whole table.
template <int kBits, bool kOneChunk, Change kChange>
TAMIS_INLINE size_t ChangePlacesBy(void* buckets, uint32_t chunk_buckets, uint64_t* places,
                                   size_t n) noexcept {
  // A single chunk is in cache, where prefetching takes longer than it saves.
  constexpr size_t kPrefetchAhead = 16;
  constexpr uint64_t kLowHalf = 0xFFFFFFFF;
  auto* const words = static_cast<cuckoo::Word<kBits>*>(buckets);
  const auto chunk_of = [&](const cuckoo::Place& place) {
    const uint64_t chunk = kOneChunk ? 0 : place.chunk;
    return CuckooChunk<kBits>(words + chunk * chunk_buckets, chunk_buckets);
  };
  size_t done = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!kOneChunk && i + kPrefetchAhead < n) {
      const cuckoo::Place later = cuckoo::Unpack(places[i + kPrefetchAhead]);
      chunk_of(later).Prefetch(later.bucket, later.fingerprint);
    }
    const cuckoo::Place place = cuckoo::Unpack(places[i]);
    auto chunk = chunk_of(place);
    if constexpr (kChange == Change::kInsertIfAbsent) {
      if (chunk.Contains(place.bucket, place.fingerprint)) {
        places[i] = (places[i] & ~kLowHalf) | kIsIn;
        continue;
      }
    }
    const bool possible = kChange == Change::kErase ? chunk.Erase(place.bucket, place.fingerprint)
                                                    : chunk.Insert(place.bucket, place.fingerprint);
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

template <int kBits, bool kOneChunk>
TAMIS_INLINE size_t ChangePlaces(Change change, void* buckets, uint32_t chunk_buckets,
                                 uint64_t* places, size_t n) noexcept {
  switch (change) {
    case Change::kInsert:
      return ChangePlacesBy<kBits, kOneChunk, Change::kInsert>(buckets, chunk_buckets, places, n);
    case Change::kErase:
      return ChangePlacesBy<kBits, kOneChunk, Change::kErase>(buckets, chunk_buckets, places, n);
    case Change::kInsertIfAbsent:
      return ChangePlacesBy<kBits, kOneChunk, Change::kInsertIfAbsent>(buckets, chunk_buckets,
                                                                       places, n);
  }
  return 0;
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_CHUNK_H_
