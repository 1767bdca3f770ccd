// A slow counting filter that follows core/FORMAT.md, with one number for each counter, written for
// the tests without any of the library's arithmetic.
#ifndef TAMIS_TESTS_CORE_REFERENCE_COUNTERS_H_
#define TAMIS_TESTS_CORE_REFERENCE_COUNTERS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tamis {

class ReferenceCounters {
 public:
  explicit ReferenceCounters(uint64_t num_blocks) : counters_(128 * num_blocks) {}

  void Insert(uint64_t hash) {
    for (const size_t i : Indices(hash)) {
      if (counters_[i] < 15) ++counters_[i];
    }
  }
  bool Contains(uint64_t hash) const {
    const auto indices = Indices(hash);
    return std::all_of(indices.begin(), indices.end(), [&](size_t i) { return counters_[i] > 0; });
  }
  bool Erase(uint64_t hash) {
    if (!Contains(hash)) return false;
    for (const size_t i : Indices(hash)) {
      if (counters_[i] < 15) --counters_[i];
    }
    return true;
  }
  void Merge(const ReferenceCounters& other) {
    for (size_t i = 0; i < counters_.size(); ++i) {
      counters_[i] = std::min(15, counters_[i] + other.counters_[i]);
    }
  }
  uint64_t Saturated() const {
    return static_cast<uint64_t>(std::count(counters_.begin(), counters_.end(), 15));
  }
  std::vector<std::byte> Bytes() const {
    std::vector<std::byte> bytes;
    for (size_t i = 0; i < counters_.size(); i += 2) {
      bytes.push_back(static_cast<std::byte>(counters_[i] + 16 * counters_[i + 1]));
    }
    return bytes;
  }

 private:
  std::array<size_t, 8> Indices(uint64_t hash) const {
    constexpr uint64_t kSalts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                    0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    const uint64_t blocks = counters_.size() / 128;
    std::array<size_t, 8> indices;
    for (size_t w = 0; w < 8; ++w) {
      const uint64_t product = (hash & 0xFFFFFFFF) * kSalts[w] % (uint64_t{1} << 32);
      indices[w] = 128 * (((hash >> 32) * blocks) >> 32) + 16 * w + product / (uint64_t{1} << 28);
    }
    return indices;
  }

  std::vector<int> counters_;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_REFERENCE_COUNTERS_H_
