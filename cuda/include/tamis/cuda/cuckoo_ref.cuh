// A trivially copyable view of a cuckoo filter in device memory, to pass by value to kernels.
//
// Like filter_ref.cuh, this header also compiles as plain C++, where the view works on host memory.
#ifndef TAMIS_CUDA_CUCKOO_REF_CUH_
#define TAMIS_CUDA_CUCKOO_REF_CUH_

#include <cstdint>

#include "tamis/cuda/device_memory.cuh"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/layout/cuckoo.h"

namespace tamis::cuda {

// Any number of threads may insert at the same time, or erase, or query. Different operations must
// not run at the same time. A kernel sees the changes of all earlier kernels in its stream.
//
// A fingerprint is never lost. To move one, a thread first copies it to its other bucket, and then
// replaces the old copy. If another thread replaced the old copy first, one of the two copies is
// removed.
template <int kBits>
struct CuckooRef {
  using Word = cuckoo::Word<kBits>;

  Word* words;  // geometry.buckets() elements
  cuckoo::Geometry geometry;
  tamis::detail::KeyHasher hasher;

  // An integer key is hashed by its value, widened to 64 bits.
  TAMIS_HD bool Contains(uint64_t key) const { return ContainsHash(hasher(key)); }
  // Returns false and changes nothing if the key does not fit.
  TAMIS_HD bool Insert(uint64_t key) const { return InsertHash(hasher(key)); }
  // Erases one copy of a key that was inserted. Returns whether a copy was found.
  TAMIS_HD bool Erase(uint64_t key) const { return EraseHash(hasher(key)); }

  // The following functions do the same for hashes made with the filter's hash kind and seed.

  // Reads the second bucket only if the first does not contain the fingerprint, which halves the
  // memory traffic for keys found in the first bucket.
  TAMIS_HD bool ContainsHash(uint64_t hash) const {
    const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry);
    const Word* const chunk = Chunk(place);
    const Word all = cuckoo::Broadcast<kBits>(place.fingerprint);
    if (cuckoo::ZeroSlots<kBits>(chunk[place.bucket] ^ all) != 0) return true;
    return cuckoo::ZeroSlots<kBits>(chunk[Alternate(place.bucket, place.fingerprint)] ^ all) != 0;
  }

  // Like SplitBlockRef::ContainsHashIf. Lanes without a key read the buckets of the hash 0.
  TAMIS_HD bool ContainsHashIf(uint32_t wanted, uint64_t hash) const {
    const bool asked = (wanted & 1) != 0;
    return ContainsHash(asked ? hash : 0) && asked;
  }

