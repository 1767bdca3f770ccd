// The keys of a call, hashed and sorted by segment.
#ifndef TAMIS_REDIS_SRC_CLIENT_BATCH_H_
#define TAMIS_REDIS_SRC_CLIENT_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "redis/src/filter/layout.h"
#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis::redis {

// Maximum number of keys in a batch. It bounds the memory of a call, which is 24 bytes per key.
inline constexpr size_t kMaxBatch = size_t{1} << 24;

class Batch {
 public:
  // `keys` must contain at most kMaxBatch keys. The batch does not contain nulls.
  Batch(const Keys& keys, const HashSpec& hash, const Layout& layout);

  size_t size() const { return hashes_.size(); }
  // The segments that have keys, ascending.
  const std::vector<uint64_t>& segments() const { return segments_; }
  // Return the hashes of the keys in segments()[i], in the order of the call, and the indices of
  // these keys in the call.
  std::span<const uint64_t> Hashes(size_t i) const;
  std::span<const uint32_t> Indices(size_t i) const;

 private:
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> indices_;
  std::vector<uint64_t> segments_;
  std::vector<size_t> first_;  // position of each segment in hashes_ and indices_, and the end
};

// A block to change: its number in the segment, and the bits to set.
struct BlockMask {
  uint32_t number = 0;
  uint32_t bits[split_block::kWords] = {};

  // Returns `bits` as servers store them: little-endian.
  std::string Bytes() const;
};
// Returns one mask for each block that the hashes fall into, ascending. `first_block` is the first
// block of the segment.
std::vector<BlockMask> MasksOf(std::span<const uint64_t> hashes, const Layout& layout,
                               uint64_t first_block);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_BATCH_H_
