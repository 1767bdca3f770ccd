// The arithmetic of a binary fuse filter (Graf and Lemire, "Binary Fuse Filters: Fast and Smaller
// Than Xor Filters", 2022) in shards: the three slots of a hash. To use such a filter, begin with
// tamis/filters/fuse_filter.h.
//
// A shard is a filter of its own for the hashes with the same high bits. All shards have the same
// number of slots, so a shard is described by one number: its multiplier. Construction tries one
// multiplier after another until the shard can be built. Every backend calls or mirrors this
// header. A change here is a format change.
#ifndef TAMIS_LAYOUT_FUSE_H_
#define TAMIS_LAYOUT_FUSE_H_

#include <cstdint>
#include <cstring>

#include "tamis/detail/compiler.h"

namespace tamis::fuse {

inline constexpr uint32_t kMinLogLength = 2;   // binary logarithm of slots in a segment
inline constexpr uint32_t kMaxLogLength = 16;  // 16 bits of the hash choose a slot in a segment
inline constexpr uint32_t kMaxLogShards = 30;  // binary logarithm of shards
inline constexpr uint64_t kMaxSlots = uint64_t{1} << 40;  // most slots of all shards together
inline constexpr uint64_t kMaxKeys = uint64_t{1} << 39;   // so slots stay below kMaxSlots

// The shape of a filter. A key has one slot in each of three neighbouring segments of its shard.
struct Geometry {
  uint32_t log_shards = 0;              // the filter has 1 << log_shards shards
  uint32_t segments = 1;                // segments of a shard that can hold the first slot of a key
  uint32_t log_length = kMinLogLength;  // a segment has 1 << log_length slots

