// Hashes of integer keys for filters of other libraries, mirroring formats/src/murmur2.h,
// murmur3.h and spark_hash.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/format_hash.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "formats/src/integer_hash.h"
#include "simd/families.h"
#include "simd/hash-inl.h"
#include "tamis/detail/format_hash_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Calls hash(keys, words), which writes the hashes of kVectors vectors of keys as pairs of words.
template <size_t kVectors, typename Hash>
HWY_INLINE void HashSteps(const uint64_t* keys, size_t n, Hash128* hashes, const Hash& hash) {
  const size_t step = kVectors * hn::Lanes(D64());
  size_t i = 0;
  for (; i + step <= n; i += step) hash(keys + i, &hashes[i].low);
  if (i == n) return;
  // Hashes the remaining keys as a vector. Hashing them one by one would take longer than the rest
  // of a small batch.
  alignas(64) uint64_t rest[kVectors * kStep] = {};
  alignas(64) Hash128 of_rest[kVectors * kStep];
  std::copy_n(keys + i, n - i, rest);
  hash(rest, &of_rest[0].low);
  std::copy_n(of_rest, n - i, hashes + i);
}

// With two lanes, six 64-bit multiplications made of smaller ones are too slow
// (bench/NOTES_FORMATS.md).
#undef TAMIS_SCALAR_MURMUR
#define TAMIS_SCALAR_MURMUR (TAMIS_SCALAR_HASHES || (HWY_ARCH_X86 && HWY_MAX_BYTES == 16))

#if TAMIS_SCALAR_MURMUR

void HashForRedis(const uint64_t* keys, size_t n, Hash128* hashes) {
  HashEachForRedis(keys, n, hashes);
}

void HashForGuava(const uint64_t* keys, size_t n, Hash128* hashes) {
  HashEachForGuava(keys, n, hashes);
}

#else

template <int kShift>
HWY_INLINE V64 FoldedTimes(D64 d, V64 v, uint64_t factor) {
  return hn::Mul(hn::Xor(v, hn::ShiftRight<kShift>(v)), hn::Set(d, factor));
}

// The rest of Murmur64A after its lane. `start` depends on the seed.
HWY_INLINE V64 Murmur64ARest(D64 d, V64 start, V64 lane) {
  const V64 product = hn::Mul(hn::Xor(start, lane), hn::Set(d, kMurmur64AFactor));
  const V64 h = FoldedTimes<47>(d, product, kMurmur64AFactor);
  return hn::Xor(h, hn::ShiftRight<47>(h));
}

void HashForRedis(const uint64_t* keys, size_t n, Hash128* hashes) {
  HashSteps<1>(keys, n, hashes, [](const uint64_t* from, uint64_t* words) HWY_ATTR {
    const D64 d;
    const V64 length = hn::Set(d, 8 * kMurmur64AFactor);
    V64 lane = hn::Mul(hn::LoadU(d, from), hn::Set(d, kMurmur64AFactor));
    lane = FoldedTimes<47>(d, lane, kMurmur64AFactor);
    const V64 low = Murmur64ARest(d, hn::Xor(length, hn::Set(d, RedisHash64::kSeed)), lane);
    const V64 high = Murmur64ARest(d, hn::Xor(length, low), lane);
    hn::StoreInterleaved2(low, high, d, words);
  });
}

HWY_INLINE V64 Murmur3Avalanche(D64 d, V64 h) {
  h = FoldedTimes<33>(d, h, Murmur3::kAvalanche1);
  h = FoldedTimes<33>(d, h, Murmur3::kAvalanche2);
  return hn::Xor(h, hn::ShiftRight<33>(h));
}

