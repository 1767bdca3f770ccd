// The hashes of keys in Kudu, by type, and the block of a hash. After the descriptions in
// hash_util.h and block_bloom_filter.h of Apache Kudu; FastHash is by Zilong Tan.
#ifndef TAMIS_FORMATS_SRC_KUDU_HASH_H_
#define TAMIS_FORMATS_SRC_KUDU_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tamis/formats/kudu.h"
#include "tamis/keys.h"

namespace tamis::detail {

// FastHash, with its 64 bits folded to 32. Takes words of 8 bytes, little-endian, one after the
// other. Fewer than 8 bytes at the end are one more word, padded with zeros.
class FastHash {
 public:
  FastHash(uint32_t seed, uint64_t length) noexcept : h_(seed ^ (length * kMultiplier)) {}

  void Take(uint64_t word) noexcept { h_ = (h_ ^ Mix(word)) * kMultiplier; }
  uint32_t Finish() const noexcept {
    const uint64_t h = Mix(h_);
    return static_cast<uint32_t>(h - (h >> 32));
  }

 private:
  static constexpr uint64_t kMultiplier = 0x880355F21E6D1965;

  static constexpr uint64_t Mix(uint64_t h) noexcept {
    h = (h ^ (h >> 23)) * 0x2127599BF4325C37;
    return h ^ (h >> 47);
  }

  uint64_t h_;
};

// Returns the hash of the low `length` bytes of an integer, in [1, 8]; the other bytes must be 0.
inline uint32_t FastHashOfInteger(uint64_t value, uint64_t length, uint32_t seed) noexcept {
  FastHash hash(seed, length);
  hash.Take(value);
  return hash.Finish();
}

inline uint32_t FastHashOfBytes(std::string_view bytes, uint32_t seed) noexcept {
  constexpr uint64_t kOfEmpty = 0x7DCA7EEE;  // represents the empty string
  if (bytes.empty()) return FastHashOfInteger(kOfEmpty, 4, seed);
  FastHash hash(seed, bytes.size());
  uint64_t word = 0;
  size_t at = 0;
  for (; bytes.size() - at >= sizeof(word); at += sizeof(word)) {
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    hash.Take(word);
  }
  if (at != bytes.size()) {
    word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at);
    hash.Take(word);
  }
  return hash.Finish();
}

// Returns the 64-bit hash for which split_block::BlockIndex gives the block that Kudu uses, out of
// 2^log_blocks with log_blocks in [1, 32]. The hash also selects the same bits in the block. Its
// high bits are the index of the block, which a multiplication computes (Dietzfelbinger), and its
// low bits are `hash`.
inline uint64_t KuduBlockHash(uint32_t hash, uint32_t log_blocks) noexcept {
  const uint64_t index = (hash * uint64_t{0x7850F11EC6D14889} + 0x6773610597CA4C63) >> 32;
  return index << (64 - log_blocks) | hash;
}

// Computes the hashes of the keys of one filter.
struct KuduHasher {
  KuduType type;
  uint32_t seed;
  uint32_t log_blocks;

  // Both return false if the key is outside the range of the type, and throw
  // Error(kInvalidArgument) for keys of another type.
  bool OfKey(uint64_t key, uint64_t& hash) const;
  bool OfKey(std::string_view key, uint64_t& hash) const;

  // Throws Error(kInvalidArgument) unless the keys have this type.
  void RequireForm(const Keys& keys) const;
  // Like RequireForm. Also throws if a key that is not null is outside the range of the type; the
  // error names the first.
  void RequireKeys(const Keys& keys) const;

  // Computes the hashes of the keys [begin, begin + n), which must have this type; n is in [1, 64].
  // Returns one bit for each key that is not null and in the range of the type. The hashes of all
  // other keys are 0.
  uint64_t OfKeys(const Keys& keys, size_t begin, size_t n, uint64_t* hashes) const noexcept;
};

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_KUDU_HASH_H_