  // Slots of a segment.
  TAMIS_HD constexpr uint64_t length() const { return uint64_t{1} << log_length; }
  // Number of shards.
  TAMIS_HD constexpr uint64_t shards() const { return uint64_t{1} << log_shards; }
  // Number of first slots. Below 2^32.
  TAMIS_HD constexpr uint64_t range() const { return uint64_t{segments} << log_length; }
  // Slots of a shard.
  TAMIS_HD constexpr uint64_t stride() const { return (uint64_t{segments} + 2) << log_length; }
  // Slots of all shards.
  TAMIS_HD constexpr uint64_t slots() const { return stride() << log_shards; }
};

// Bytes of the slots. The multipliers follow them.
template <int kBits>
TAMIS_HD constexpr uint64_t SlotBytes(const Geometry& geometry) {
  return (geometry.slots() * kBits / 8 + 7) / 8 * 8;
}

// Bytes of the slots and the multipliers.
template <int kBits>
TAMIS_HD constexpr uint64_t FilterBytes(const Geometry& geometry) {
  return SlotBytes<kBits>(geometry) + geometry.shards() * sizeof(uint64_t);
}

// A filter in the form that kernels take, with numbers that follow from its geometry.
struct Table {
  const unsigned char* slots = nullptr;   // the fingerprints
  const uint64_t* multipliers = nullptr;  // a multiplier for each shard
  uint64_t range = 0;                     // see Geometry
  uint64_t stride = 0;                    // see Geometry
  uint32_t length = 0;                    // see Geometry
  uint32_t shard_shift = 0;               // 63 - log_shards
};

// Returns the table of a filter whose bytes are at `bytes`.
template <int kBits>
TAMIS_HD Table TableAt(const void* bytes, const Geometry& geometry) {
  const auto* const slots = static_cast<const unsigned char*>(bytes);
  return {slots,
          reinterpret_cast<const uint64_t*>(slots + SlotBytes<kBits>(geometry)),
          geometry.range(),
          geometry.stride(),
          static_cast<uint32_t>(geometry.length()),
          63 - geometry.log_shards};
}

// Hashes with the same high bits are in the same shard.
TAMIS_HD constexpr uint64_t ShardOf(uint64_t hash, uint32_t shard_shift) {
  return (hash >> 1) >> shard_shift;
}

// The three slots of a key in its shard. `mixed` is its hash times the multiplier, modulo 2^64.
struct Places {
  uint64_t first, second, third;  // indices of the slots
};

// Returns the three slots of a key.
TAMIS_HD constexpr Places Locate(uint64_t mixed, uint64_t range, uint64_t length) {
  const uint64_t first = ((mixed >> 32) * range) >> 32;
  const uint64_t x = mixed ^ (mixed >> 32);
  return {first, (first + length) ^ (x & (length - 1)),
          (first + 2 * length) ^ ((x >> 16) & (length - 1))};
}

// Returns the value of slot i in the low bits. The higher bits are undefined.
template <int kBits>
TAMIS_HD uint32_t Slot(const unsigned char* slots, uint64_t i) {
  if constexpr (kBits == 8) {
    return slots[i];
  } else if constexpr (kBits == 12) {
    uint16_t two;
    std::memcpy(&two, slots + i + i / 2, sizeof(two));
    return uint32_t{two} >> (4 * (i & 1));
  } else if constexpr (kBits == 16) {
    return reinterpret_cast<const uint16_t*>(slots)[i];
  } else {
    return reinterpret_cast<const uint32_t*>(slots)[i];
  }
}

// Sets slot i, which is 0, to the low bits of `value`.
template <int kBits>
TAMIS_HD void SetSlot(unsigned char* slots, uint64_t i, uint32_t value) {
  if constexpr (kBits == 8) {
    slots[i] = static_cast<unsigned char>(value);
  } else if constexpr (kBits == 12) {
    unsigned char* const at = slots + i + i / 2;
    uint16_t two;
    std::memcpy(&two, at, sizeof(two));
    two = static_cast<uint16_t>(two | (value & 0xFFF) << (4 * (i & 1)));
    std::memcpy(at, &two, sizeof(two));
  } else if constexpr (kBits == 16) {
    reinterpret_cast<uint16_t*>(slots)[i] = static_cast<uint16_t>(value);
  } else {
    reinterpret_cast<uint32_t*>(slots)[i] = value;
  }
}

// Returns whether the xor of the key's three slots is its fingerprint, which is the low bits of
// ~mixed. So a shard of zeros with the multiplier 0 contains no key. `slots` points to the slots of
// the shard.
template <int kBits>
TAMIS_HD bool ShardContains(const Table& table, const unsigned char* slots, uint64_t mixed) {
  constexpr uint32_t kMask = ~uint32_t{0} >> (32 - kBits);
  const Places at = Locate(mixed, table.range, table.length);
  const uint32_t x = Slot<kBits>(slots, at.first) ^ Slot<kBits>(slots, at.second) ^
                     Slot<kBits>(slots, at.third) ^ static_cast<uint32_t>(mixed);
  return (x & kMask) == kMask;
}

// Returns whether the filter has the fingerprint of the hash.
template <int kBits>
TAMIS_HD bool Contains(const Table& table, uint64_t hash) {
  uint64_t mixed = hash * table.multipliers[0];
  const unsigned char* slots = table.slots;
  if (table.shard_shift != 63) {  // saves a sixth of the time of a query in cache
    const uint64_t shard = ShardOf(hash, table.shard_shift);
    mixed = hash * table.multipliers[shard];
    slots += shard * (table.stride * kBits / 8);
  }
  return ShardContains<kBits>(table, slots, mixed);
}

// Returns the multiplier that attempt 0, 1, ... to build a shard uses. It is odd, so different
// hashes stay different. The function is SplitMix64 (Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", 2014).
TAMIS_HD constexpr uint64_t Multiplier(uint32_t attempt) {
  uint64_t z = (uint64_t{attempt} + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return (z ^ (z >> 31)) | 1;
}

}  // namespace tamis::fuse

#endif  // TAMIS_LAYOUT_FUSE_H_
