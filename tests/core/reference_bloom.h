// A slow classic Bloom filter that follows core/FORMAT.md, written for the tests without any of the
// library's arithmetic.
#ifndef TAMIS_TESTS_CORE_REFERENCE_BLOOM_H_
#define TAMIS_TESTS_CORE_REFERENCE_BLOOM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tamis {

// Returns the positions of a hash: (x + i y + (i^3 - i) / 6) mod m for i = 0, 1, ... k - 1.
inline std::vector<uint64_t> ReferencePositions(uint64_t hash, uint64_t num_bits,
                                                uint32_t num_hashes) {
  __extension__ using Wide = unsigned __int128;
  const uint64_t second = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
  const Wide x = (Wide{hash} * num_bits) >> 64;
  const Wide y = (Wide{second} * num_bits) >> 64;
  std::vector<uint64_t> positions;
  for (uint64_t i = 0; i < num_hashes; ++i) {
    positions.push_back(static_cast<uint64_t>((x + i * y + (i * i * i - i) / 6) % num_bits));
  }
  return positions;
}

class ReferenceBloom {
 public:
  ReferenceBloom(uint64_t num_bits, uint32_t num_hashes)
      : bits_(num_bits), num_hashes_(num_hashes) {}

  void Insert(uint64_t hash) {
    for (const uint64_t p : ReferencePositions(hash, bits_.size(), num_hashes_)) bits_[p] = true;
  }
  bool Contains(uint64_t hash) const {
    for (const uint64_t p : ReferencePositions(hash, bits_.size(), num_hashes_)) {
      if (!bits_[p]) return false;
    }
    return true;
  }

  // Least significant bit first.
  std::vector<std::byte> Bytes() const {
    std::vector<std::byte> bytes(bits_.size() / 8);
    for (size_t i = 0; i < bits_.size(); ++i) {
      if (bits_[i]) bytes[i / 8] |= std::byte{1} << (i % 8);
    }
    return bytes;
  }

 private:
  std::vector<bool> bits_;
  uint32_t num_hashes_;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_REFERENCE_BLOOM_H_
