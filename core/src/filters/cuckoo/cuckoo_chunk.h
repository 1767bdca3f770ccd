// Inserting and erasing fingerprints in the chunks of a cuckoo filter: the same code for all
// backends, which differ only in the instructions that it is compiled to.
#ifndef TAMIS_CORE_SRC_FILTERS_CUCKOO_CUCKOO_CHUNK_H_
#define TAMIS_CORE_SRC_FILTERS_CUCKOO_CUCKOO_CHUNK_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "tamis/cuckoo.h"
#include "tamis/detail/change.h"

namespace tamis::detail {

// A view of `chunk_buckets` buckets.
template <int kBits>
class CuckooChunk {
 public:
  using Word = cuckoo::Word<kBits>;

  CuckooChunk(Word* buckets, uint32_t chunk_buckets)
      : buckets_(buckets), chunk_buckets_(chunk_buckets) {}

  // Inserts the fingerprint into its bucket or the alternate one, whichever has fewer. Where both
  // are full it searches for the shortest way to make room, breadth first, and moves fingerprints
  // only when it has found one: a failure changes nothing. The result depends on nothing but the
  // table.
  [[gnu::always_inline]] bool Insert(uint32_t bucket, uint32_t fingerprint) noexcept {
    const uint32_t alternate = Alternate(bucket, fingerprint);
    // Without a branch, which would be mispredicted every other time.
    const uint32_t choose_alternate =
        -static_cast<uint32_t>(NumUsed(buckets_[alternate]) < NumUsed(buckets_[bucket]));
    const uint32_t emptier = bucket ^ ((bucket ^ alternate) & choose_alternate);
    const Word zeros = cuckoo::ZeroSlots<kBits>(buckets_[emptier]);
    if (zeros == 0) return MakeRoom(bucket, alternate, fingerprint);
    // The lowest of `zeros` is the highest bit of the slot.
    buckets_[emptier] |= static_cast<Word>(fingerprint) << (std::countr_zero(zeros) - (kBits - 1));
    return true;
  }

  // Erases one copy of the fingerprint. Returns whether there was one.
  [[gnu::always_inline]] bool Erase(uint32_t bucket, uint32_t fingerprint) noexcept {
    return EraseFrom(bucket, fingerprint) || EraseFrom(Alternate(bucket, fingerprint), fingerprint);
  }

  // How often the two buckets have the fingerprint.
  int Copies(uint32_t bucket, uint32_t fingerprint) const noexcept {
    const uint32_t alternate = Alternate(bucket, fingerprint);
    int copies = 0;
    for (int slot = 0; slot < kSlots; ++slot) {
      copies += Get(bucket, slot) == fingerprint;
      copies += Get(alternate, slot) == fingerprint;
    }
    return copies;
  }

  // Always inlined: g++ takes a function that only prefetches for one without effects, and leaves
  // calls of it out.
  [[gnu::always_inline]] void Prefetch(uint32_t bucket, uint32_t fingerprint) const noexcept {
    __builtin_prefetch(buckets_ + bucket, 1);
    __builtin_prefetch(buckets_ + Alternate(bucket, fingerprint), 1);
  }

 private:
  static constexpr int kSlots = cuckoo::Bucket<kBits>::kSlots;
  // Buckets that a search looks into: with 1024 tables fill to 97.6% (4 slots) and 98.7% (5) before
  // a search fails for the first time, with 4096 to 0.2% more, with 256 to 0.4% less.
  static constexpr uint32_t kMaxNodes = 1024;

  // A full bucket that the search has reached by moving the fingerprint in `slot` of its parent.
  struct Node {
    uint16_t bucket;
    uint16_t parent;  // index of a node; roots have their own
    uint16_t slot;
  };

  uint32_t Alternate(uint32_t bucket, uint32_t fingerprint) const noexcept {
    return cuckoo::AlternateBucket(bucket, fingerprint, chunk_buckets_);
  }
  // cuckoo::NumUsed, with the processor's instruction for the sum, which the header cannot use.
  static int NumUsed(Word word) noexcept {
    constexpr Word kHighs = cuckoo::Bucket<kBits>::kOnes << (kBits - 1);
    constexpr Word kRest = kHighs - cuckoo::Bucket<kBits>::kOnes;
    return std::popcount(static_cast<Word>((((word & ~kHighs) + kRest) | word) & kHighs));
  }
  static int LowestSlot(Word zeros) noexcept { return std::countr_zero(zeros) / kBits; }
  uint32_t Get(uint32_t bucket, int slot) const noexcept {
    return static_cast<uint32_t>(buckets_[bucket] >> (kBits * slot) & cuckoo::kSlotMask<kBits>);
  }
  void Put(uint32_t bucket, int slot, uint32_t fingerprint) noexcept {
    const int shift = kBits * slot;
    buckets_[bucket] = (buckets_[bucket] & ~(cuckoo::kSlotMask<kBits> << shift)) |
                       static_cast<Word>(fingerprint) << shift;
  }

  [[gnu::always_inline]] bool EraseFrom(uint32_t bucket, uint32_t fingerprint) noexcept {
    const Word matches =
        cuckoo::ZeroSlots<kBits>(buckets_[bucket] ^ cuckoo::Broadcast<kBits>(fingerprint));
    if (matches == 0) return false;
    Put(bucket, LowestSlot(matches), 0);
    return true;
  }

  [[gnu::noinline]] bool MakeRoom(uint32_t bucket, uint32_t alternate,
                                  uint32_t fingerprint) noexcept;

  Word* buckets_;
  uint32_t chunk_buckets_;
};

// A path visits no bucket twice: the search expands a bucket the first time it reaches it, so what
// can be had through a second visit was found through the first.
template <int kBits>
bool CuckooChunk<kBits>::MakeRoom(uint32_t bucket, uint32_t alternate,
                                  uint32_t fingerprint) noexcept {
  // Where both buckets have nothing else, a search would only go from the one to the other.
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
      const Word zeros = cuckoo::ZeroSlots<kBits>(buckets_[to]);
      if (zeros == 0) {
        if (num_nodes < kMaxNodes) {
          nodes[num_nodes++] = {static_cast<uint16_t>(to), static_cast<uint16_t>(at),
                                static_cast<uint16_t>(slot)};
        }
        continue;
      }
      // From the free slot back to a root, each fingerprint into the slot that the last one left.
      uint32_t free_bucket = to;
      int free_slot = LowestSlot(zeros);
      int moved_slot = slot;
      for (uint32_t node = at;; node = nodes[node].parent) {
        Put(free_bucket, free_slot, Get(nodes[node].bucket, moved_slot));
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

// Carries out `change` for n places (cuckoo::Pack), in their order. If kOneChunk, `buckets` are
// those of one chunk, and the chunk that a place names is not looked at; else they are the whole
// table. Where a change is not possible, the fingerprint of the place becomes 0. Returns for how
// many places it was possible.
template <int kBits, bool kOneChunk>
[[gnu::always_inline]] inline size_t ChangePlaces(Change change, void* buckets,
                                                  uint32_t chunk_buckets, uint64_t* places,
                                                  size_t n) noexcept {
  // In a chunk, which is in cache, prefetching costs more than it saves.
  constexpr size_t kPrefetchAhead = 16;
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
    const bool possible = change == Change::kInsert ? chunk.Insert(place.bucket, place.fingerprint)
                                                    : chunk.Erase(place.bucket, place.fingerprint);
    if (possible) {
      ++done;
    } else {
      places[i] &= ~uint64_t{0xFFFF};
    }
  }
  return done;
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_CUCKOO_CUCKOO_CHUNK_H_
