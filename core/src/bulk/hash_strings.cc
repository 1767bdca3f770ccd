// A loop that hashes strings mispredicts a branch on the length of nearly every string. So strings
// are first sorted by classes of lengths and then hashed class by class. Within a class, the code
// of XXH3 has no branch on the length, and the code of XXH64 does not need one.
#include "core/src/bulk/hash_strings.h"

// Inlines the arithmetic of each class into its loop.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/src/bulk/length_classes.h"
#include "core/src/bulk/xxh64_strings.h"
#include "tamis/detail/batch.h"
#include "tamis/detail/compiler.h"
#include "tamis/hash_kinds.h"

namespace tamis::detail {
namespace {

// XXH3 hashes strings of up to 16 bytes at once, up to 128 in rounds of 32, up to 240 in rounds of
// 16, and longer ones in another way. So there are classes for short strings and for long ones.
constexpr Longest kXxh3Short = {3, 8, 16, 32, 64, 96, 128};
constexpr Longest kXxh3Long = {16, 32, 64, 96, 128, 192, 240};
// The mean length from which on strings count as long.
constexpr size_t kLongMean = 112;
// XXH64 takes stripes of 32 bytes, then lanes of 8.
constexpr Longest kXxh64 = {3, 7, 15, 23, 31, 63, 95};

// Fewer strings than this are hashed one by one. Sorting them, and filling a vector for each class
// of a few strings, would take longer.
constexpr size_t FewFor(HashKind kind) { return kind == HashKind::kXxh64 ? 32 : 12; }

// Prefetch distances for strings that are hashed in order: the string about kAhead bytes later, at
// least kLater strings later, and kLaterLines cache lines of a long one.
constexpr size_t kAhead = 512, kLater = 2, kLaterLines = 8;

// Hashes a string whose length is in [kMin, kMax]; kSeeded is false if the seed is 0.
template <size_t kMin, size_t kMax, bool kSeeded>
TAMIS_INLINE uint64_t Hash(std::string_view string, uint64_t seed) {
  Assume(string.size() >= kMin && string.size() <= kMax);
  return kSeeded ? XXH3_64bits_withSeed(string.data(), string.size(), seed)
                 : XXH3_64bits(string.data(), string.size());
}

// Hashes the leading strings whose lengths are in [kMin, kMax], and returns their number.
template <size_t kMin, size_t kMax, bool kSeeded, typename Strings>
TAMIS_FLATTEN size_t HashWithin(const Strings& strings, size_t n, uint64_t seed, uint64_t* hashes) {
  for (size_t i = 0; i < n; ++i) {
    const std::string_view string = strings[i];
    if (string.size() < kMin || string.size() > kMax) return i;
    hashes[i] = Hash<kMin, kMax, kSeeded>(string, seed);
  }
  return n;
}

// Hashes the strings of one class of lengths.
template <size_t kMin, size_t kMax, bool kSeeded, typename Strings>
TAMIS_FLATTEN void HashClass(const Strings& strings, const uint8_t* indices, size_t count,
                             uint64_t seed, uint64_t* hashes) {
  for (size_t i = 0; i < count; ++i) {
    const size_t index = indices[i];
    hashes[index] = Hash<kMin, kMax, kSeeded>(strings[index], seed);
  }
}

// Reads the leading strings of sizeof(T) bytes as integers, for which there are kernels. Returns
// the number of these strings.
template <typename T, typename Strings>
size_t ReadIntegers(const Strings& strings, size_t n, uint64_t* values) {
  static_assert(std::endian::native == std::endian::little);
  for (size_t i = 0; i < n; ++i) {
    const std::string_view string = strings[i];
    if (string.size() != sizeof(T)) return i;
    T value;
    std::memcpy(&value, string.data(), sizeof value);
    values[i] = value;
  }
  return n;
}

// The strings from `begin` on.
template <typename Strings>
struct Part {
  const Strings& strings;
  size_t begin;

