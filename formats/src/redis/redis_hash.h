// The hashes of RedisBloom.
#ifndef TAMIS_FORMATS_SRC_REDIS_REDIS_HASH_H_
#define TAMIS_FORMATS_SRC_REDIS_REDIS_HASH_H_

#include <cstdint>
#include <string_view>

#include "formats/src/murmur2.h"
#include "tamis/detail/format_hash_kernels.h"

namespace tamis::detail {

// The hash of a key in a Bloom filter. Bit i of the key is low + i high, as in bloom.c.
struct RedisHash64 {
  using Hash = Hash128;
  static constexpr uint64_t kSeed = 0xC6A4A7935BD1E995;
  static Hash Of(std::string_view key) noexcept {
    const uint64_t first = Murmur64A(key.data(), key.size(), kSeed);
    return {first, Murmur64A(key.data(), key.size(), first)};
  }
};
// The hash in filters without FORCE64.
struct RedisHash32 {
  using Hash = Hash128;
  static Hash Of(std::string_view key) noexcept {
    const uint32_t first = Murmur2(key.data(), key.size(), 0x9747B28C);
    return {first, Murmur2(key.data(), key.size(), first)};
  }
};
// The hash in cuckoo filters.
struct RedisCuckooHash {
  using Hash = uint64_t;
  static Hash Of(std::string_view key) noexcept { return Murmur64A(key.data(), key.size(), 0); }
};

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_REDIS_REDIS_HASH_H_
