// The concurrent filters as type parameters of tests.
#ifndef TAMIS_TESTS_LIVE_CONCURRENT_TYPES_H_
#define TAMIS_TESTS_LIVE_CONCURRENT_TYPES_H_

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis {

// The filters that ConcurrentBloom wraps.
using BloomTypes = testing::Types<SplitBlockBloomFilter, BloomFilter>;
struct BloomTypeName {
  template <typename F>
  static std::string GetName(int) {
    return F::kKind == FilterKind::kSplitBlock ? "SplitBlock" : "Classic";
  }
};

// Bits per fingerprint.
using CuckooTypes = testing::Types<std::integral_constant<int, 8>, std::integral_constant<int, 12>,
                                   std::integral_constant<int, 16>>;
struct CuckooTypeName {
  template <typename Bits>
  static std::string GetName(int) {
    return std::to_string(Bits::value) + "Bits";
  }
};

}  // namespace tamis

#endif  // TAMIS_TESTS_LIVE_CONCURRENT_TYPES_H_
