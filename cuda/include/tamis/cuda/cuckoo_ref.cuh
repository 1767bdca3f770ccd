// A trivially copyable view of a cuckoo filter in device memory, for kernels of yours.
//
// As filter_ref.cuh, it also compiles as plain C++ and works on host memory there.
#ifndef TAMIS_CUDA_CUCKOO_REF_CUH_
#define TAMIS_CUDA_CUCKOO_REF_CUH_

#include <cstdint>

#include "tamis/cuda/device_memory.cuh"
#include "tamis/detail/hd.h"
#include "tamis/detail/kernels.h"
#include "tamis/layout/cuckoo.h"

namespace tamis::cuda {

// Any number of threads may insert at the same time, or erase, or look keys up, but two of these
// must not mix: what one kernel does is seen by the kernels that come after it in the stream.
//
// A fingerprint is never lost. It moves by being copied to its other bucket first; only then is the
// copy that it leaves behind replaced, and if another thread was faster, one copy is taken back.
template <int kBits>
struct CuckooRef {
  using Word = cuckoo::Word<kBits>;

  Word* words;  // geometry.buckets() of them
  cuckoo::Geometry geometry;
  tamis::detail::KeyHasher hasher;

  // Integers are keys by their value widened to 64 bits.
  TAMIS_HD bool Contains(uint64_t key) const { return ContainsHash(hasher(key)); }
  // Returns false, with nothing changed, if no room could be made for it.
  TAMIS_HD bool Insert(uint64_t key) const { return InsertHash(hasher(key)); }
  // One copy, of a key that was inserted. Returns whether it was found.
  TAMIS_HD bool Erase(uint64_t key) const { return EraseHash(hasher(key)); }

  // The same for hashes made with the filter's hash kind and seed.

  // The second bucket is read only if the first does not have the fingerprint: that is half of the
  // memory traffic of a key that is in.
  TAMIS_HD bool ContainsHash(uint64_t hash) const {
    const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry);
    const Word* const chunk = Chunk(place);
    const Word all = cuckoo::Broadcast<kBits>(place.fingerprint);
    if (cuckoo::ZeroSlots<kBits>(chunk[place.bucket] ^ all) != 0) return true;
    return cuckoo::ZeroSlots<kBits>(chunk[Alternate(place.bucket, place.fingerprint)] ^ all) != 0;
  }

  // As that of SplitBlockRef: lanes without a key look where a hash of 0 would be.
  TAMIS_HD bool ContainsHashIf(uint32_t wanted, uint64_t hash) const {
    const bool asked = (wanted & 1) != 0;
    return ContainsHash(asked ? hash : 0) && asked;
  }

  TAMIS_HD bool InsertHash(uint64_t hash) const {
    uint16_t nodes[kFewNodes];
    return InsertHash(hash, nodes, kFewNodes);
  }
  // With memory for a longer search, of kFewNodes to kManyNodes elements of 16 bits or more.
  template <typename Node>
  TAMIS_HD bool InsertHash(uint64_t hash, Node* nodes, uint32_t max_nodes) const {
    const cuckoo::Place place = cuckoo::Locate<kBits>(hash, geometry);
    Word* const chunk = Chunk(place);
    const uint32_t alternate = Alternate(place.bucket, place.fingerprint);
    const Word all = cuckoo::Broadcast<kBits>(place.fingerprint);
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
      // Into the first bucket where that has room, so that most keys are found, and most inserted,
      // without a look at the other one.
      const Word here = detail::LoadShared(chunk + place.bucket);
      if (Add(chunk + place.bucket, here, place.fingerprint)) return true;
      const Word there = detail::LoadShared(chunk + alternate);
      if (Add(chunk + alternate, there, place.fingerprint)) return true;
      // Where both have nothing else, a search would only go from the one to the other.
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

  // Buckets that a search looks into. With kFewNodes a table fills to half a percent less than on
  // the host, which looks into kManyNodes. More would take local memory, for each of the threads
  // that a GPU can have.
  static constexpr uint32_t kFewNodes = 128;
  static constexpr uint32_t kManyNodes = 1024;

 private:
  static constexpr int kSlots = cuckoo::Bucket<kBits>::kSlots;
  // Searches that other threads may disturb before a key is given up.
  static constexpr int kMaxAttempts = 32;
  enum class Search { kDone, kNoRoom, kDisturbed };

  // A node of a search is a full bucket, of at most 16 bits. The first two are where the search
  // begins; the others are reached by moving the fingerprint in a slot of an earlier one, and all
  // slots of a node come before those of the next: so their parents need not be kept.
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

  // Into a free slot, if there is one. `word` is what the bucket was when last looked at.
  static TAMIS_HD bool Add(Word* bucket, Word word, uint32_t fingerprint) {
    for (Word zeros; (zeros = cuckoo::ZeroSlots<kBits>(word)) != 0;) {
      const auto slot = static_cast<uint32_t>(detail::LowestBit(zeros) / kBits);
      if (detail::AtomicReplace(bucket, word, With(word, slot, fingerprint))) return true;
    }
    return false;
  }

  // One copy, if there is one.
  static TAMIS_HD bool Remove(Word* bucket, uint32_t fingerprint) {
    const Word all = cuckoo::Broadcast<kBits>(fingerprint);
    Word word = detail::LoadShared(bucket);
    for (Word matches; (matches = cuckoo::ZeroSlots<kBits>(word ^ all)) != 0;) {
      const auto slot = static_cast<uint32_t>(detail::LowestBit(matches) / kBits);
      if (detail::AtomicReplace(bucket, word, With(word, slot, 0))) return true;
    }
    return false;
  }

  // Puts `fingerprint` where `old` is, unless that has left its slot.
  static TAMIS_HD bool Replace(Word* bucket, uint32_t slot, uint32_t old, uint32_t fingerprint) {
    Word word = detail::LoadShared(bucket);
    while (Get(word, slot) == old) {
      if (detail::AtomicReplace(bucket, word, With(word, slot, fingerprint))) return true;
    }
    return false;
  }

  // Breadth first for a path of moves that ends in a free slot; then moves from its end, and puts
  // the new fingerprint into the slot that becomes free.
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

  // Moves along the path that ends with `moved` of slot `slot` of node `at` going to its alternate
  // bucket.
  template <typename Node>
  TAMIS_HD Search Move(Word* chunk, const Node* nodes, uint32_t at, uint32_t slot, uint32_t moved,
                       uint32_t fingerprint) const {
    Word* const end = chunk + Alternate(nodes[at], moved);
    if (!Add(end, detail::LoadShared(end), moved)) return Search::kDisturbed;
    // From here on there is one copy of `moved` too many, in one of its two buckets.
    while (true) {
      const uint32_t bucket = nodes[at];
      const bool is_root = at < kRoots;
      const uint32_t parent = is_root ? at : ParentOf(at);
      const uint32_t parent_slot = is_root ? 0 : SlotOf(at);
      const uint32_t next =
          is_root ? fingerprint : Get(detail::LoadShared(chunk + nodes[parent]), parent_slot);
      // Another thread may have put something else there, that does not belong into this bucket.
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
