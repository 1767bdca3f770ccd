// Strings sorted by classes of lengths, so that they can be hashed without a branch on each length.
#ifndef TAMIS_CORE_SRC_BULK_LENGTH_CLASSES_H_
#define TAMIS_CORE_SRC_BULK_LENGTH_CLASSES_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "tamis/detail/compiler.h"

namespace tamis::detail {

constexpr size_t kClasses = 8;          // one for each bit of a byte
constexpr size_t kStringsAtOnce = 256;  // the index of each fits in a byte

// The longest length of each class except the last.
using Longest = std::array<size_t, kClasses - 1>;

// The class of each length, as one bit. The last element stands for all longer lengths.
template <Longest kLongest>
constexpr auto kClassBits = [] {
  std::array<uint8_t, kLongest.back() + 2> bits{};
  for (size_t length = 0; length < bits.size(); ++length) {
    size_t c = 0;
    while (c < kLongest.size() && length > kLongest[c]) ++c;
    bits[length] = static_cast<uint8_t>(1 << c);
  }
  return bits;
}();

// The positions of the bits that are set in a byte, ascending, one in each byte of a word.
constexpr auto kBitNumbers = [] {
  std::array<uint64_t, 256> words{};
  for (size_t bits = 0; bits < words.size(); ++bits) {
    int found = 0;
    for (uint64_t i = 0; i < 8; ++i) {
      if (bits >> i & 1) words[bits] |= i << (8 * found++);
    }
  }
  return words;
}();

// The number of bits that are set: not every baseline processor has an instruction for that.
constexpr auto kBitCounts = [] {
  std::array<uint8_t, 256> counts{};
  for (unsigned bits = 0; bits < counts.size(); ++bits) {
    counts[bits] = static_cast<uint8_t>(std::popcount(bits));
  }
  return counts;
}();

constexpr uintptr_t kLine = 64;

// Prefetches the cache line at `behind` bytes after the beginning of a string. Computes with
// integers: the string may be empty, and its pointer null.
TAMIS_INLINE void Prefetch(std::string_view string, uintptr_t behind) {
  PrefetchRead(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(string.data()) + behind));
}

// Strings sorted by classes of lengths.
template <Longest kLongest>
class ByLength {
 public:
  // Sorts `n` strings. Prefetches kLines cache lines of each.
  template <size_t kLines, typename Strings>
  static ByLength Sort(const Strings& strings, size_t n) noexcept {
    constexpr auto& kBits = kClassBits<kLongest>;
    ByLength sorted;
    uint8_t bits[kStringsAtOnce];
    const size_t words = (n + 7) / 8;
    std::fill(bits + n, bits + 8 * words, 0);
    for (size_t i = 0; i < n; ++i) {
      const std::string_view string = strings[i];
      for (size_t line = 0; line < kLines; ++line) Prefetch(string, line * kLine);
      bits[i] = kBits[std::min(string.size(), kBits.size() - 1)];
    }
    uint64_t of_eight[kStringsAtOnce / 8];
    std::memcpy(of_eight, bits, 8 * words);
    uint64_t all = 0;
    for (size_t w = 0; w < words; ++w) all |= of_eight[w];
    // Sorts eight strings at a time, because a branch or a counter for each string would take most
    // of the time.
    for (size_t c = 0; c < kClasses; ++c) {
      uint8_t* end = sorted.indices_[c];
      if ((all >> c & kLowBits) != 0) {
        for (size_t w = 0; w < words; ++w) {
          // The product moves bit 8i to 56 + i.
          const size_t in = (of_eight[w] >> c & kLowBits) * 0x0102040810204080 >> 56;
          const uint64_t numbers = kBitNumbers[in] + 8 * w * kLowBits;
          std::memcpy(end, &numbers, sizeof numbers);
          end += kBitCounts[in];
        }
      }
      sorted.counts_[c] = static_cast<size_t>(end - sorted.indices_[c]);
    }
    return sorted;
  }

  // Calls visit(indices, count) for each class, with the shortest and the longest length of its
  // strings as template arguments.
  template <typename Visit>
  void ForEachClass(const Visit& visit) const noexcept {
    [&]<size_t... kClass>(std::index_sequence<kClass...>) {
      (visit.template operator() < kClass == 0 ? 0 : kLongest[kClass == 0 ? 0 : kClass - 1] + 1,
       kClass == kLongest.size() ? ~size_t{0}
                                 : kLongest[kClass] > (indices_[kClass], counts_[kClass]),
       ...);
    }
    (std::make_index_sequence<kClasses>());
  }

 private:
  static constexpr uint64_t kLowBits = 0x0101010101010101;
  static_assert(std::endian::native == std::endian::little);

  size_t counts_[kClasses];
  uint8_t indices_[kClasses][kStringsAtOnce + 8];  // written eight at a time
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_LENGTH_CLASSES_H_
