// A loop that hashes strings mispredicts a branch on the length of nearly every string. So strings
// are first sorted by classes of lengths and then hashed class by class. Within a class, XXH3
// and XXH64 need no branch on the length. Kernels sort the strings, and do the last steps of the
// hashes.
#include "core/src/bulk/hash_strings.h"

// Inlines the arithmetic of each class into its loop.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/src/bulk/length_classes.h"
#include "core/src/bulk/xxh3_strings.h"
#include "core/src/bulk/xxh64_strings.h"
#include "tamis/detail/batch.h"
#include "tamis/detail/compiler.h"
#include "tamis/hash_kinds.h"

namespace tamis::detail {
namespace {

// XXH3 hashes strings of up to 16 bytes at once, up to 128 in rounds of 32, up to 240 in rounds of
// 16, and longer ones in another way. So there are three sets of classes.
constexpr LengthClasses::Longest kXxh3Short = {3, 8, 16, 32, 64, 96, 128};
constexpr LengthClasses::Longest kXxh3Middle = {16, 32, 64, 96, 128, 143, 159};
constexpr LengthClasses::Longest kXxh3Long = {16, 32, 64, 96, 128, 192, 240};
// The mean lengths from which on strings count as middle or long.
constexpr size_t kMiddleMean = 64, kLongMean = 112;
// XXH64 takes stripes of 32 bytes, then lanes of 8.
constexpr LengthClasses::Longest kXxh64 = {3, 7, 15, 23, 31, 63, 95};

// Fewer strings than this are hashed one by one. Sorting them, and filling a vector for each class
// of a few strings, would take longer.
constexpr size_t FewFor(HashKind kind) { return kind == HashKind::kXxh64 ? 32 : 12; }

// Strings that are sorted together have at most about this many bytes, unless 64 strings have more.
// So they and the strings after them are in the first cache.
constexpr size_t kBytesAtOnce = 16 << 10;
// Strings of this mean length or more are hashed in order. They have more lines than can be
// prefetched, and processors prefetch what is read in order.
constexpr size_t kInOrderMean = 208;

constexpr uintptr_t kLine = 64;

// Prefetches the cache line at `behind` bytes after the beginning of a string. Computes with
// integers: the string may be empty, and its pointer null.
TAMIS_INLINE void Prefetch(std::string_view string, uintptr_t behind) {
  PrefetchRead(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(string.data()) + behind));
}

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
template <typename String>
const String* From(const String* strings, size_t begin) {
  return strings + begin;
}
template <typename Offset>
BasicStringColumn<Offset> From(const BasicStringColumn<Offset>& strings, size_t begin) {
  return {strings.bytes, strings.offsets.subspan(begin)};
}
FixedValues From(const FixedValues& strings, size_t begin) {
  return {strings.bytes + begin * strings.width, strings.width};
}

// Whether each string begins where the string before it ends.
template <typename Strings>
constexpr bool kEndToEnd = true;
template <typename String>
constexpr bool kEndToEnd<const String*> = false;

// Prefetches the strings after a batch while the batch is hashed.
template <typename Strings, bool = kEndToEnd<Strings>>
class Following {
 public:
  // The batch is the first `n` strings.
  Following(const Strings& strings, size_t n, size_t /*left*/)
      : next_(End(strings[n - 1])), step_((next_ - Begin(strings[0])) / n + 1) {}

  // Prefetches the bytes of about one string, at most kLines cache lines.
  template <size_t kLines>
  TAMIS_INLINE void PrefetchOne() {
    for (size_t line = 0; line < kLines; ++line) {
      PrefetchRead(reinterpret_cast<const char*>(next_ + line * kLine));
    }
    next_ += step_;
  }

 private:
  static uintptr_t Begin(std::string_view string) {
    return reinterpret_cast<uintptr_t>(string.data());
  }
  static uintptr_t End(std::string_view string) { return Begin(string) + string.size(); }

  uintptr_t next_, step_;
};

// Strings anywhere in memory.
template <typename Strings>
class Following<Strings, false> {
 public:
  // The batch is the first `n` of `left` strings.
  Following(const Strings& strings, size_t n, size_t left)
      : strings_(strings), next_(std::min(n, left - 1)), last_(left - 1) {}

  template <size_t kLines>
  TAMIS_INLINE void PrefetchOne() {
    const std::string_view string = strings_[next_];
    for (size_t line = 0; line < kLines; ++line) Prefetch(string, line * kLine);
    next_ = std::min(next_ + 1, last_);
  }

