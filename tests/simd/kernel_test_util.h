// Batches for tests of kernels.
#ifndef TAMIS_TESTS_SIMD_KERNEL_TEST_UTIL_H_
#define TAMIS_TESTS_SIMD_KERNEL_TEST_UTIL_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "tamis/detail/kernels.h"
#include "tamis/hash_kinds.h"
#include "tests/test_util.h"

namespace tamis {

// The parts of a batch except its values.
struct BatchSpec {
  detail::Source source;
  uint64_t seed = 0;  // see HashOf; unused for hashes

  detail::Batch Make(const uint64_t* values, size_t n) const {
    if (source == detail::Source::kHashes) return detail::HashBatch(values, n);
    if (source == detail::Source::kXxh3Of4) {
      return detail::KeyOf4Batch(HashOf(HashKind::kXxh3, seed), values, n);
    }
    if (source == detail::Source::kXxh64Of4) {
      return detail::KeyOf4Batch(HashOf(HashKind::kXxh64, seed), values, n);
    }
    const HashKind kind = kHashKinds[static_cast<size_t>(source) - 1];
    return detail::KeyBatch(HashOf(kind, seed), values, n);
  }

  friend std::ostream& operator<<(std::ostream& out, const BatchSpec& spec) {
    constexpr const char* kNames[] = {"hashes",    "xxh3",         "xxh64",        "siphash13",
                                      "siphash24", "xxh3 of four", "xxh64 of four"};
    return out << kNames[static_cast<int>(spec.source)] << " of " << spec.seed;
  }
};

// The batches that all kernels accept. The halves of a seed differ, so that swapping them is
// detected.
inline constexpr BatchSpec kBatchSpecs[] = {{detail::Source::kHashes, 0},
                                            {detail::Source::kXxh3, 0},
                                            {detail::Source::kXxh3, 0x8123456789ABCDEF},
                                            {detail::Source::kXxh64, 0},
                                            {detail::Source::kXxh64, 0xFEDCBA9876543218}};

// Returns random values and extreme ones. As hashes, the extreme values select the first and the
// last block, and the first and the last bit of a word.
inline std::vector<uint64_t> RandomValues(size_t n, uint64_t seed) {
  constexpr uint64_t kExtremes[] = {0, ~uint64_t{0},     0xFFFFFFFF, 0xFFFFFFFF00000000,
                                    1, uint64_t{1} << 63};
  Random random(seed);
  std::vector<uint64_t> values(n);
  for (uint64_t& value : values) {
    value = random.Below(8) == 0 ? kExtremes[random.Below(std::size(kExtremes))] : random();
  }
  return values;
}

}  // namespace tamis

#endif  // TAMIS_TESTS_SIMD_KERNEL_TEST_UTIL_H_
