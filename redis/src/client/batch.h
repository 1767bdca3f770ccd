// Keys of a call, hashed and ordered by the segment that they are in.
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

// Keys are taken so many at a time, to bound the memory of a call: 24 bytes for each of them.
inline constexpr size_t kMaxBatch = size_t{1} << 24;

class Batch {
 public:
  // At most kMaxBatch keys. Nulls are left out.
  Batch(const Keys& keys, const HashSpec& hash, const Layout& layout);

  size_t size() const { return hashes_.size(); }
  // Segments that have keys, ascending.
  const std::vector<uint64_t>& segments() const { return segments_; }
  // Of the i-th of these: the hashes of its keys, in the order of the call, and the keys' indices
  // in it.
  std::span<const uint64_t> Hashes(size_t i) const;
  std::span<const uint32_t> Indices(size_t i) const;

 private:
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> indices_;
  std::vector<uint64_t> segments_;
  std::vector<size_t> first_;  // of each of segments_, in the other two; and the end
};

// A block to change: its number in the segment, and the bits to set.
struct BlockMask {
  uint32_t number = 0;
  uint32_t bits[split_block::kWords] = {};

  // Its words, as servers have them: little-endian.
  std::string Bytes() const;
};
// One for each block that the hashes are in, ascending. `first_block`: that of the segment.
std::vector<BlockMask> MasksOf(std::span<const uint64_t> hashes, const Layout& layout,
                               uint64_t first_block);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_BATCH_H_
