// A slow split-block filter that follows the Parquet specification (parquet-format,
// BloomFilter.md), written for the tests without any of the library's arithmetic.
#ifndef TAMIS_TESTS_CORE_REFERENCE_FILTER_H_
#define TAMIS_TESTS_CORE_REFERENCE_FILTER_H_

#include <xxhash.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tamis/filters/filter.h"
#include "tamis/hash.h"
#include "tests/core/reference_siphash.h"

namespace tamis {

inline uint64_t ReferenceHash(std::string_view bytes, HashSpec spec) {
  switch (spec.kind) {
    case HashKind::kXxh3:
      return XXH3_64bits_withSeed(bytes.data(), bytes.size(), spec.seed);
    case HashKind::kXxh64:
      return XXH64(bytes.data(), bytes.size(), spec.seed);
    case HashKind::kSipHash13:
      return ReferenceSipHash(bytes, spec.secret, 1, 3);
    case HashKind::kSipHash24:
      return ReferenceSipHash(bytes, spec.secret, 2, 4);
  }
  return 0;
}

inline uint64_t ReferenceHash(uint64_t key, HashSpec spec) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(key >> (8 * i));
  return ReferenceHash(std::string_view(bytes, 8), spec);
}

class ReferenceFilter {
 public:
  explicit ReferenceFilter(uint64_t num_blocks) : blocks_(num_blocks) {}

  void Insert(uint64_t hash) { blocks_[Index(hash)] |= Mask(hash); }
  bool Contains(uint64_t hash) const { return (blocks_[Index(hash)] & Mask(hash)) == Mask(hash); }

  // Returns the bytes of the filter: words of 32 bits, least significant byte first.
  std::vector<std::byte> Bytes() const {
    std::vector<std::byte> bytes;
    for (const Block& block : blocks_) {
      for (size_t i = 0; i < 256; i += 8) {
        bytes.push_back(static_cast<std::byte>(((block >> i) & Block(0xFF)).to_ulong()));
      }
    }
    return bytes;
  }

 private:
  using Block = std::bitset<256>;  // bit b of word w is bit 32 w + b

  uint64_t Index(uint64_t hash) const {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(hash >> 32) * blocks_.size() >> 32);
  }
  static Block Mask(uint64_t hash) {
    constexpr uint64_t kSalts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                    0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    Block mask;
    for (size_t w = 0; w < 8; ++w) {
      const uint64_t product = (hash & 0xFFFFFFFF) * kSalts[w] % (uint64_t{1} << 32);
      mask.set(32 * w + product / (uint64_t{1} << 27));
    }
    return mask;
  }

  std::vector<Block> blocks_;
};

inline std::vector<std::byte> Payload(const Filter& filter) {
  return {filter.payload().begin(), filter.payload().end()};
}

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_REFERENCE_FILTER_H_
