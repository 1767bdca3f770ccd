// The hashes of FormatHashKernels for one key at a time: for the portable backend, and for targets
// whose vectors would compute a hash more slowly.
#ifndef TAMIS_FORMATS_SRC_INTEGER_HASH_H_
#define TAMIS_FORMATS_SRC_INTEGER_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/src/murmur3.h"
#include "formats/src/redis/redis_hash.h"
#include "formats/src/spark_hash.h"
#include "tamis/detail/format_hash_kernels.h"

namespace tamis::detail {

inline void HashEachForRedis(const uint64_t* keys, size_t n, Hash128* hashes) noexcept {
  for (size_t i = 0; i < n; ++i) {
    hashes[i] = RedisHash64::Of({reinterpret_cast<const char*>(keys + i), sizeof(*keys)});
  }
}

inline void HashEachForGuava(const uint64_t* keys, size_t n, Hash128* hashes) noexcept {
  for (size_t i = 0; i < n; ++i) hashes[i] = Murmur3OfU64(keys[i]);
}

inline void HashEachForSpark(int32_t seed, const uint64_t* keys, size_t n,
                             Hash128* hashes) noexcept {
  for (size_t i = 0; i < n; ++i) hashes[i] = SparkHashes(keys[i], seed);
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_INTEGER_HASH_H_
