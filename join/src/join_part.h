// The contents of the parts of a join filter, and of their sum.
#ifndef TAMIS_JOIN_SRC_JOIN_PART_H_
#define TAMIS_JOIN_SRC_JOIN_PART_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/detail/join_kernels.h"
#include "tamis/detail/kernels.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash.h"
#include "tamis/join/join_filter.h"
#include "tamis/key_types.h"

namespace tamis::detail {

// The layout of the parts of a join filter. All parts of a filter have the same geometry.
struct JoinGeometry {
  JoinKeyType key_type = JoinKeyType::kIntegers;
  HashSpec hash = {};
  bool has_bitmap = false;
  JoinKeyRange range = {};  // the bits of the bitmap; {} without a bitmap
  uint64_t num_blocks = 0;  // of the split-block filter; 0: none fits max_bytes
  uint64_t kept_keys = 0;
  uint64_t max_bytes = 0;

  // Returns all fields as text, for errors.
  std::string ToText() const;

  friend bool operator==(const JoinGeometry&, const JoinGeometry&) = default;
};

// The highest number of a part plus 1. Limits the memory for the numbers.
inline constexpr uint32_t kMaxJoinParts = 1 << 20;

// Why a part has nothing. The values are part of the format.
enum class JoinLimit : uint32_t { kNone = 0, kBytes = 1, kRange = 2, kMemory = 3 };

// The words of a bitmap for a range: a bit for each integer, and a bit that stays 0. `span` must be
// below 2^62.
constexpr uint64_t JoinBitmapWords(uint64_t span) noexcept { return (span + 2 + 63) / 64; }

// The smallest and the largest integer, by both orders of 64-bit integers, because keys do not have
// a sign bit that the library could recognize.
struct KeyExtent {
  uint64_t low = ~uint64_t{0};  // above `high`: no keys
  uint64_t high = 0;
  int64_t signed_low = INT64_MAX;
  int64_t signed_high = INT64_MIN;

  bool empty() const noexcept { return low > high; }
  void Add(const uint64_t* keys, size_t n) noexcept;
  void Add(const KeyExtent& other) noexcept;
  // Returns the smaller of the two ranges. Must not be called without keys.
  JoinKeyRange range() const noexcept;
};

// The functions that insert or merge never throw: without memory, the state becomes kNothing.
struct JoinPartState {
  JoinPartState(const JoinGeometry& layout, uint32_t number, const Backend* kernels);

  // Adds `n` integers, or hashes if the geometry is for hashes.
  void Insert(const uint64_t* values, size_t n) noexcept;
  // Adds all keys of a part with the same geometry.
  void Merge(JoinPartState&& other) noexcept;
  // Drops the keys: every query has to answer "maybe".
  void GiveUp(JoinLimit why) noexcept;
  // Removes duplicates of the keys in full, if a sample shows that at least half are duplicates.
  // Throws std::bad_alloc.
  void RemoveManyDuplicates();
  uint64_t bytes() const noexcept;
  Keys AsKeys(const uint64_t* values, size_t n) const noexcept;

  JoinGeometry geometry;
  uint32_t index;
  const Backend* backend;
  JoinForm contents;  // kList: keys in full
  JoinLimit limit = JoinLimit::kNone;
  uint64_t inserted = 0;
  KeyTypes key_types;
  KeyExtent extent;  // integers only
  std::vector<uint64_t> keys;
  std::vector<uint64_t> bitmap;  // empty before the first key
  std::unique_ptr<SplitBlockBloomFilter> blocks;

 private:
  void InsertUnchecked(const uint64_t* values, size_t n);
  void Keep(const uint64_t* values, size_t n, uint64_t most);
  void Spill();
  void SetBits(const uint64_t* values, size_t n);
};

// Returns the distinct values if there are at most kMaxJoinListKeys.
std::optional<std::vector<uint64_t>> FewDistinct(std::span<const uint64_t> values);

// See JoinFilter::Part.
std::vector<std::byte> SerializeJoinPart(const JoinPartState& part);
std::unique_ptr<JoinPartState> JoinPartFromBytes(std::span<const std::byte> bytes);

}  // namespace tamis::detail

#endif  // TAMIS_JOIN_SRC_JOIN_PART_H_
