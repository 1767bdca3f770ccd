// How a filter lies in the keys of the servers: FORMAT.md says it for other languages.
#ifndef TAMIS_REDIS_SRC_FILTER_LAYOUT_H_
#define TAMIS_REDIS_SRC_FILTER_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/layout/split_block.h"

namespace tamis::redis {

// A segment, its state and the header of the server's string together fill one of the sizes that
// the server's allocator has, of which there are four to each power of two: 4, 5, 6 and 7 times
// 2^k. A little more would take up to 1.25 times as much.
inline constexpr uint64_t kSegmentHeadroom = 64;
inline constexpr uint64_t kMinSegment = uint64_t{64} << 10;
inline constexpr uint64_t kMaxSegment = uint64_t{8} << 20;
// Each segment that a call has keys for costs it as much as two keys, so they are as large as they
// can be if each of these numbers of masters is to have shares that differ by at most so much from
// equal ones; of filters that are too small for that, as large as they can be with so many
// segments.
inline constexpr uint64_t kEvenMasters[] = {2, 3, 4, 5, 6, 12};
inline constexpr double kUnevenness = 0.05;
inline constexpr uint64_t kManySegments = 60;
inline constexpr size_t kMaxNameBytes = 200;

// The blocks of a filter, cut into segments of equal size but for the last, which has the rest.
struct Layout {
  uint64_t blocks = 1;          // in [1, split_block::kMaxBlocks]
  uint64_t segment_blocks = 1;  // of each segment but the last

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
  // The slot in the middle of the segment's share of all slots.
  uint32_t SlotOf(uint64_t segment) const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

// The largest segments that are even on masters, else the largest of which there are many, else the
// smallest.
Layout LayoutFor(uint64_t blocks);
// Whether these are segment sizes of some filter.
bool IsSegmentBytes(uint64_t bytes);

// Throws Error(kInvalidArgument) for a name that is empty, longer than kMaxNameBytes or has braces
// or control characters.
void RequireName(std::string_view name);

// The keys of a filter.
std::string DescriptorKey(std::string_view name);
// Of a rebuild, in the slot of the descriptor: who does it, and until when nobody else may.
std::string RebuildKey(std::string_view name);
std::string LeaseKey(std::string_view name);

struct SegmentKey {
  uint32_t slot = 0;
  std::string text;
};
SegmentKey KeyOfSegment(std::string_view name, const Layout& layout, uint64_t generation,
                        uint64_t segment);
// Of bits that wait to be merged, in the slot of the segment.
std::string DeltaKey(std::string_view name, uint32_t slot, uint64_t number);

// 16 hexadecimal digits.
std::string HexText(uint64_t value);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_LAYOUT_H_
