// The keys of a filter on the servers, and how it is cut into segments: see FORMAT.md.
#ifndef TAMIS_REDIS_SRC_FILTER_LAYOUT_H_
#define TAMIS_REDIS_SRC_FILTER_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/layout/split_block.h"

namespace tamis::redis {

// A segment, its state and the server's string header together fill one size class of the server's
// allocator. The classes are 4, 5, 6 and 7 times 2^k. A segment with one byte more would occupy up
// to 1.25 times the memory.
inline constexpr uint64_t kSegmentHeadroom = 64;
inline constexpr uint64_t kMinSegment = uint64_t{64} << 10;
inline constexpr uint64_t kMaxSegment = uint64_t{8} << 20;
// Each segment that a call uses takes as much time as about three more keys, so segments are large.
// LayoutFor chooses the largest size with which the shares of each of these numbers of masters
// differ from equal shares by at most kUnevenness. If the filter is too small for this, it chooses
// the largest size that results in at least kManySegments segments. If the filter is too small for
// kManySegments segments, it chooses the smallest size.
inline constexpr uint64_t kEvenMasters[] = {2, 3, 4, 5, 6, 12};
inline constexpr double kUnevenness = 0.05;
inline constexpr uint64_t kManySegments = 60;
inline constexpr size_t kMaxNameBytes = 200;

// The blocks of a filter, cut into segments of equal size. The last segment has the remaining
// blocks.
struct Layout {
  uint64_t blocks = 1;          // in [1, split_block::kMaxBlocks32]
  uint64_t segment_blocks = 1;  // number of blocks in each segment except the last

  uint64_t segments() const { return (blocks + segment_blocks - 1) / segment_blocks; }
  uint64_t segment_bytes() const { return segment_blocks * split_block::kBlockBytes; }
  uint64_t bytes() const { return blocks * split_block::kBlockBytes; }
  uint64_t SegmentOf(uint64_t block) const { return block / segment_blocks; }
  uint64_t FirstBlock(uint64_t segment) const { return segment * segment_blocks; }
  uint64_t BlocksOf(uint64_t segment) const {
    const uint64_t rest = blocks - FirstBlock(segment);
    return rest < segment_blocks ? rest : segment_blocks;
  }
  uint64_t BytesOf(uint64_t segment) const { return BlocksOf(segment) * split_block::kBlockBytes; }
  // Returns the slot in the middle of the segment's share of all slots.
  uint32_t SlotOf(uint64_t segment) const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

// Returns the layout for a number of blocks.
Layout LayoutFor(uint64_t blocks);
// Returns whether `bytes` is one of the possible segment sizes.
bool IsSegmentBytes(uint64_t bytes);

// Throws Error(kInvalidArgument) for a name that is empty, longer than kMaxNameBytes or has braces
// or control characters.
void RequireName(std::string_view name);

// The keys of a filter.
std::string DescriptorKey(std::string_view name);
// The record and the lease of a rebuild, in the slot of the descriptor.
std::string RebuildKey(std::string_view name);
std::string LeaseKey(std::string_view name);

struct SegmentKey {
  uint32_t slot = 0;
  std::string text;
};
SegmentKey KeyOfSegment(std::string_view name, const Layout& layout, uint64_t generation,
                        uint64_t segment);
// The key of bits that wait to be merged, in the slot of the segment.
std::string DeltaKey(std::string_view name, uint32_t slot, uint64_t number);

// Returns 16 hexadecimal digits in lower case.
std::string HexText(uint64_t value);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_LAYOUT_H_