 private:
  Strings strings_;
  size_t next_, last_;
};

// Hashes the strings of one class of lengths. The hashes of some classes are sums that still lack
// the last steps (xxh3::Sum). Returns where `following` got to.
//
// Not inlined: with all classes in one function, g++ keeps the state of the loops in memory.
template <size_t kMin, size_t kMax, bool kSeeded, size_t kLines, typename Strings>
TAMIS_FLATTEN TAMIS_NOINLINE Following<Strings> HashClass(const Strings strings,
                                                          const uint8_t* lengths,
                                                          const uint8_t* numbers, size_t count,
                                                          Following<Strings> following,
                                                          uint64_t seed, uint64_t* hashes) {
  for (size_t i = 0; i < count; ++i) {
    const size_t number = numbers[i];
    following.template PrefetchOne<kLines>();
    if constexpr (xxh3::kHasSum<kMin, kMax>) {
      const std::string_view string(strings[number].data(), lengths[number]);  // two loads less
      hashes[number] = xxh3::Sum<kMin, kMax>(string, kSeeded ? seed : 0);
    } else {
      hashes[number] = Hash<kMin, kMax, kSeeded>(strings[number], seed);
    }
  }
  return following;
}

// Prefetches the first batch of a call, whose strings no batch before it has prefetched.
template <typename Strings>
void PrefetchFirst(const Strings& strings, size_t n) {
  if (kEndToEnd<Strings>) return;  // read in order, by the call before this one if there was one
  for (size_t i = 0; i < n; ++i) {
    Prefetch(strings[i], 0);
    Prefetch(strings[i], kLine);
  }
}

// Sets each of the `n` lengths, which are at most 255: longer strings are in the last class.
template <typename Strings>
void SetLengths(const Strings& strings, size_t n, uint8_t* lengths) {
  for (size_t i = 0; i < n; ++i) {
    lengths[i] = static_cast<uint8_t>(std::min(strings[i].size(), size_t{255}));
  }
}
template <typename Offset>
void SetLengths(const BasicStringColumn<Offset>& strings, size_t n, uint8_t* lengths) {
  const Offset* const offsets = strings.offsets.data();
  for (size_t i = 0; i < n; ++i) {
    lengths[i] = static_cast<uint8_t>(std::min(offsets[i + 1] - offsets[i], Offset{255}));
  }
}

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
  bool InOrder() const noexcept { return equal || mean >= kInOrderMean; }
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

// Hashes the first `n` of `left` strings by XXH3, n <= kStringsAtOnce, after sorting them.
template <LengthClasses::Longest kLongest, bool kSeeded, size_t kLines, typename Strings>
void SortAndHash(const CommonKernels& kernels, const Strings& strings, size_t n, size_t left,
                 uint64_t seed, uint64_t* hashes) {
  uint8_t lengths[kStringsAtOnce];
  SetLengths(strings, n, lengths);
  const ByLength<kLongest> sorted(kernels, lengths, n);
  Following<Strings> following(strings, n, left);
  // The kernel changes all hashes, so the classes that it does not serve come after it.
  sorted.ForEachClass([&]<size_t kMin, size_t kMax>(const uint8_t* numbers, size_t count) {
    if constexpr (xxh3::kHasSum<kMin, kMax>) {
      following = HashClass<kMin, kMax, kSeeded, kLines>(strings, lengths, numbers, count,
                                                         following, seed, hashes);
    }
  });
  kernels.end_xxh3(lengths, n, hashes);
  sorted.ForEachClass([&]<size_t kMin, size_t kMax>(const uint8_t* numbers, size_t count) {
    if constexpr (!xxh3::kHasSum<kMin, kMax>) {
      following = HashClass<kMin, kMax, kSeeded, kLines>(strings, lengths, numbers, count,
                                                         following, seed, hashes);
    }
  });
}

// Hashes the first `n` of `left` strings by XXH3, n <= kStringsAtOnce.
template <bool kSeeded, typename Strings>
void HashByXxh3(const CommonKernels& kernels, const Strings& strings, size_t n, size_t left,
                const Guess& guess, uint64_t seed, uint64_t* hashes) {
  if (guess.InOrder()) {
    const Strings local = strings;  // otherwise each store of a hash might change it
    for (size_t i = 0; i < n; ++i) {
      guess.PrefetchInOrder(local, i, n);
      hashes[i] = Hash<0, ~size_t{0}, kSeeded>(local[i], seed);
    }
  } else if (guess.mean >= kLongMean) {
    SortAndHash<kXxh3Long, kSeeded, 2>(kernels, strings, n, left, seed, hashes);
  } else if (guess.mean >= kMiddleMean) {
    SortAndHash<kXxh3Middle, kSeeded, 1>(kernels, strings, n, left, seed, hashes);
  } else {
    SortAndHash<kXxh3Short, kSeeded, 1>(kernels, strings, n, left, seed, hashes);
  }
}

template <size_t kMin, size_t kMax, size_t kLines, typename Strings>
TAMIS_FLATTEN Following<Strings> HashClassByXxh64(const CommonKernels& kernels,
                                                  const Strings strings, const uint8_t* numbers,
                                                  size_t count, Following<Strings> following,
                                                  uint64_t seed, uint64_t* hashes) {
  Xxh64Rests rests;
  for (size_t i = 0; i < count; ++i) {
    following.template PrefetchOne<kLines>();
    xxh64::Prepare<kMin, kMax>(strings[numbers[i]], seed, i, rests);
  }
  uint64_t of_class[kStringsAtOnce];
  kernels.xxh64_rests(rests, xxh64::kLanesLeft<kMin>, count, of_class);
  for (size_t i = 0; i < count; ++i) hashes[numbers[i]] = of_class[i];
  return following;
}

// Hashes the first `n` of `left` strings by XXH64, n <= kStringsAtOnce.
template <typename Strings>
void HashByXxh64(const CommonKernels& kernels, const Strings& strings, size_t n, size_t left,
                 const Guess& guess, uint64_t seed, uint64_t* hashes) {
  if (guess.InOrder()) {
    const Strings local = strings;  // otherwise each store of a hash might change it
    for (size_t i = 0; i < n; ++i) {
      guess.PrefetchInOrder(local, i, n);
      const std::string_view string = local[i];
      hashes[i] = XXH64(string.data(), string.size(), seed);
    }
    return;
  }
  uint8_t lengths[kStringsAtOnce];
  SetLengths(strings, n, lengths);
  const ByLength<kXxh64> sorted(kernels, lengths, n);
  Following<Strings> following(strings, n, left);
  sorted.ForEachClass([&]<size_t kMin, size_t kMax>(const uint8_t* numbers, size_t count) {
    following = guess.mean >= kLongMean
                    ? HashClassByXxh64<kMin, kMax, 2>(kernels, strings, numbers, count, following,
                                                      seed, hashes)
                    : HashClassByXxh64<kMin, kMax, 1>(kernels, strings, numbers, count, following,
                                                      seed, hashes);
  });
}

}  // namespace

