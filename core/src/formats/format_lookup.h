// Bulk lookups and insertions of filters of other formats, in blocks of keys.
#ifndef TAMIS_CORE_SRC_FORMATS_FORMAT_LOOKUP_H_
#define TAMIS_CORE_SRC_FORMATS_FORMAT_LOOKUP_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tamis/key_forms.h"

namespace tamis::detail {

// The keys of formats that take both.
inline constexpr KeyForms kIntegersAndStrings = [] {
  KeyForms forms = KeyForm::kInteger;
  forms.Add(KeyForm::kBytes);
  return forms;
}();

// Keys that are taken at once: with hashes of 16 bytes, half of a first-level cache of 32 KiB, with
// the rest.
inline constexpr size_t kFormatBlock = 512;

// The bits of `count` keys, block by block. probe(begin, n, bits) has to write a bit for each of
// the keys [begin, begin + n), n <= kFormatBlock, and zeros up to the end of the last word.
template <typename Probe>
void ProbeBlocks(size_t count, uint64_t* bits, const Probe& probe) {
  for (size_t begin = 0; begin < count; begin += kFormatBlock) {
    probe(begin, std::min(kFormatBlock, count - begin), bits + begin / 64);
  }
}

// hash(begin, n, hashes), n <= 64, makes the hashes of the keys [begin, begin + n), and returns a
// bit for each that has one. This does so for n <= kFormatBlock keys, and writes the bits to
// `bits`.
template <typename Hash, typename HashKeys>
void HashBlock(const HashKeys& hash, size_t begin, size_t n, Hash* hashes, uint64_t* bits) {
  for (size_t i = 0; i < n; i += 64) {
    bits[i / 64] = hash(begin + i, std::min<size_t>(64, n - i), hashes + i);
  }
}

// The sum of insert(hashes, n) over blocks of the hashes of `count` keys, without the gaps that
// nulls leave.
template <typename Hash, typename HashKeys, typename Insert>
size_t InsertBlocks(size_t count, const HashKeys& hash, const Insert& insert) {
  Hash hashes[kFormatBlock];
  size_t sum = 0;
  for (size_t begin = 0; begin < count; begin += kFormatBlock) {
    const size_t end = std::min(begin + kFormatBlock, count);
    size_t packed = 0;
    for (size_t i = begin; i < end; i += 64) {
      Hash* const here = hashes + packed;
      uint64_t rest = hash(i, std::min<size_t>(64, end - i), here);
      for (size_t kept = 0; rest != 0; rest &= rest - 1, ++kept, ++packed) {
        here[kept] = here[std::countr_zero(rest)];
      }
    }
    sum += insert(hashes, packed);
  }
  return sum;
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FORMATS_FORMAT_LOOKUP_H_
