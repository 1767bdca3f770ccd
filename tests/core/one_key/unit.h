// The functions of unit.cc. This file stands for a user's source that queries and changes one key
// at a time, and is compiled for several processors.
#ifndef TAMIS_TESTS_CORE_ONE_KEY_UNIT_H_
#define TAMIS_TESTS_CORE_ONE_KEY_UNIT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tamis/filters/split_block_filter.h"
#include "tamis/filters/split_block_view.h"
#include "tamis/hash.h"

namespace tamis::one_key {

template <typename Asked, typename Changed>
struct Calls {
  bool (*contains)(const Asked&, uint64_t);
  bool (*contains_string)(const Asked&, std::string_view);
  bool (*contains_hash)(const Asked&, uint64_t);
  void (*insert)(Changed&, uint64_t);
  void (*insert_string)(Changed&, std::string_view);
  void (*insert_hash)(Changed&, uint64_t);
};

struct Unit {
  Calls<SplitBlockBloomFilter, SplitBlockBloomFilter> filter;
  Calls<ConstSplitBlockView, const SplitBlockView> view;

  SplitBlockView (*make_view)(std::span<std::byte> blocks, const HashSpec& hash,
                              const Backend& backend);

  // Pointers to the functions themselves: a unit whose pointers are taken contains copies of these.
  bool (ConstSplitBlockView::*contains_hash)(uint64_t) const noexcept;
  void (SplitBlockView::*insert_hash)(uint64_t) const noexcept;
  uint64_t (*hash)(uint64_t, HashSpec);
  // The block of a hash as the functions for one key compute it.
  uint64_t (*block_index)(uint64_t hash, uint64_t num_blocks);
};

extern const Unit kPlain;    // for any processor of the kind
extern const Unit kAvx2;     // -mavx2
extern const Unit kHaswell;  // -march=haswell: AVX2, BMI2 and others
extern const Unit kAvx512;   // -march=skylake-avx512
extern const Unit kIntel;    // like kHaswell, with the assembler's syntax of Intel (-masm=intel)

}  // namespace tamis::one_key

#endif  // TAMIS_TESTS_CORE_ONE_KEY_UNIT_H_