template <typename Strings>
void HashStrings(const CommonKernels& kernels, const Strings& strings, size_t n,
                 const HashSpec& spec, uint64_t* hashes) noexcept {
  size_t begin = 0;
  while (!IsKeyed(spec.kind) && n - begin >= FewFor(spec.kind)) {
    Strings part = From(strings, begin);
    size_t count = std::min(kStringsAtOnce, n - begin);
    const Guess guess(part, count);
    if (!guess.InOrder()) {
      count = std::min(count, std::max<size_t>(64, kBytesAtOnce / (guess.mean + 1) / 64 * 64));
      if (begin == 0) PrefetchFirst(part, count);
    }
    size_t done = 0;
    if (guess.equal) {
      done = HashAsIntegers(kernels, part, count, guess.mean, spec, hashes + begin);
    }
    if (done == 0 && spec.kind == HashKind::kXxh3) {
      done = spec.seed == 0 ? HashOneClass<false>(part, count, guess, 0, hashes + begin)
                            : HashOneClass<true>(part, count, guess, spec.seed, hashes + begin);
    }
    begin += done;
    count -= done;
    if (count == 0) continue;
    part = From(strings, begin);
    const size_t left = n - begin;
    uint64_t* const out = hashes + begin;
    begin += count;
    if (spec.kind == HashKind::kXxh64) {
      HashByXxh64(kernels, part, count, left, guess, spec.seed, out);
    } else if (spec.seed == 0) {
      HashByXxh3<false>(kernels, part, count, left, guess, 0, out);
    } else {
      HashByXxh3<true>(kernels, part, count, left, guess, spec.seed, out);
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