  std::string_view operator[](size_t i) const noexcept { return strings[begin + i]; }
};

// Whether each string begins where the string before it ends.
template <typename Strings>
constexpr bool kEndToEnd = false;
template <typename Offset>
constexpr bool kEndToEnd<Part<BasicStringColumn<Offset>>> = true;
template <>
constexpr bool kEndToEnd<Part<FixedValues>> = true;

// A guess about the lengths of all strings, from a sample of them. If the guess is wrong, hashing
// only takes longer.
struct Guess {
  template <typename Strings>
  Guess(const Strings& strings, size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i < kSamples; ++i) {
      const size_t length = strings[i * n / kSamples].size();
      least = std::min(least, length);
      most = std::max(most, length);
      sum += length;
    }
    mean = sum / kSamples;
    equal = least == most;
    ahead = std::max(kLater, kAhead / std::max(mean, size_t{1}));
  }

  bool Within(size_t min, size_t max) const noexcept { return least >= min && most <= max; }

  // Returns whether hashing the strings in order is faster than sorting them first.
  bool InOrder() const noexcept { return equal || AreLong(); }
  bool AreLong() const noexcept { return mean > kXxh3Long.back(); }

  // Prefetches the bytes of strings that follow string i of `n`, for strings that are hashed in
  // order.
  template <typename Strings>
  TAMIS_INLINE void PrefetchInOrder(const Strings& strings, size_t i, size_t n) const {
    if (kEndToEnd<Strings> && !AreLong()) {
      Prefetch(strings[i], kAhead);
      Prefetch(strings[i], kAhead + kLine);
      return;
    }
    const std::string_view later = strings[std::min(i + ahead, n - 1)];
    Prefetch(later, 0);
    Prefetch(later, kLine);
    if (!AreLong()) return;
    for (size_t line = 2; line < kLaterLines; ++line) Prefetch(later, line * kLine);
  }

  static constexpr size_t kSamples = 8;

  bool equal;                                 // whether the strings have one length
  size_t ahead;                               // distance of prefetching, in strings
  size_t mean, least = ~size_t{0}, most = 0;  // lengths in bytes
};

// If `bytes` is 4 or 8, hashes the leading strings of this length, and returns their number.
template <typename Strings>
size_t HashAsIntegers(const CommonKernels& kernels, const Strings& strings, size_t n, size_t bytes,
                      const HashSpec& spec, uint64_t* hashes) {
  if (bytes == sizeof(uint64_t)) {
    n = ReadIntegers<uint64_t>(strings, n, hashes);
    kernels.hash(KeyBatch(spec, hashes, n), hashes);
    return n;
  }
  if (bytes != sizeof(uint32_t)) return 0;
  n = ReadIntegers<uint32_t>(strings, n, hashes);
  kernels.hash(KeyOf4Batch(spec, hashes, n), hashes);
  return n;
}

// If the lengths of the sample are all in one short class, hashes the leading strings whose lengths
// are in that class, and returns their number. For these strings, the code has no branch on the
// length that sorting could save.
template <bool kSeeded, typename Strings>
size_t HashOneClass(const Strings& strings, size_t n, const Guess& guess, uint64_t seed,
                    uint64_t* hashes) {
  if (guess.Within(4, 8)) return HashWithin<4, 8, kSeeded>(strings, n, seed, hashes);
  if (guess.Within(9, 16)) return HashWithin<9, 16, kSeeded>(strings, n, seed, hashes);
  if (guess.Within(17, 32)) return HashWithin<17, 32, kSeeded>(strings, n, seed, hashes);
  return 0;
}

// Hashes n strings by XXH3; n must be at most kStringsAtOnce.
template <bool kSeeded, typename Strings>
void HashByXxh3(const Strings& strings, size_t n, const Guess& guess, uint64_t seed,
                uint64_t* hashes) {
  if (guess.InOrder()) {
    for (size_t i = 0; i < n; ++i) {
      guess.PrefetchInOrder(strings, i, n);
      hashes[i] = Hash<0, ~size_t{0}, kSeeded>(strings[i], seed);
    }
    return;
  }
  const auto hash_class = [&]<size_t kMin, size_t kMax>(const uint8_t* indices, size_t count) {
    HashClass<kMin, kMax, kSeeded>(strings, indices, count, seed, hashes);
  };
  if (guess.mean >= kLongMean) {
    ByLength<kXxh3Long>::template Sort<4>(strings, n).ForEachClass(hash_class);
  } else {
    ByLength<kXxh3Short>::template Sort<2>(strings, n).ForEachClass(hash_class);
  }
}

template <size_t kMin, size_t kMax, typename Strings>
TAMIS_FLATTEN void HashClassByXxh64(const CommonKernels& kernels, const Strings& strings,
                                    const uint8_t* indices, size_t count, uint64_t seed,
                                    uint64_t* hashes) {
  if (count == 0) return;
  Xxh64Rests rests;
  for (size_t i = 0; i < count; ++i) {
    xxh64::Prepare<kMin, kMax>(strings[indices[i]], seed, i, rests);
  }
  uint64_t of_class[kStringsAtOnce];
  kernels.xxh64_rests(rests, xxh64::kLanesLeft<kMin>, count, of_class);
  for (size_t i = 0; i < count; ++i) hashes[indices[i]] = of_class[i];
}

template <typename Strings>
void HashByXxh64(const CommonKernels& kernels, const Strings& strings, size_t n, const Guess& guess,
                 uint64_t seed, uint64_t* hashes) {
  if (guess.InOrder()) {
    for (size_t i = 0; i < n; ++i) {
      guess.PrefetchInOrder(strings, i, n);
      const std::string_view string = strings[i];
      hashes[i] = XXH64(string.data(), string.size(), seed);
    }
    return;
  }
  const auto hash_class = [&]<size_t kMin, size_t kMax>(const uint8_t* indices, size_t count) {
    HashClassByXxh64<kMin, kMax>(kernels, strings, indices, count, seed, hashes);
  };
  if (guess.mean >= kLongMean) {
    ByLength<kXxh64>::template Sort<4>(strings, n).ForEachClass(hash_class);
  } else {
    ByLength<kXxh64>::template Sort<2>(strings, n).ForEachClass(hash_class);
  }
}

}  // namespace

