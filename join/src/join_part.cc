#include "join/src/join_part.h"

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <utility>

#include "core/src/backend/providers.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/hash_kinds.h"
#include "tamis/layout/split_block.h"

namespace tamis::detail {

namespace {

// Counts from bytes may be any number, so a sum stops at the largest one.
uint64_t Sum(uint64_t a, uint64_t b) noexcept { return a + b < a ? ~uint64_t{0} : a + b; }

// Returns whether at least half of the values are copies of others. Changes the values.
bool HalfRepeat(std::vector<uint64_t>& values) {
  std::sort(values.begin(), values.end());
  const auto copies = values.end() - std::unique(values.begin(), values.end());
  return 2 * static_cast<size_t>(copies) >= values.size();
}

}  // namespace

std::string JoinGeometry::ToText() const {
  std::string text = StrCat(key_type == JoinKeyType::kIntegers ? "integers" : "hashes", ", ",
                            HashKindName(hash.kind), " with seed ", hash.seed, ", ");
  if (has_bitmap) {
    text += range.low <= range.high
                ? StrCat("a bitmap from ", range.low, " to ", range.high)
                : StrCat("a bitmap from ", static_cast<int64_t>(range.low), " to ", range.high);
  } else {
    text += StrCat(kept_keys, " keys, then ", num_blocks, " blocks");
  }
  return text + StrCat(", at most ", max_bytes, " bytes");
}

void KeyExtent::Add(const uint64_t* keys, size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) {
    low = std::min(low, keys[i]);
    high = std::max(high, keys[i]);
    signed_low = std::min(signed_low, static_cast<int64_t>(keys[i]));
    signed_high = std::max(signed_high, static_cast<int64_t>(keys[i]));
  }
}

void KeyExtent::Add(const KeyExtent& other) noexcept {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
  signed_low = std::min(signed_low, other.signed_low);
  signed_high = std::max(signed_high, other.signed_high);
}

JoinKeyRange KeyExtent::range() const noexcept {
  const JoinKeyRange plain(low, high), with_sign(signed_low, signed_high);
  return with_sign.span() < plain.span() ? with_sign : plain;
}

std::optional<std::vector<uint64_t>> FewDistinct(std::span<const uint64_t> values) {
  constexpr size_t kSlots = 256;
  std::array<uint64_t, kSlots> slots{};
  std::array<bool, kSlots> used{};
  std::vector<uint64_t> distinct;
  for (const uint64_t value : values) {
    size_t slot = hash::Xxh3(value, hash::Xxh3Flip(0)) % kSlots;
    while (used[slot] && slots[slot] != value) slot = (slot + 1) % kSlots;
    if (used[slot]) continue;
    if (distinct.size() == kMaxJoinListKeys) return std::nullopt;
    used[slot] = true;
    slots[slot] = value;
    distinct.push_back(value);
  }
  return distinct;
}

JoinPartState::JoinPartState(const JoinGeometry& layout, uint32_t number, const Backend* kernels)
    : geometry(layout),
      index(number),
      backend(kernels),
      contents(geometry.has_bitmap ? JoinForm::kBitmap : JoinForm::kList) {}

uint64_t JoinPartState::bytes() const noexcept {
  switch (contents) {
    case JoinForm::kNothing:
      return 0;
    case JoinForm::kList:
      return keys.size() * sizeof(uint64_t);
    case JoinForm::kBitmap:
      return bitmap.size() * sizeof(uint64_t);
    case JoinForm::kBlocks:
      return blocks->bytes();
  }
  return 0;
}

Keys JoinPartState::AsKeys(const uint64_t* values, size_t n) const noexcept {
  const std::span<const uint64_t> span(values, n);
  return geometry.key_type == JoinKeyType::kIntegers ? Keys(span) : Keys(Hashes{span});
}

void JoinPartState::GiveUp(JoinLimit why) noexcept {
  contents = JoinForm::kNothing;
  limit = why;
  keys = {};
  bitmap = {};
  blocks.reset();
}

void JoinPartState::Insert(const uint64_t* values, size_t n) noexcept {
  inserted = Sum(inserted, n);
  if (contents == JoinForm::kNothing || n == 0) return;
  if (geometry.key_type == JoinKeyType::kIntegers) extent.Add(values, n);
  try {
    InsertUnchecked(values, n);
  } catch (const std::exception&) {  // std::bad_alloc or Error(kOutOfMemory)
    GiveUp(JoinLimit::kMemory);
  }
}

