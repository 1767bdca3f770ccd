// The bits of a key in a filter of Guava: which, and the loops that test and set those of many
// keys.
#ifndef TAMIS_CORE_SRC_FORMATS_GUAVA_WALK_H_
#define TAMIS_CORE_SRC_FORMATS_GUAVA_WALK_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/src/formats/murmur3.h"
#include "tamis/formats/guava.h"

namespace tamis::detail {

// x mod m by a product: floor(x floor((2^64 - 1) / m) / 2^64) is the quotient or one less, as the
// factor falls short of 2^64 / m by at most 1, so the product by less than 2^64.
class Remainder {
 public:
  explicit Remainder(uint64_t modulus) noexcept
      : modulus_(modulus), factor_(~uint64_t{0} / modulus) {}

  uint64_t operator()(uint64_t x) const noexcept {
    __extension__ using Wide = unsigned __int128;
    const auto quotient = static_cast<uint64_t>((Wide{x} * factor_) >> 64);
    const uint64_t rest = x - quotient * modulus_;
    return std::min(rest, rest - modulus_);  // which wraps around if it is below 0
  }

 private:
  uint64_t modulus_;
  uint64_t factor_;
};

// The strategies, after BloomFilterStrategies.java: each begins at Start, and Next gives one bit
// after the other, from the combination of both halves of the hash that it leaves for the next.
struct GuavaMitz64 {
  static Hash128 Start(const Hash128& hash) noexcept { return hash; }
  static uint64_t Next(Hash128& walk, const Remainder& remainder) noexcept {
    const uint64_t bit = remainder(walk.low & (~uint64_t{0} >> 1));
    walk.low += walk.high;
    return bit;
  }
};
// Both are halves of the low half; sums wrap around at 2^32, and one that is negative is inverted.
struct GuavaMitz32 {
  static Hash128 Start(const Hash128& hash) noexcept {
    const auto first = static_cast<uint32_t>(hash.low);
    const auto step = static_cast<uint32_t>(hash.low >> 32);
    return {uint32_t{first + step}, step};
  }
  static uint64_t Next(Hash128& walk, const Remainder& remainder) noexcept {
    const auto sum = static_cast<uint32_t>(walk.low);
    walk.low = uint32_t{sum + static_cast<uint32_t>(walk.high)};
    return remainder(sum >> 31 != 0 ? ~sum : sum);
  }
};

// Calls visit with the strategy as a type.
template <typename Visit>
auto VisitStrategy(GuavaStrategy strategy, const Visit& visit) {
  return strategy == GuavaStrategy::kMurmur128Mitz32 ? visit(GuavaMitz32()) : visit(GuavaMitz64());
}

// A filter, as the loops see it.
struct GuavaView {
  uint64_t* words;
  Remainder remainder;
  uint32_t num_hashes;
};

// Keys whose hashes the loops take at once: half of a first-level cache of 32 KiB, with the rest.
inline constexpr size_t kGuavaBlock = 512;

// Clears bit i of `bits` unless all bits of key i are set, for i < n <= kGuavaBlock; the hashes
// become others. In rounds, one for each bit of a key: the words are fetched for all keys that are
// left before the first is tested, and keys drop out at their first missing bit.
template <typename Strategy>
void ProbeGuava(const GuavaView& view, Hash128* hashes, size_t n, uint64_t* bits) noexcept {
  uint16_t left[kGuavaBlock];
  uint64_t at[kGuavaBlock];
  size_t count = 0;
  for (size_t word = 0; 64 * word < n; ++word) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<uint16_t>(64 * word + static_cast<size_t>(std::countr_zero(rest)));
      hashes[i] = Strategy::Start(hashes[i]);
      left[count++] = i;
    }
    bits[word] = 0;
  }
  for (uint32_t round = 0; round < view.num_hashes && count != 0; ++round) {
    for (size_t j = 0; j < count; ++j) {
      at[j] = Strategy::Next(hashes[left[j]], view.remainder);
      __builtin_prefetch(view.words + at[j] / 64);
    }
    size_t kept = 0;
    for (size_t j = 0; j < count; ++j) {
      left[kept] = left[j];
      kept += (view.words[at[j] / 64] >> (at[j] % 64)) & 1;
    }
    count = kept;
  }
  for (size_t j = 0; j < count; ++j) bits[left[j] / 64] |= uint64_t{1} << (left[j] % 64);
}

template <typename Strategy>
bool ContainsGuava(const GuavaView& view, const Hash128& hash) noexcept {
  Hash128 walk = Strategy::Start(hash);
  for (uint32_t i = 0; i < view.num_hashes; ++i) {
    const uint64_t at = Strategy::Next(walk, view.remainder);
    if (((view.words[at / 64] >> (at % 64)) & 1) == 0) return false;
  }
  return true;
}

// Returns whether a bit was not set before.
template <typename Strategy>
bool InsertGuava(const GuavaView& view, const Hash128& hash) noexcept {
  Hash128 walk = Strategy::Start(hash);
  uint64_t missing = 0;
  for (uint32_t i = 0; i < view.num_hashes; ++i) {
    const uint64_t at = Strategy::Next(walk, view.remainder);
    const uint64_t bit = uint64_t{1} << (at % 64);
    missing |= ~view.words[at / 64] & bit;
    view.words[at / 64] |= bit;
  }
  return missing != 0;
}

// Of n keys one after the other, each with its words fetched while those before it are inserted.
// Returns how many had a bit that was not set.
template <typename Strategy>
size_t InsertGuavaKeys(const GuavaView& view, const Hash128* hashes, size_t n) noexcept {
  constexpr size_t kAhead = 8;
  const auto fetch = [&](const Hash128& hash) {
    Hash128 walk = Strategy::Start(hash);
    for (uint32_t i = 0; i < view.num_hashes; ++i) {
      __builtin_prefetch(view.words + Strategy::Next(walk, view.remainder) / 64, 1);
    }
  };
  for (size_t i = 0; i < std::min(n, kAhead); ++i) fetch(hashes[i]);
  size_t changed = 0;
  for (size_t i = 0; i < n; ++i) {
    if (n - i > kAhead) fetch(hashes[i + kAhead]);
    changed += InsertGuava<Strategy>(view, hashes[i]);
  }
  return changed;
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FORMATS_GUAVA_WALK_H_
