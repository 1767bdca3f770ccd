#include "tamis/hash.h"

#include <xxhash.h>

#include <random>
#include <string>

#include "core/src/base/hash_check.h"
#include "tamis/error.h"

namespace tamis {

const char* HashKindName(HashKind kind) noexcept {
  return kind == HashKind::kXxh3 ? "xxh3" : kind == HashKind::kXxh64 ? "xxh64" : "unknown";
}

const HashSpec& detail::CheckedHash(const HashSpec& spec) {
  if (spec.kind == HashKind::kXxh3 || spec.kind == HashKind::kXxh64) return spec;
  throw Error(ErrorCode::kInvalidArgument,
              "there is no hash of number " + std::to_string(static_cast<uint32_t>(spec.kind)));
}

uint64_t HashBytes(std::string_view bytes, HashSpec spec) noexcept {
  return spec.kind == HashKind::kXxh3 ? XXH3_64bits_withSeed(bytes.data(), bytes.size(), spec.seed)
                                      : XXH64(bytes.data(), bytes.size(), spec.seed);
}

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace tamis
