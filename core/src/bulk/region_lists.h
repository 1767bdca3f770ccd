// Keys ordered by the filter region that they fall in, with a bit for each key.
#ifndef TAMIS_CORE_SRC_BULK_REGION_LISTS_H_
#define TAMIS_CORE_SRC_BULK_REGION_LISTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"

namespace tamis::detail {

// The facts about a filter that its regions depend on. A key must be in block BlockIndex, and in no
// other.
struct RegionTarget {
  uint64_t bytes;
  uint64_t num_blocks;
};

// Distributes hashes to lists, one for each region, in which they keep their order. Each hash in a
// list has a bit, which ForRegion fills. Each key remembers its place in a list, from which
// ForEachWord fetches its bit. Not thread-safe.
class RegionLists {
 public:
  // `max_keys` is the largest number of keys at a time, below 2^31. Throws Error(kOutOfMemory) or
  // std::bad_alloc if the lists cannot be allocated: 12 bytes for each key, and 8 KiB for each
  // region.
  RegionLists(const RegionTarget& target, uint64_t max_keys);

  size_t num_regions() const noexcept { return firsts_.size(); }
  uint64_t num_keys() const noexcept { return keys_; }

  void Add(const Kernels& kernels, const Batch& batch) noexcept;

  // Calls find(hashes, bits) for the keys of a region, in their order. `find` must fill `bits`,
  // which has BitmapWords(hashes.n) words.
  template <typename Find>
  void ForRegion(size_t region, const Find& find) {
    uint32_t segment = firsts_[region];
    if (segment == kNone) return;
    const uint32_t last = (ends_[region] - 1) / kSegmentHashes;
    for (;; segment = next_[segment]) {
      const uint64_t begin = uint64_t{segment} * kSegmentHashes;
      const uint64_t n = segment == last ? ends_[region] - begin : kSegmentHashes;
      find(HashBatch(hash_at(begin), n), bits_.data() + begin / 64);
      if (segment == last) break;
    }
  }

  // Calls visit(begin, word, n) for all added keys, at most 64 at a time: keys [begin, begin + n).
  // Bit i of `word` is the bit of key begin + i, and bits past n are 0.
  template <typename Visit>
  void ForEachWord(const Visit& visit) const {
    const uint64_t* const bits = bits_.data();
    const uint32_t* const places = place_of(0);
    for (uint64_t begin = 0; begin < keys_; begin += 64) {
      const size_t n = std::min<uint64_t>(64, keys_ - begin);
      // Takes the bits from the top down, one by one, because shifting each bit by i would take
      // longer.
      uint64_t word = 0;
      for (size_t i = n; i-- > 0;) {
        const uint32_t place = places[begin + i];
        word = (word << 1) | ((bits[place / 64] >> (place % 64)) & 1);
      }
      visit(begin, word, n);
    }
  }

  // Removes all keys.
  void Clear() noexcept;

 private:
  // A list is a chain of segments with this number of hashes each.
  static constexpr uint32_t kSegmentHashes = 1024;
  static constexpr uint32_t kNone = ~uint32_t{0};

  uint32_t Extend(size_t region) noexcept;

  uint64_t* hash_at(uint64_t place) const { return Words<uint64_t>(hashes_) + place; }
  uint32_t* place_of(uint64_t key) const { return Words<uint32_t>(places_) + key; }

  template <typename T>
  static T* Words(const Storage& storage) {
    return reinterpret_cast<T*>(storage.data());
  }

  uint64_t num_blocks_;
  unsigned shift_;  // region = block >> shift_
  // A place is the index of a hash, counted from the first hash of all segments.
  Storage hashes_;
  Storage places_;                // the place of each key, in the order of keys
  std::vector<uint64_t> bits_;    // one for each place
  std::vector<uint32_t> next_;    // by segment: the next one of its list
  std::vector<uint32_t> firsts_;  // by region: the first segment of its list, or kNone
  std::vector<uint32_t> ends_;    // by region: where the next hash goes
  uint32_t used_ = 0;             // segments
  uint64_t keys_ = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_REGION_LISTS_H_
