// Bulk changes of a cuckoo filter, chunk by chunk.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_WRITER_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/src/bulk/bulk_writer.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"
#include "tamis/layout/cuckoo.h"

namespace tamis::detail {

// Reports the result of kInsertIfAbsent for a place (see CuckooKernels), for the key at `index`.
inline void TellPlace(uint64_t place, uint64_t index, Outcomes& outcomes) noexcept {
  if ((place & 0xFFFF) != 0) {
    outcomes.SetFresh(index);
  } else if ((place & 0xFFFFFFFF) == kIsRefused) {
    outcomes.Reject(index);
  }
}

// First distributes the keys of a slice to lists, one for each chunk and thread. Then changes each
// chunk by its keys, in their order, while the chunk stays in cache. Chunks are independent. So
// with any number of threads, the table is the same as if the keys were taken one after another.
template <int kBits>
class CuckooWriter final : public BulkWriter {
 public:
  // `n` is the approximate number of all keys. Throws Error(kOutOfMemory) or std::bad_alloc.
  CuckooWriter(Change change, const Kernels& kernels, cuckoo::Word<kBits>* buckets,
               const cuckoo::Geometry& geometry, uint64_t n, unsigned threads);

  uint64_t max_slice_keys() const noexcept override { return max_slice_keys_; }
  bool in_order() const noexcept override { return true; }
  void Add(unsigned thread, const Batch& batch, uint64_t index) noexcept override;
  size_t num_tasks() const noexcept override { return geometry_.chunks; }
  void Run(size_t chunk) noexcept override;
  void Tell(unsigned thread, Outcomes& outcomes) noexcept override;
  uint64_t EndSlice(Outcomes& outcomes) noexcept override;

 private:
  // A list is a chain of segments, which are aligned to their size. A segment has one link, and
  // entries of 32 bits for the index of the key in the call, 16 for the bucket and 16 for the
  // fingerprint.
  static constexpr size_t kSegmentWords = 128;
  static constexpr size_t kSegmentBytes = kSegmentWords * sizeof(uint64_t);

  struct Share {
    Storage storage;
    uint64_t* segments = nullptr;
    uint64_t used = 0;              // segments
    uint64_t keys = 0;              // added in this slice
    std::vector<uint64_t*> begins;  // by chunk: its first segment
    std::vector<uint64_t*> ends;    // by chunk: where the next entry goes; nullptr if empty
  };

  static uint64_t* Extend(Share& share, size_t chunk) noexcept;
  // Call visit(entries) for the segments of a chunk in the order of keys: the segments of one
  // share, or of all shares.
  template <typename Visit>
  static void ForEachSegment(const Share& share, size_t chunk, const Visit& visit) noexcept;
  template <typename Visit>
  void ForEachSegment(size_t chunk, const Visit& visit) noexcept;
  // Returns the index of an entry's key among the keys of the call. The entry must be in this
  // slice.
  uint64_t IndexOf(uint64_t entry) const noexcept;

  const Change change_;
  const Kernels& kernels_;
  cuckoo::Word<kBits>* const buckets_;
  const cuckoo::Geometry geometry_;
  uint64_t max_slice_keys_;
  uint64_t slice_begin_ = 0;  // index of the first key of the slice
  std::vector<Share> shares_;
  std::vector<uint32_t> unchanged_;  // by chunk: the entries whose fingerprint is now 0
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_WRITER_H_
