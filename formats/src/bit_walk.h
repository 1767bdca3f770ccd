// Bloom filters in which each bit of a key may be anywhere: the positions of the bits, and the
// loops that test and set the bits of many keys.
#ifndef TAMIS_FORMATS_SRC_BIT_WALK_H_
#define TAMIS_FORMATS_SRC_BIT_WALK_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "formats/src/format_lookup.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/format_hash_kernels.h"

namespace tamis::detail {

// Computes x mod m by a multiplication. floor(x floor((2^64 - 1) / m) / 2^64) is the quotient or
// one less: floor((2^64 - 1) / m) is smaller than 2^64 / m by at most 1, so the product is too
// small by less than 2^64.
class Remainder {
 public:
  explicit Remainder(uint64_t modulus) noexcept
      : modulus_(modulus), factor_(~uint64_t{0} / modulus) {}

  uint64_t operator()(uint64_t x) const noexcept {
    const uint64_t quotient = HighProduct(x, factor_);
    const uint64_t rest = x - quotient * modulus_;
    return std::min(rest, rest - modulus_);  // the difference wraps around if it is negative
  }

 private:
  uint64_t modulus_;
  uint64_t factor_;
};

// A Walk computes the bits of a key from its hash. Walk::Start returns the initial state.
// Walk::Next(walk, remainder) returns the next bit and advances the state.

// The bits of a filter, the least significant bit of a word first.
struct BitsView {
  uint64_t* words;
  Remainder remainder;
  uint32_t num_hashes;
};

// Clears bit i of `bits` unless the filter has all bits of key i, for i < n <= kFormatBlock.
// Changes `hashes`. Each round tests one bit of every remaining key: it first prefetches the words
// of all these keys, and then tests them. A key with a missing bit does not take part in later
// rounds.
template <typename Walk>
void ProbeWalks(const BitsView& view, Hash128* hashes, size_t n, uint64_t* bits) noexcept {
  uint16_t left[kFormatBlock];
  uint64_t at[kFormatBlock];
  size_t count = 0;
  for (size_t word = 0; 64 * word < n; ++word) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<uint16_t>(64 * word + static_cast<size_t>(std::countr_zero(rest)));
      hashes[i] = Walk::Start(hashes[i]);
      left[count++] = i;
    }
    bits[word] = 0;
  }
  for (uint32_t round = 0; round < view.num_hashes && count != 0; ++round) {
    for (size_t j = 0; j < count; ++j) {
      at[j] = Walk::Next(hashes[left[j]], view.remainder);
      PrefetchRead(view.words + at[j] / 64);
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

template <typename Walk>
bool ContainsWalk(const BitsView& view, const Hash128& hash) noexcept {
  Hash128 walk = Walk::Start(hash);
  for (uint32_t i = 0; i < view.num_hashes; ++i) {
    const uint64_t at = Walk::Next(walk, view.remainder);
    if (((view.words[at / 64] >> (at % 64)) & 1) == 0) return false;
  }
  return true;
}

// Sets the bits of a hash. Returns whether any of these bits was 0 before.
template <typename Walk>
bool InsertWalk(const BitsView& view, const Hash128& hash) noexcept {
  Hash128 walk = Walk::Start(hash);
  uint64_t missing = 0;
  for (uint32_t i = 0; i < view.num_hashes; ++i) {
    const uint64_t at = Walk::Next(walk, view.remainder);
    const uint64_t bit = uint64_t{1} << (at % 64);
    missing |= ~view.words[at / 64] & bit;
    view.words[at / 64] |= bit;
  }
  return missing != 0;
}

// Inserts n keys in order. Sets in `fresh` the bits of the keys that had a missing bit.
template <typename Walk>
void InsertWalks(const BitsView& view, const Hash128* hashes, size_t n, uint64_t* fresh) noexcept {
  const auto fetch = [&](size_t i) {
    Hash128 walk = Walk::Start(hashes[i]);
    for (uint32_t k = 0; k < view.num_hashes; ++k) {
      PrefetchWrite(view.words + Walk::Next(walk, view.remainder) / 64);
    }
  };
  uint64_t word = 0;  // kept in a register, because a store for each key would take 4 ns
  ForEachFetched(n, fetch, [&](size_t i) {
    word |= uint64_t{InsertWalk<Walk>(view, hashes[i])} << (i % 64);
    if (i % 64 == 63) fresh[i / 64] = std::exchange(word, 0);
  });
  if (n % 64 != 0) fresh[n / 64] = word;
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_BIT_WALK_H_
