// Bulk insertion of the keys that a filter beyond the caches does not have, ordered by the region
// of the filter a key falls in.
#ifndef TAMIS_CORE_SRC_BULK_ABSENT_WRITER_H_
#define TAMIS_CORE_SRC_BULK_ABSENT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/src/bulk/bulk_writer.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"

namespace tamis::detail {

// As PartitionedWriter, but equal keys keep their order, of which the first is new: the hashes of a
// slice are distributed to lists, one for each region and thread; then each region takes its lists,
// in the order of threads, while it stays in cache. Each key remembers its place in a list, from
// where its bit is fetched in the end.
class AbsentWriter final : public BulkWriter {
 public:
  // What is written to.
  struct Target {
    uint64_t bytes;       // of the filter
    uint64_t num_blocks;  // as PartitionedWriter::Target has it
    // Inserts the absent ones of a batch of hashes, and tells by bits which they were. Called by
    // one thread at a time for each region.
    std::function<void(const Batch& hashes, uint64_t* fresh)> insert;
  };

  // For about `n` keys in all. Throws Error(kOutOfMemory) or std::bad_alloc if there is no memory
  // for the lists, which take about 100 MiB at most, and 32 KiB for each region and thread.
  AbsentWriter(Target target, const Kernels& kernels, uint64_t n, unsigned threads);

  uint64_t max_slice_keys() const noexcept override { return max_slice_keys_; }
  bool in_order() const noexcept override { return true; }
  void Add(unsigned thread, const Batch& batch, uint64_t index) noexcept override;
  size_t num_tasks() const noexcept override { return num_regions_; }
  void Run(size_t region) noexcept override;
  void Tell(unsigned thread, Outcomes& outcomes) noexcept override;
  uint64_t EndSlice(Outcomes&) noexcept override;

 private:
  // A list is a chain of segments of so many hashes.
  static constexpr uint32_t kSegmentHashes = 4096;
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Of one thread. Places count hashes from the first one of all segments.
  struct Share {
    Storage hashes;
    Storage places;                // of each key, in their order
    std::vector<uint64_t> fresh;   // a bit for each place
    std::vector<uint32_t> next;    // by segment: the next one of its list
    std::vector<uint32_t> firsts;  // by region: the first segment of its list, or kNone
    std::vector<uint32_t> ends;    // by region: where the next hash goes
    uint32_t used = 0;             // segments
    uint64_t keys = 0;             // added in this slice
    uint64_t num_fresh = 0;        // of these, told in this slice
    uint64_t first_index = 0;      // of these, in the whole call

    uint64_t* hash_at(uint64_t place) const { return Words<uint64_t>(hashes) + place; }
    uint32_t* place_of(uint64_t key) const { return Words<uint32_t>(places) + key; }

    template <typename T>
    static T* Words(const Storage& storage) {
      return reinterpret_cast<T*>(storage.data());
    }
  };

  static uint32_t Extend(Share& share, size_t region) noexcept;
  static void Clear(Share& share) noexcept;

  const Target target_;
  const Kernels& kernels_;
  unsigned shift_;  // region = block >> shift_
  size_t num_regions_;
  uint64_t max_slice_keys_;
  std::vector<Share> shares_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_ABSENT_WRITER_H_
