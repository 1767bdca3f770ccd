// The bytes of keys that RedisBloom hashes.
#ifndef TAMIS_FORMATS_SRC_REDIS_REDIS_KEYS_H_
#define TAMIS_FORMATS_SRC_REDIS_REDIS_KEYS_H_

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "formats/src/key_visit.h"
#include "formats/src/redis/redis_hash.h"
#include "tamis/error.h"
#include "tamis/formats/redis_dump.h"
#include "tamis/keys.h"

namespace tamis::detail {

// The decimal text of an integer.
class RedisDecimal {
 public:
  RedisDecimal(bool is_signed, uint64_t key) noexcept {
    char* const end = bytes_ + sizeof(bytes_);
    const auto made = is_signed ? std::to_chars(bytes_, end, static_cast<int64_t>(key))
                                : std::to_chars(bytes_, end, key);
    size_ = static_cast<size_t>(made.ptr - bytes_);
  }

  std::string_view view() const noexcept { return {bytes_, size_}; }

 private:
  char bytes_[20];  // -9223372036854775808, 18446744073709551615
  size_t size_;
};

template <typename Kind>
typename Kind::Hash HashRedisKey(RedisIntegers, std::string_view key) noexcept {
  return Kind::Of(key);
}
template <typename Kind>
typename Kind::Hash HashRedisKey(RedisIntegers integers, uint64_t key) noexcept {
  if (integers == RedisIntegers::kBytes) {
    // The compiler can use this constant length.
    return Kind::Of({reinterpret_cast<const char*>(&key), sizeof(key)});
  }
  return Kind::Of(RedisDecimal(integers == RedisIntegers::kSigned, key).view());
}

// Computes the hashes of the keys [begin, begin + n); n is in [1, 64]. Returns one bit for each key
// that is not null. The hashes of all other keys are unspecified.
template <typename Kind>
struct RedisHasher {
  RedisIntegers integers;
  const Keys& keys;

  uint64_t operator()(size_t begin, size_t n, typename Kind::Hash* hashes) const noexcept {
    return VisitKeys(keys, [&](const auto& of) {
      const uint64_t valid = NotNull(keys, begin, n);
      // The entry of a null may not be a valid string.
      for (uint64_t rest = valid; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<size_t>(std::countr_zero(rest));
        hashes[i] = HashRedisKey<Kind>(integers, of(begin + i));
      }
      return valid;
    });
  }
};

// Throws Error(kInvalidArgument) for hashes.
inline void RequireRedisForm(const Keys& keys) {
  if (keys.layout() != KeyLayout::kHashes) return;
  throw Error(ErrorCode::kInvalidArgument,
              "a filter of RedisBloom has keys that are strings or integers, and not hashes");
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_REDIS_REDIS_KEYS_H_