void HashForGuava(const uint64_t* keys, size_t n, Hash128* hashes) {
  HashSteps<1>(keys, n, hashes, [](const uint64_t* from, uint64_t* words) HWY_ATTR {
    const D64 d;
    const V64 length = hn::Set(d, 8);
    const V64 product = hn::Mul(hn::LoadU(d, from), hn::Set(d, Murmur3::kFirst));
    const V64 lane = hn::Mul(hn::RotateRight<64 - 31>(product), hn::Set(d, Murmur3::kSecond));
    V64 low = hn::Add(hn::Xor(lane, length), length);
    V64 high = hn::Add(length, low);
    low = Murmur3Avalanche(d, low);
    high = Murmur3Avalanche(d, high);
    low = hn::Add(low, high);
    hn::StoreInterleaved2(low, hn::Add(high, low), d, words);
  });
}

#endif  // TAMIS_SCALAR_MURMUR

HWY_INLINE V32 SparkMix(D32 d, V32 word) {
  const V32 product = hn::Mul(word, hn::Set(d, SparkMurmur3::kFirst));
  return hn::Mul(hn::RotateRight<32 - 15>(product), hn::Set(d, SparkMurmur3::kSecond));
}

HWY_INLINE V32 SparkTake(D32 d, V32 h, V32 mixed) {
  h = hn::RotateRight<32 - 13>(hn::Xor(h, mixed));
  return hn::Add(hn::Add(h, hn::ShiftLeft<2>(h)), hn::Set(d, SparkMurmur3::kAdded));
}

template <int kShift>
HWY_INLINE V32 FoldedTimes(D32 d, V32 v, uint32_t factor) {
  return hn::Mul(hn::Xor(v, hn::ShiftRight<kShift>(v)), hn::Set(d, factor));
}

// Hashes both words of a key, which are already mixed.
HWY_INLINE V32 SparkLanes(D32 d, V32 seed, V32 first, V32 second) {
  V32 h = SparkTake(d, SparkTake(d, seed, first), second);
  h = FoldedTimes<16>(d, hn::Xor(h, hn::Set(d, 8)), SparkMurmur3::kAvalanche1);
  h = FoldedTimes<13>(d, h, SparkMurmur3::kAvalanche2);
  return hn::Xor(h, hn::ShiftRight<16>(h));
}

// Hashes two vectors of keys at a time, as one vector of low words and one of high words. Even
// lanes have the words of the first vector, and odd lanes the words of the second vector.
void HashForSpark(int32_t seed, const uint64_t* keys, size_t n, Hash128* hashes) {
  HashSteps<2>(keys, n, hashes, [seed](const uint64_t* from, uint64_t* words) HWY_ATTR {
    const D64 d;
    const D32 d32;
    const size_t lanes = hn::Lanes(d);
    const V64 a = hn::LoadU(d, from);
    const V64 b = hn::LoadU(d, from + lanes);
    const V32 low = hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(b)), hn::BitCast(d32, a));
    const V32 high = hn::OddEven(hn::BitCast(d32, b), hn::BitCast(d32, hn::ShiftRight<32>(a)));
    const V32 mixed_low = SparkMix(d32, low);
    const V32 mixed_high = SparkMix(d32, high);
    const V32 start = hn::Set(d32, static_cast<uint32_t>(seed));
    const V32 first = SparkLanes(d32, start, mixed_low, mixed_high);
    const V64 firsts = hn::BitCast(d, first);
    const V64 seconds = hn::BitCast(d, SparkLanes(d32, first, mixed_low, mixed_high));
    const V64 half = hn::Set(d, 0xFFFFFFFF);
    hn::StoreInterleaved2(hn::And(firsts, half), hn::And(seconds, half), d, words);
    hn::StoreInterleaved2(hn::ShiftRight<32>(firsts), hn::ShiftRight<32>(seconds), d,
                          words + 2 * lanes);
  });
}

[[maybe_unused]] constexpr FormatHashKernels kFormatHash = {
    .redis = HashForRedis, .guava = HashForGuava, .spark = HashForSpark};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::detail::simd {

TAMIS_DEFINE_FAMILY(FormatHashKernels, format_hash, kFormatHash)

}  // namespace tamis::detail::simd
#endif  // HWY_ONCE