void JoinPartState::InsertUnchecked(const uint64_t* values, size_t n) {
  if (contents == JoinForm::kBitmap) return SetBits(values, n);
  if (contents == JoinForm::kList) return Keep(values, n, geometry.kept_keys);
  if (contents == JoinForm::kBlocks) blocks->Insert(AsKeys(values, n));
}

void JoinPartState::SetBits(const uint64_t* values, size_t n) {
  const uint64_t low = geometry.range.low;
  const uint64_t span = geometry.range.span();
  if (bitmap.empty()) bitmap.resize(JoinBitmapWords(span));
  for (size_t i = 0; i < n; ++i) {
    const uint64_t bit = values[i] - low;
    if (bit > span) return GiveUp(JoinLimit::kRange);
    bitmap[bit / 64] |= uint64_t{1} << (bit % 64);
  }
}

// Sorting takes long, and is only worthwhile if at least half of the keys are duplicates.
void JoinPartState::RemoveManyDuplicates() {
  // The first sample shows a few keys that repeat often. The second has all copies of its keys, and
  // shows many keys that repeat a few times.
  constexpr size_t kSample = 1024;
  std::vector<uint64_t> by_place, by_value;
  const uint64_t step = keys.size() / kSample + 1;
  for (size_t i = 0; i < keys.size(); i += step) by_place.push_back(keys[i]);
  for (const uint64_t key : keys) {
    if (HashU64(key) < ~uint64_t{0} / step) by_value.push_back(key);
  }
  if (!HalfRepeat(by_place) && !HalfRepeat(by_value)) return;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

void JoinPartState::Keep(const uint64_t* values, size_t n, uint64_t most) {
  while (n > 0) {
    const size_t some = std::min<size_t>(n, most - std::min<uint64_t>(most, keys.size()));
    keys.insert(keys.end(), values, values + some);
    values += some;
    n -= some;
    if (n == 0) return;
    RemoveManyDuplicates();
    if (2 * keys.size() > most) {
      Spill();
      return InsertUnchecked(values, n);
    }
  }
}

void JoinPartState::Spill() {
  if (geometry.num_blocks == 0) return GiveUp(JoinLimit::kBytes);
  blocks = std::make_unique<SplitBlockBloomFilter>(
      FilterOptions{.bytes = geometry.num_blocks * split_block::kBlockBytes,
                    .hash = geometry.hash,
                    .backend = backend});
  blocks->Insert(AsKeys(keys.data(), keys.size()));
  contents = JoinForm::kBlocks;
  keys = {};
}

void JoinPartState::Merge(JoinPartState&& other) noexcept {
  inserted = Sum(inserted, other.inserted);
  key_types.Add(other.key_types);
  extent.Add(other.extent);
  if (contents == JoinForm::kNothing) return;
  if (other.contents == JoinForm::kNothing) return GiveUp(other.limit);
  try {
    switch (other.contents) {
      case JoinForm::kList:
        // The sum may keep the keys of all parts, up to max_bytes.
        if (contents == JoinForm::kList) {
          return Keep(other.keys.data(), other.keys.size(), geometry.max_bytes / sizeof(uint64_t));
        }
        return InsertUnchecked(other.keys.data(), other.keys.size());
      case JoinForm::kBitmap:
        if (other.bitmap.empty()) return;
        if (bitmap.empty()) {
          bitmap = std::move(other.bitmap);
        } else {
          HostBackends().front().kernels->merge(bitmap.data(), other.bitmap.data(), bitmap.size());
        }
        return;
      case JoinForm::kBlocks:
        if (contents == JoinForm::kList) {
          std::swap(blocks, other.blocks);
          contents = JoinForm::kBlocks;
          blocks->Insert(AsKeys(keys.data(), keys.size()));
          keys = {};
        } else {
          blocks->Merge(*other.blocks);
        }
        return;
      case JoinForm::kNothing:
        return;
    }
  } catch (const std::exception&) {
    GiveUp(JoinLimit::kMemory);
  }
}

}  // namespace tamis::detail
