#include "tamis/hash.h"

#include <xxhash.h>

#include <random>

namespace tamis {

const char* HashKindName(HashKind kind) noexcept {
  return kind == HashKind::kXxh3 ? "xxh3" : "xxh64";
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