template <typename Strings>
void HashStrings(const CommonKernels& kernels, const Strings& strings, size_t n,
                 const HashSpec& spec, uint64_t* hashes) noexcept {
  size_t begin = 0;
  while (!IsKeyed(spec.kind) && n - begin >= FewFor(spec.kind)) {
    Part<Strings> part = {strings, begin};
    size_t count = std::min(kStringsAtOnce, n - begin);
    const Guess guess(part, count);
    size_t done = 0;
    if (guess.equal) {
      done = HashAsIntegers(kernels, part, count, guess.mean, spec, hashes + begin);
    }
    if (done == 0 && spec.kind == HashKind::kXxh3) {
      done = spec.seed == 0 ? HashOneClass<false>(part, count, guess, 0, hashes + begin)
                            : HashOneClass<true>(part, count, guess, spec.seed, hashes + begin);
    }
    part.begin += done;
    count -= done;
    uint64_t* const out = hashes + part.begin;
    begin = part.begin + count;
    if (count == 0) continue;
    if (spec.kind == HashKind::kXxh64) {
      HashByXxh64(kernels, part, count, guess, spec.seed, out);
    } else if (spec.seed == 0) {
      HashByXxh3<false>(part, count, guess, 0, out);
    } else {
      HashByXxh3<true>(part, count, guess, spec.seed, out);
    }
  }
  for (; begin < n; ++begin) hashes[begin] = HashBytes(strings[begin], spec);
}

template void HashStrings(const CommonKernels&, const std::string_view* const&, size_t,
                          const HashSpec&, uint64_t*) noexcept;
template void HashStrings(const CommonKernels&, const std::string* const&, size_t, const HashSpec&,
                          uint64_t*) noexcept;
template void HashStrings(const CommonKernels&, const BasicStringColumn<int32_t>&, size_t,
                          const HashSpec&, uint64_t*) noexcept;
template void HashStrings(const CommonKernels&, const BasicStringColumn<int64_t>&, size_t,
                          const HashSpec&, uint64_t*) noexcept;
template void HashStrings(const CommonKernels&, const FixedValues&, size_t, const HashSpec&,
                          uint64_t*) noexcept;

}  // namespace tamis::detail
