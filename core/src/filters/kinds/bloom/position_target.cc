#include "core/src/filters/kinds/bloom/position_target.h"

#include <algorithm>
#include <bit>
#include <span>

#include "core/src/bulk/regions.h"
#include "tamis/detail/compiler.h"
#include "tamis/layout/bloom.h"

namespace tamis::detail {
namespace {

// Measured in bench/NOTES_BLOOM.md. A region and the part of the list that is read should fit in
// the second-level cache. No region crosses a multiple of 2^32 bits, so the low half of a position
// is enough for an entry.
constexpr unsigned kMinRegionShift = 22;  // 512 KiB
constexpr unsigned kMaxRegionShift = 32;
constexpr size_t kLineEntries = 16;  // positions in a cache line
constexpr size_t kLineWords = 8;
// Entries between the one that is written and the one whose line is prefetched. The prefetcher of
// the processor stops at the end of a page.
constexpr size_t kEntriesAhead = 1024;

// Loads words [begin, end) into the caches, in order. Positions would load them in random order,
// which takes longer, and processors drop prefetches if there are so many.
void Load(const uint64_t* begin, const uint64_t* end) noexcept {
  for (; begin < end; begin += kLineWords) *static_cast<const volatile uint64_t*>(begin);
}

// Sets the bits at positions whose high half is 0.
void SetBits(uint64_t* words, std::span<const uint32_t> positions) noexcept {
  size_t i = 0;
  for (; i + kLineEntries <= positions.size(); i += kLineEntries) {
    PrefetchRead(positions.data() + i + kEntriesAhead);
    for (size_t j = i; j < i + kLineEntries; ++j) bloom::SetBit(words, positions[j]);
  }
  for (; i < positions.size(); ++i) bloom::SetBit(words, positions[i]);
}

}  // namespace

PositionWriter::Target PositionTarget(uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                                      const Kernels& kernels) {
  const unsigned shift =  // region = position >> shift
      std::clamp(static_cast<unsigned>(std::bit_width((num_bits - 1) / kMaxRegions)),
                 kMinRegionShift, kMaxRegionShift);
  const auto scatter = [num_bits, num_hashes, shift, &kernels](const Batch& batch,
                                                               uint32_t** ends) {
    kernels.bloom.scatter(num_bits, num_hashes, batch, shift, ends);
  };
  const auto write = [words, num_bits, shift](size_t region, std::span<const uint32_t> positions) {
    const uint64_t first = uint64_t{region} << shift;
    const uint64_t end = std::min(first + (uint64_t{1} << shift), num_bits);
    if (positions.size() > (end - first) / bloom::kWordBits / kLineWords) {
      Load(words + first / bloom::kWordBits, words + end / bloom::kWordBits);
    }
    SetBits(words + (first >> 32 << 32) / bloom::kWordBits, positions);
  };
  return {.bytes = num_bits / 8,
          .num_regions = ((num_bits - 1) >> shift) + 1,
          .entries_per_key = num_hashes,
          .scatter = scatter,
          .write = write};
}

}  // namespace tamis::detail
