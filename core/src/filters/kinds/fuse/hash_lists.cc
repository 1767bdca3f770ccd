#include "core/src/filters/kinds/fuse/hash_lists.h"

#include <algorithm>

#include "tamis/detail/compiler.h"

namespace tamis::detail {
namespace {

constexpr size_t kLineHashes = 8;  // number of hashes in a cache line

}  // namespace

HashLists::HashLists(uint32_t log_lists) : shift_(63 - log_lists), lists_(size_t{1} << log_lists) {}

// Slabs begin small, because most sets are small, and double in size.
void HashLists::Extend(List& list) {
  if (slabs_.empty() || used_ * sizeof(Segment) == slabs_.back().size()) {
    const size_t segments =
        std::min(kMaxSlabSegments, size_t{1} << std::min<size_t>(slabs_.size(), 16));
    slabs_.push_back(Storage::Allocate(segments * sizeof(Segment), {}));
    used_ = 0;
  }
  auto* const segment = reinterpret_cast<Segment*>(slabs_.back().data()) + used_++;
  (list.last == nullptr ? list.first : list.last->next) = segment;
  list.last = segment;
  list.at = segment->hashes;
}

void HashLists::Add(const uint64_t* hashes, size_t n) {
  const uint32_t shift = shift_;
  List* const lists = lists_.data();
  for (size_t i = 0; i < n; ++i) {
    List& list = lists[fuse::ShardOf(hashes[i], shift)];
    if (list.size % kSegmentHashes == 0) Extend(list);
    *list.at = hashes[i];
    PrefetchWrite(list.at + kLineHashes);  // otherwise the store to it would wait
    ++list.at;
    ++list.size;
  }
}

uint64_t* HashLists::CopyTo(size_t list, uint64_t* out) const noexcept {
  uint64_t left = lists_[list].size;
  for (const Segment* segment = lists_[list].first; left > 0; segment = segment->next) {
    const uint64_t n = std::min<uint64_t>(left, kSegmentHashes);
    out = std::copy_n(segment->hashes, n, out);
    left -= n;
  }
  return out;
}

void HashLists::Replace(size_t list, const uint64_t* hashes, uint64_t n) noexcept {
  Segment* segment = lists_[list].first;
  lists_[list].size = n;
  for (uint64_t begin = 0; begin < n; begin += kSegmentHashes, segment = segment->next) {
    std::copy_n(hashes + begin, std::min<uint64_t>(n - begin, kSegmentHashes), segment->hashes);
  }
}

}  // namespace tamis::detail
