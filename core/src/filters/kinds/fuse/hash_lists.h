// Hashes in lists by their high bits. The shards of a filter are built from these lists.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_HASH_LISTS_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_HASH_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tamis/detail/storage.h"
#include "tamis/layout/fuse.h"

namespace tamis::detail {

// A list is a chain of segments, which are the units in which lists take memory. Only one thread at
// a time may add hashes.
class HashLists {
 public:
  explicit HashLists(uint32_t log_lists);

  size_t num_lists() const noexcept { return lists_.size(); }
  uint64_t size(size_t list) const noexcept { return lists_[list].size; }

  // Adds each hash to list fuse::ShardOf(hash, 63 - log_lists). Throws Error(kOutOfMemory) or
  // std::bad_alloc.
  void Add(const uint64_t* hashes, size_t n);

  // Copies the hashes of a list to `out`. Returns the end of the copy.
  uint64_t* CopyTo(size_t list, uint64_t* out) const noexcept;

  // Replaces the hashes of a list by `n` <= size(list) others.
  void Replace(size_t list, const uint64_t* hashes, uint64_t n) noexcept;

 private:
  static constexpr size_t kSegmentHashes = 512;
  static constexpr size_t kMaxSlabSegments = 1024;

  struct Segment {
    Segment* next;
    uint64_t hashes[kSegmentHashes];
  };
  struct List {
    uint64_t* at = nullptr;  // where the next hash goes, if the last segment is not full
    uint64_t size = 0;
    Segment* first = nullptr;
    Segment* last = nullptr;
  };

  void Extend(List& list);

  uint32_t shift_;  // argument of fuse::ShardOf
  std::vector<List> lists_;
  std::vector<Storage> slabs_;
  size_t used_ = 0;  // used segments of the last slab
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_HASH_LISTS_H_
