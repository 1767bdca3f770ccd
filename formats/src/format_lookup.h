// Bulk queries and changes of filters of other formats, in blocks of keys.
#ifndef TAMIS_FORMATS_SRC_FORMAT_LOOKUP_H_
#define TAMIS_FORMATS_SRC_FORMAT_LOOKUP_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/src/bulk/outcomes.h"
#include "core/src/bulk/valid_keys.h"
#include "tamis/changeable.h"
#include "tamis/hash.h"
#include "tamis/hash_keys.h"
#include "tamis/key_types.h"
#include "tamis/keys.h"

namespace tamis::detail {

// The key types of formats that accept both integers and strings.
inline constexpr KeyTypes kIntegersAndStrings = [] {
  KeyTypes forms = KeyType::kInteger;
  forms.Add(KeyType::kBytes);
  return forms;
}();

// Number of keys in a block. With hashes of 16 bytes and the other arrays, a block takes half of a
// first-level cache of 32 KiB.
inline constexpr size_t kFormatBlock = 512;

// Queries `count` keys in blocks. probe(begin, n, bits) must write one bit for each of the keys
// [begin, begin + n), n <= kFormatBlock, and zeros up to the end of the last word.
template <typename Probe>
void ProbeBlocks(size_t count, uint64_t* bits, const Probe& probe) {
  for (size_t begin = 0; begin < count; begin += kFormatBlock) {
    probe(begin, std::min(kFormatBlock, count - begin), bits + begin / 64);
  }
}

// Computes the hashes of n <= kFormatBlock keys by calls of hash(begin, n, hashes) for n <= 64 keys
// each. `hash` computes the hashes of the keys [begin, begin + n), and returns one bit for each key
// that has a hash. These bits are written to `bits`.
template <typename Hash, typename HashKeys>
void HashBlock(const HashKeys& hash, size_t begin, size_t n, Hash* hashes, uint64_t* bits) {
  for (size_t i = 0; i < n; i += 64) {
    bits[i / 64] = hash(begin + i, std::min<size_t>(64, n - i), hashes + i);
  }
}

// Results for the keys of a block that are not null: one bit for each of their hashes.
struct BlockChanges {
  uint64_t fresh[kFormatBlock / 64] = {};     // the key changed the filter
  uint64_t rejected[kFormatBlock / 64] = {};  // the key could not be inserted or erased
};

inline void SetBitIf(uint64_t* bits, size_t i, bool set) noexcept {
  bits[i / 64] |= uint64_t{set} << (i % 64);
}

// Calls visit(i) for i < n in order, and calls fetch(i) earlier, so that prefetches have time.
template <typename Fetch, typename Visit>
void ForEachFetched(size_t n, const Fetch& fetch, const Visit& visit) {
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < std::min(n, kAhead); ++i) fetch(i);
  for (size_t i = 0; i < n; ++i) {
    if (n - i > kAhead) fetch(i + kAhead);
    visit(i);
  }
}

// Implements Changeable::Apply. Calls change_block(hashes, n, changes) for blocks of the hashes of
// all keys that are not null, in order and without gaps. `hash` is the same as for HashBlock. It
// must compute a hash for each key that is not null.
template <typename Hash, typename HashKeys, typename ChangeBlock>
size_t ChangeBlocks(Change change, const Keys& keys, const ChangeOutputs& outputs,
                    const HashKeys& hash, const ChangeBlock& change_block) {
  const auto change_all = [&](Outcomes outcomes) {
    Hash hashes[kFormatBlock];
    size_t rank = 0;  // rank of the first key of the block among the keys that are not null
    size_t done = 0;
    for (size_t begin = 0; begin < keys.size(); begin += kFormatBlock) {
      const size_t end = std::min(begin + kFormatBlock, keys.size());
      size_t n = 0;
      for (size_t i = begin; i < end; i += 64) {
        Hash* const here = hashes + n;
        uint64_t rest = hash(i, std::min<size_t>(64, end - i), here);
        for (size_t kept = 0; rest != 0; rest &= rest - 1, ++kept, ++n) {
          here[kept] = here[std::countr_zero(rest)];
        }
      }
      BlockChanges changes;
      change_block(hashes, n, changes);
      outcomes.AddFresh(rank, changes.fresh, n);
      size_t num_fresh = 0, num_rejected = 0;
      for (size_t word = 0; 64 * word < n; ++word) {
        num_fresh += static_cast<size_t>(std::popcount(changes.fresh[word]));
        for (uint64_t rest = changes.rejected[word]; rest != 0; rest &= rest - 1, ++num_rejected) {
          outcomes.Reject(rank + 64 * word + static_cast<size_t>(std::countr_zero(rest)));
        }
      }
      done += change == Change::kInsertIfAbsent ? num_fresh : n - num_rejected;
      rank += n;
    }
    return done;
  };
  const HashSpec unused;
  return ForValidKeys(keys, unused, outputs,
                      [&](uint64_t, const auto&, const Outcomes& out) { return change_all(out); });
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_FORMAT_LOOKUP_H_
