// The hash of a key in Spark's filters.
#ifndef TAMIS_FORMATS_SRC_SPARK_HASH_H_
#define TAMIS_FORMATS_SRC_SPARK_HASH_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tamis/detail/format_hash_kernels.h"

namespace tamis::detail {

// MurmurHash3_x86_32 in Spark's variant (Murmur3_x86_32.java). It differs from the algorithm of
// Austin Appleby in the bytes after the last whole word: each is a separate word, sign-extended.
class SparkMurmur3 {
 public:
  static constexpr uint32_t kFirst = 0xCC9E2D51;
  static constexpr uint32_t kSecond = 0x1B873593;
  static constexpr uint32_t kAdded = 0xE6546B64;
  static constexpr uint32_t kAvalanche1 = 0x85EBCA6B;
  static constexpr uint32_t kAvalanche2 = 0xC2B2AE35;

  explicit SparkMurmur3(uint32_t seed) noexcept : h_(seed) {}

  void Take(uint32_t word) noexcept {
    h_ = std::rotl(h_ ^ (std::rotl(word * kFirst, 15) * kSecond), 13) * 5 + kAdded;
  }
  uint32_t Finish(uint32_t length) const noexcept {
    uint32_t h = h_ ^ length;
    h = (h ^ (h >> 16)) * kAvalanche1;
    h = (h ^ (h >> 13)) * kAvalanche2;
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

// Returns both hashes of a key. The first hash is the seed of the second one.
template <typename Key>
Hash128 SparkHashes(const Key& key, int32_t seed) noexcept {
  const uint32_t first = SparkHash(key, static_cast<uint32_t>(seed));
  return {first, SparkHash(key, first)};
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_SPARK_HASH_H_
