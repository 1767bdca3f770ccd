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

// What kInsertIfAbsent made of a place (see CuckooKernels), for the key of this index.
inline void TellPlace(uint64_t place, uint64_t index, Outcomes& outcomes) noexcept {
  if ((place & 0xFFFF) != 0) {
    outcomes.SetFresh(index);
  } else if ((place & 0xFFFFFFFF) == kIsRefused) {
    outcomes.Reject(index);
  }
}

// The keys of a slice are first distributed to lists, one for each chunk and thread; then each
// chunk is changed by its keys while it stays in cache, in the order in which they came. Since
// chunks have nothing to do with each other, the table comes out as from one key after the other,
// whatever the number of threads.
template <int kBits>
class CuckooWriter final : public BulkWriter {
 public:
  // For about n keys in all. Throws Error(kOutOfMemory) or std::bad_alloc.
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
  // A list is a chain of segments, aligned to their size, of one link and entries: 32 bits of the
  // key's index in the call, 16 of bucket, 16 of fingerprint.
  static constexpr size_t kSegmentWords = 128;
  static constexpr size_t kSegmentBytes = kSegmentWords * sizeof(uint64_t);

  struct Share {
    Storage storage;
    uint64_t* segments = nullptr;
    uint64_t used = 0;              // segments
    uint64_t keys = 0;              // added in this slice
    std::vector<uint64_t*> begins;  // by chunk: its first segment
    std::vector<uint64_t*> ends;    // by chunk: where the next entry goes; nullptr: nothing yet
  };

  static uint64_t* Extend(Share& share, size_t chunk) noexcept;
  // Calls visit(entries) for the segments of a chunk in the order of keys: those of one share, or
  // of all.
  template <typename Visit>
  static void ForEachSegment(const Share& share, size_t chunk, const Visit& visit) noexcept;
  template <typename Visit>
  void ForEachSegment(size_t chunk, const Visit& visit) noexcept;
  // In the call, of the key that an entry of this slice is of.
  uint64_t IndexOf(uint64_t entry) const noexcept;

  const Change change_;
  const Kernels& kernels_;
  cuckoo::Word<kBits>* const buckets_;
  const cuckoo::Geometry geometry_;
  uint64_t max_slice_keys_;
  uint64_t slice_begin_ = 0;  // index of the first key of the slice
  std::vector<Share> shares_;
  std::vector<uint32_t> unchanged_;  // by chunk: entries that now have 0 for the fingerprint
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_CUCKOO_CUCKOO_WRITER_H_
