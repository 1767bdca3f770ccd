#include "redis/src/client/batch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tamis/hash_keys.h"

namespace tamis::redis {

namespace sb = split_block;

Batch::Batch(const Keys& keys, const HashSpec& hash, const Layout& layout) {
  std::vector<uint64_t> hashes(keys.CountValid());
  HashKeys(keys, hash, hashes);
  // A stable counting sort by segment.
  std::vector<size_t> next(layout.segments() + 1, 0);
  const auto segment_of = [&](uint64_t h) {
    return layout.SegmentOf(sb::BlockIndex32(h, layout.blocks));
  };
  for (const uint64_t h : hashes) ++next[segment_of(h) + 1];
  for (size_t s = 0; s + 1 < next.size(); ++s) {
    if (next[s + 1] != 0) {
      segments_.push_back(s);
      first_.push_back(next[s]);
    }
    next[s + 1] += next[s];
  }
  first_.push_back(hashes.size());
  hashes_.resize(hashes.size());
  indices_.resize(hashes.size());
  size_t key = 0;
  for (const uint64_t h : hashes) {
    while (!keys.IsValid(key)) ++key;
    const size_t place = next[segment_of(h)]++;
    hashes_[place] = h;
    indices_[place] = static_cast<uint32_t>(key++);
  }
}

std::span<const uint64_t> Batch::Hashes(size_t i) const {
  return std::span(hashes_).subspan(first_[i], first_[i + 1] - first_[i]);
}

std::span<const uint32_t> Batch::Indices(size_t i) const {
  return std::span(indices_).subspan(first_[i], first_[i + 1] - first_[i]);
}

std::string BlockMask::Bytes() const {
  std::string bytes(sb::kBlockBytes, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bits[i / 4] >> (8 * (i % 4)));
  }
  return bytes;
}

std::vector<BlockMask> MasksOf(std::span<const uint64_t> hashes, const Layout& layout,
                               uint64_t first_block) {
  std::vector<std::pair<uint32_t, uint64_t>> ordered;
  ordered.reserve(hashes.size());
  for (const uint64_t h : hashes) {
    ordered.emplace_back(static_cast<uint32_t>(sb::BlockIndex32(h, layout.blocks) - first_block),
                         h);
  }
  std::sort(ordered.begin(), ordered.end());
  std::vector<BlockMask> masks;
  for (const auto& [number, h] : ordered) {
    if (masks.empty() || masks.back().number != number) masks.push_back({number, {}});
    sb::BlockInsert(masks.back().bits, h);
  }
  return masks;
}

}  // namespace tamis::redis
