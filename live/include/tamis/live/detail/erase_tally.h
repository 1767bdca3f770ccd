// Counters of erasures, which show whether a key may have been erased.
#ifndef TAMIS_LIVE_DETAIL_ERASE_TALLY_H_
#define TAMIS_LIVE_DETAIL_ERASE_TALLY_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "tamis/hash.h"
#include "tamis/hash_keys.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Several keys share a counter. If the counter of a key has not changed, the key was not erased. If
// the counter has changed, the key may have been erased. Thread-safe.
class EraseTally {
 public:
  // Counts an erasure of each key. Must be called before the keys are erased.
  void Add(const Keys& keys, const HashSpec& hash_of) {
    uint64_t hashes[256];
    for (const Keys& some : keys.Chunks(std::size(hashes))) {
      const size_t n = HashKeys(some, hash_of, hashes);
      for (const uint64_t hash : std::span(hashes, n)) ++counts_[hash % kCounts];
    }
  }

  // Returns the counter of each key. `keys` must not contain nulls. Throws std::bad_alloc.
  std::vector<uint32_t> Of(const Keys& keys, const HashSpec& hash_of) const {
    std::vector<uint64_t> hashes(keys.size());
    HashKeys(keys, hash_of, hashes);
    std::vector<uint32_t> counts(keys.size());
    std::transform(hashes.begin(), hashes.end(), counts.begin(),
                   [this](uint64_t hash) { return counts_[hash % kCounts].load(); });
    return counts;
  }

 private:
  static constexpr size_t kCounts = 4096;

  std::array<std::atomic<uint32_t>, kCounts> counts_ = {};
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_ERASE_TALLY_H_
