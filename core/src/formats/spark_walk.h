// The hash of a key in a filter of Spark, and its bits.
#ifndef TAMIS_CORE_SRC_FORMATS_SPARK_WALK_H_
#define TAMIS_CORE_SRC_FORMATS_SPARK_WALK_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/src/formats/bit_walk.h"
#include "core/src/formats/hash128.h"
#include "tamis/formats/spark.h"

namespace tamis::detail {

// MurmurHash3_x86_32 as Spark has it (Murmur3_x86_32.java). It is the algorithm of Austin Appleby
// but for the bytes after the last whole word: each is a word of its own, with its sign.
class SparkMurmur3 {
 public:
  explicit SparkMurmur3(uint32_t seed) noexcept : h_(seed) {}

  void Take(uint32_t word) noexcept {
    h_ = std::rotl(h_ ^ (std::rotl(word * 0xCC9E2D51, 15) * 0x1B873593), 13) * 5 + 0xE6546B64;
  }
  uint32_t Finish(uint32_t length) const noexcept {
    uint32_t h = h_ ^ length;
    h = (h ^ (h >> 16)) * 0x85EBCA6B;
    h = (h ^ (h >> 13)) * 0xC2B2AE35;
    return h ^ (h >> 16);
  }

 private:
  uint32_t h_;
};

inline uint32_t SparkHash(uint64_t key, uint32_t seed) noexcept {
  SparkMurmur3 state(seed);
  state.Take(static_cast<uint32_t>(key));
  state.Take(static_cast<uint32_t>(key >> 32));
  return state.Finish(8);
}

inline uint32_t SparkHash(std::string_view key, uint32_t seed) noexcept {
  static_assert(std::endian::native == std::endian::little);
  SparkMurmur3 state(seed);
  size_t at = 0;
  for (; key.size() - at >= 4; at += 4) {
    uint32_t word;
    std::memcpy(&word, key.data() + at, sizeof(word));
    state.Take(word);
  }
  for (; at < key.size(); ++at) {
    state.Take(static_cast<uint32_t>(int32_t{static_cast<int8_t>(key[at])}));
  }
  return state.Finish(static_cast<uint32_t>(key.size()));
}

// Both hashes of a key: the second has the first for its seed.
template <typename Key>
Hash128 SparkHashes(const Key& key, int32_t seed) noexcept {
  const uint32_t first = SparkHash(key, static_cast<uint32_t>(seed));
  return {first, SparkHash(key, first)};
}

// The versions as walks, after BloomFilterImpl.java and BloomFilterImplV2.java: the second hash is
// added again and again, and a sum that is negative is inverted. In version 1 sums wrap around at
// 2^32.
struct SparkV1 {
  static Hash128 Start(const Hash128& hash) noexcept {
    return {static_cast<uint32_t>(hash.low + hash.high), hash.high};
  }
  static uint64_t Next(Hash128& walk, const Remainder& remainder) noexcept {
    const auto sum = static_cast<uint32_t>(walk.low);
    walk.low = static_cast<uint32_t>(walk.low + walk.high);
    return remainder(sum >> 31 != 0 ? ~sum : sum);
  }
};
// They are signed and begin at 2^31 - 1 times the first; what is inverted is the index alone.
struct SparkV2 {
  static Hash128 Start(const Hash128& hash) noexcept {
    const uint64_t step = Widened(hash.high);
    return {Widened(hash.low) * 0x7FFF'FFFF + step, step};
  }
  static uint64_t Next(Hash128& walk, const Remainder& remainder) noexcept {
    const uint64_t sum = walk.low;
    walk.low += walk.high;
    return remainder(sum >> 63 != 0 ? ~sum : sum);
  }

 private:
  static uint64_t Widened(uint64_t hash) noexcept {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(hash)});
  }
};

// Calls visit with the version as a type.
template <typename Visit>
auto VisitSparkVersion(SparkVersion version, const Visit& visit) {
  return version == SparkVersion::kV1 ? visit(SparkV1()) : visit(SparkV2());
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FORMATS_SPARK_WALK_H_
