// Peeling (Botelho, Pagh and Ziviani, "Simple and Space-Efficient Minimal Perfect Hash Functions",
// 2007). A hash that is alone in one of its slots is put aside with that slot. This may leave
// another hash alone in a slot, and so on. In reverse order, each slot is assigned when the other
// two slots of its hash are final.
#include "core/src/filters/kinds/fuse/fuse_shard.h"

#include <algorithm>

#include "tamis/detail/compiler.h"

namespace tamis::detail {
namespace {

constexpr size_t kPrefetchAhead = 16;

}  // namespace

FuseShard::FuseShard(const fuse::Geometry& geometry)
    : geometry_(geometry),
      starts_(geometry.segments + 1),
      xors_(geometry.stride()),
      degrees_(geometry.stride()),
      queue_(geometry.stride() + 3) {}

// Neighbours in this order have slots in the same three segments, which stay in cache.
void FuseShard::SortBySegment(std::span<const uint64_t> hashes) noexcept {
  const uint64_t range = geometry_.range();
  const uint32_t shift = 32 + geometry_.log_length;
  const auto segment = [&](uint64_t mixed) { return ((mixed >> 32) * range) >> shift; };
  std::fill(starts_.begin(), starts_.end(), 0);
  for (const uint64_t hash : hashes) ++starts_[segment(hash * multiplier_) + 1];
  for (size_t s = 1; s < starts_.size(); ++s) starts_[s] += starts_[s - 1];
  for (const uint64_t hash : hashes) {
    const uint64_t mixed = hash * multiplier_;
    mixed_[starts_[segment(mixed)]++] = mixed;
  }
}

size_t FuseShard::TryToPeel(std::span<const uint64_t> hashes) noexcept {
  SortBySegment(hashes);
  std::fill(xors_.begin(), xors_.end(), 0);
  std::fill(degrees_.begin(), degrees_.end(), uint8_t{0});
  const uint64_t range = geometry_.range();
  const uint64_t length = geometry_.length();
  uint64_t* const xors = xors_.data();
  uint8_t* const degrees = degrees_.data();
  bool wrapped = false;  // true if a slot has 256 hashes, so that its degree is 0 again
  for (size_t i = 0; i < hashes.size(); ++i) {
    const uint64_t mixed = mixed_[i];
    const fuse::Places at = fuse::Locate(mixed, range, length);
    for (const uint64_t slot : {at.first, at.second, at.third}) {
      xors[slot] ^= mixed;
      wrapped |= ++degrees[slot] == 0;
    }
  }
  if (wrapped) return 0;

  // First in, first out: consecutive entries do not depend on each other, so their cache misses
  // overlap.
  uint32_t* const queue = queue_.data();
  size_t tail = 0;
  for (size_t slot = 0; slot < degrees_.size(); ++slot) {
    queue[tail] = static_cast<uint32_t>(slot);
    tail += degrees[slot] == 1;
  }
  size_t done = 0;
  for (size_t head = 0; head < tail; ++head) {
    if (head + kPrefetchAhead < tail) PrefetchRead(xors + queue[head + kPrefetchAhead]);
    const uint32_t slot = queue[head];
    if (degrees[slot] == 0) continue;
    const uint64_t mixed = xors[slot];
    // The hash and its slot are stored at places of both arrays that have been read.
    mixed_[done] = mixed;
    queue[done++] = slot;
    const fuse::Places at = fuse::Locate(mixed, range, length);
    for (const uint64_t other : {at.first, at.second, at.third}) {
      xors[other] ^= mixed;
      queue[tail] = static_cast<uint32_t>(other);
      tail += --degrees[other] == 1;
    }
  }
  return done;
}

ShardOutcome FuseShard::Peel(std::span<uint64_t> hashes) {
  const size_t n = hashes.size();
  peeled_ = n;
  multiplier_ = 0;
  if (n == 0) return ShardOutcome::kBuilt;
  // Every hash needs its own slot.
  const uint32_t attempts = n <= geometry_.stride() ? kMaxAttempts : 0;
  if (attempts != 0) mixed_.resize(std::max(mixed_.size(), n));
  for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
    multiplier_ = fuse::Multiplier(attempt);
    if (TryToPeel(hashes) == n) return ShardOutcome::kBuilt;
    // Copies of a hash can never be peeled. The test takes as long as five attempts, and the first
    // attempt can fail by chance, so the test follows the second.
    if (attempt == 1 && DropCopies(hashes.data(), n) != n) return ShardOutcome::kDuplicates;
  }
  return ShardOutcome::kStuck;
}

template <int kBits>
void FuseShard::Assign(unsigned char* slots, uint64_t begin) noexcept {
  const uint64_t range = geometry_.range();
  const uint64_t length = geometry_.length();
  for (size_t i = peeled_; i-- > 0;) {
    const uint64_t mixed = mixed_[i];
    const fuse::Places at = fuse::Locate(mixed, range, length);
    const uint32_t value =
        ~static_cast<uint32_t>(mixed) ^ fuse::Slot<kBits>(slots, begin + at.first) ^
        fuse::Slot<kBits>(slots, begin + at.second) ^ fuse::Slot<kBits>(slots, begin + at.third);
    fuse::SetSlot<kBits>(slots, begin + queue_[i], value);
  }
}

template void FuseShard::Assign<8>(unsigned char*, uint64_t) noexcept;
template void FuseShard::Assign<12>(unsigned char*, uint64_t) noexcept;
template void FuseShard::Assign<16>(unsigned char*, uint64_t) noexcept;
template void FuseShard::Assign<32>(unsigned char*, uint64_t) noexcept;

size_t DropCopies(uint64_t* hashes, size_t n) noexcept {
  std::sort(hashes, hashes + n);
  return static_cast<size_t>(std::unique(hashes, hashes + n) - hashes);
}

}  // namespace tamis::detail