  TAMIS_HD bool InsertHash(uint64_t hash) const {
    uint16_t nodes[kFewNodes];
    return InsertHash(hash, nodes, kFewNodes);
  }
  // Inserts with memory for a longer search. `nodes` has `max_nodes` elements, from kFewNodes to
  // kManyNodes, of 16 bits or more each.
  template <typename Node>
  TAMIS_HD bool InsertHash(uint64_t hash, Node* nodes, uint32_t max_nodes) const {
    const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry);
    Word* const chunk = Chunk(place);
    const uint32_t alternate = Alternate(place.bucket, place.fingerprint);
    const Word all = cuckoo::Broadcast<kBits>(place.fingerprint);
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
      // Uses the first bucket if it has room, so that most queries and insertions do not read the
      // second.
      const Word here = detail::LoadShared(chunk + place.bucket);
      if (Add(chunk + place.bucket, here, place.fingerprint)) return true;
      const Word there = detail::LoadShared(chunk + alternate);
      if (Add(chunk + alternate, there, place.fingerprint)) return true;
      // If both contain only this fingerprint, a search would only alternate between them.
      if (here == all && there == all) return false;
      const Search outcome =
          MakeRoom(chunk, place.bucket, alternate, place.fingerprint, nodes, max_nodes);
      if (outcome != Search::kDisturbed) return outcome == Search::kDone;
    }
    return false;
  }

  TAMIS_HD bool EraseHash(uint64_t hash) const {
    const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry);
    Word* const chunk = Chunk(place);
    return Remove(chunk + place.bucket, place.fingerprint) ||
           Remove(chunk + Alternate(place.bucket, place.fingerprint), place.fingerprint);
  }

  // Number of buckets that a search visits. With kFewNodes, a table fills to half a percent less
  // than on the host, which visits kManyNodes. More nodes would need local memory for each thread
  // that a GPU can run.
  static constexpr uint32_t kFewNodes = 128;
  static constexpr uint32_t kManyNodes = 1024;

 private:
  static constexpr int kSlots = cuckoo::Bucket<kBits>::kSlots;
  // Number of searches that other threads may disturb before the insertion fails.
  static constexpr int kMaxAttempts = 32;
  enum class Search { kDone, kNoRoom, kDisturbed };

  // A node of a search is the 16-bit index of a full bucket. The search begins at the first two
  // nodes. Each other node is reached by moving the fingerprint in one slot of an earlier node. All
  // slots of a node come before the slots of the next node, so the position of a node determines
  // its parent.
  static constexpr uint32_t kRoots = 2;
  static_assert(cuckoo::kMaxChunkBuckets<kBits> <= uint32_t{1} << 16);
  static TAMIS_HD uint32_t ParentOf(uint32_t node) { return (node - kRoots) / kSlots; }
  static TAMIS_HD uint32_t SlotOf(uint32_t node) { return (node - kRoots) % kSlots; }

  TAMIS_HD Word* Chunk(const cuckoo::Place& place) const {
    return words + uint64_t{place.chunk} * geometry.chunk_buckets;
  }
  TAMIS_HD uint32_t Alternate(uint32_t bucket, uint32_t fingerprint) const {
    return cuckoo::AlternateBucket(bucket, fingerprint, geometry.chunk_buckets);
  }

  static TAMIS_HD uint32_t Get(Word word, uint32_t slot) {
    return static_cast<uint32_t>(word >> (kBits * slot) & cuckoo::kSlotMask<kBits>);
  }
  static TAMIS_HD Word With(Word word, uint32_t slot, uint32_t fingerprint) {
    const uint32_t shift = kBits * slot;
    return static_cast<Word>((word & ~(cuckoo::kSlotMask<kBits> << shift)) |
                             static_cast<Word>(fingerprint) << shift);
  }

  // Adds the fingerprint to a free slot, and returns whether there was one. `word` is the bucket as
  // it was last read.
  static TAMIS_HD bool Add(Word* bucket, Word word, uint32_t fingerprint) {
    for (Word zeros; (zeros = cuckoo::ZeroSlots<kBits>(word)) != 0;) {
      const auto slot = static_cast<uint32_t>(detail::LowestBit(zeros) / kBits);
      if (detail::AtomicReplace(bucket, word, With(word, slot, fingerprint))) return true;
    }
    return false;
  }

  // Removes one copy, and returns whether there was one.
  static TAMIS_HD bool Remove(Word* bucket, uint32_t fingerprint) {
    const Word all = cuckoo::Broadcast<kBits>(fingerprint);
    Word word = detail::LoadShared(bucket);
    for (Word matches; (matches = cuckoo::ZeroSlots<kBits>(word ^ all)) != 0;) {
      const auto slot = static_cast<uint32_t>(detail::LowestBit(matches) / kBits);
      if (detail::AtomicReplace(bucket, word, With(word, slot, 0))) return true;
    }
    return false;
  }

  // If the slot contains `old`, replaces it by `fingerprint` and returns true. Otherwise returns
  // false.
  static TAMIS_HD bool Replace(Word* bucket, uint32_t slot, uint32_t old, uint32_t fingerprint) {
    Word word = detail::LoadShared(bucket);
    while (Get(word, slot) == old) {
      if (detail::AtomicReplace(bucket, word, With(word, slot, fingerprint))) return true;
    }
    return false;
  }

  // Searches, breadth first, for a path of moves that ends in a free slot. Then makes these moves,
  // beginning with the last, and puts the new fingerprint into the slot that becomes free.
  template <typename Node>
  TAMIS_HD Search MakeRoom(Word* chunk, uint32_t first, uint32_t second, uint32_t fingerprint,
                           Node* nodes, uint32_t max_nodes) const {
    nodes[0] = static_cast<Node>(first);
    nodes[1] = static_cast<Node>(second);
    uint32_t num_nodes = kRoots;
    for (uint32_t at = 0; at < num_nodes; ++at) {
      const uint32_t from = nodes[at];
      const Word word = detail::LoadShared(chunk + from);
      for (uint32_t slot = 0; slot < kSlots; ++slot) {
        const uint32_t moved = Get(word, slot);
        if (moved == 0) return Search::kDisturbed;  // there is room now
        const uint32_t to = Alternate(from, moved);
        if (cuckoo::ZeroSlots<kBits>(detail::LoadShared(chunk + to)) == 0) {
          if (num_nodes < max_nodes) nodes[num_nodes++] = static_cast<Node>(to);
          continue;
        }
        return Move(chunk, nodes, at, slot, moved, fingerprint);
      }
    }
    return Search::kNoRoom;
  }

  // Carries out the path whose last move takes `moved` from slot `slot` of node `at` to its
  // alternate bucket.
  template <typename Node>
  TAMIS_HD Search Move(Word* chunk, const Node* nodes, uint32_t at, uint32_t slot, uint32_t moved,
                       uint32_t fingerprint) const {
    Word* const end = chunk + Alternate(nodes[at], moved);
    if (!Add(end, detail::LoadShared(end), moved)) return Search::kDisturbed;
    // From here on, the buckets of `moved` contain one copy too many.
    while (true) {
      const uint32_t bucket = nodes[at];
      const bool is_root = at < kRoots;
      const uint32_t parent = is_root ? at : ParentOf(at);
      const uint32_t parent_slot = is_root ? 0 : SlotOf(at);
      const uint32_t next =
          is_root ? fingerprint : Get(detail::LoadShared(chunk + nodes[parent]), parent_slot);
      // Another thread may have put a fingerprint there that does not belong in this bucket.
      const bool is_on_path = is_root || (next != 0 && Alternate(nodes[parent], next) == bucket);
      if (!is_on_path || !Replace(chunk + bucket, slot, moved, next)) {
        const uint32_t alternate = Alternate(bucket, moved);
        while (!Remove(chunk + alternate, moved) && !Remove(chunk + bucket, moved)) {
        }
        return Search::kDisturbed;
      }
      if (is_root) return Search::kDone;
      at = parent;
      slot = parent_slot;
      moved = next;
    }
  }
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_CUCKOO_REF_CUH_
