// Builds the shards of a binary fuse filter.
#ifndef TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_SHARD_H_
#define TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tamis/layout/fuse.h"

namespace tamis::detail {

enum class ShardOutcome : uint8_t {
  kBuilt,
  kDuplicates,  // two hashes are equal
  kStuck,       // no multiplier builds the shard with this geometry
};

// Builds one shard after another in the same memory. Each thread needs its own object.
class FuseShard {
 public:
  // Attempts per shard and geometry. For random hashes, an attempt fails with a probability of at
  // most 1/5, and from 10,000 hashes on of at most 1/50.
  static constexpr uint32_t kMaxAttempts = 32;

  // Throws std::bad_alloc.
  explicit FuseShard(const fuse::Geometry& geometry);

  // Finds a multiplier with which every hash gets its own slot, and the order in which to assign
  // slots. The result depends only on the set of hashes. Reorders `hashes`. Throws std::bad_alloc.
  ShardOutcome Peel(std::span<uint64_t> hashes);
  uint64_t multiplier() const noexcept { return multiplier_; }
  // Assigns the slots of the last shard that was peeled: slots [begin, begin + stride), which must
  // be zeros.
  template <int kBits>
  void Assign(unsigned char* slots, uint64_t begin) noexcept;

 private:
  // Returns how many of the hashes were peeled.
  size_t TryToPeel(std::span<const uint64_t> hashes) noexcept;
  void SortBySegment(std::span<const uint64_t> hashes) noexcept;

  const fuse::Geometry geometry_;
  uint64_t multiplier_ = 0;
  size_t peeled_ = 0;
  std::vector<uint64_t> mixed_;   // hashes times the multiplier; later in the order of peeling
  std::vector<uint32_t> starts_;  // by segment: where its first hash goes
  std::vector<uint64_t> xors_;    // by slot: the xor of the hashes with this slot
  std::vector<uint8_t> degrees_;  // by slot: the number of these hashes
  std::vector<uint32_t> queue_;   // slots of one hash; later all slots in the order of peeling
};

// Sorts hashes and drops the copies. Returns how many are left.
size_t DropCopies(uint64_t* hashes, size_t n) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_KINDS_FUSE_FUSE_SHARD_H_
