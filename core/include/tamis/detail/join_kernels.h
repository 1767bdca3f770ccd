// The kernels of a backend for the exact forms of join filters.
#ifndef TAMIS_DETAIL_JOIN_KERNELS_H_
#define TAMIS_DETAIL_JOIN_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace tamis::detail {

// Values from `low` to `low` + `span`, both included, modulo 2^64. So a range may contain negative
// and positive integers.
struct ValueRange {
  uint64_t low = 0;
  uint64_t span = 0;
};

// Up to 64 values in a table without collisions: value v can only be in slot (v * multiplier) >>
// shift. A slot without a value has any value that belongs to another slot.
struct ValueList {
  const uint64_t* slots = nullptr;  // 2^(64 - shift) values
  uint64_t multiplier = 0;          // odd
  int shift = 0;                    // in [1, 63]
};

// All kernels write (n + 63) / 64 words. The bits past n are 0.
struct JoinKernels {
  // Sets bit i of `bits` to whether value i is in the range.
  void (*in_range)(const ValueRange& range, const uint64_t* values, size_t n, uint64_t* bits);
  // Sets bit i of `bits` to whether value i is in the range and its bit in `words` is set: bit v -
  // low. Bit span + 1 of `words` must exist and be 0; span is below 2^63.
  void (*in_bitmap)(const uint64_t* words, const ValueRange& range, const uint64_t* values,
                    size_t n, uint64_t* bits);
  // Sets bit i of `bits` to whether value i is in the list.
  void (*in_list)(const ValueList& list, const uint64_t* values, size_t n, uint64_t* bits);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_JOIN_KERNELS_H_
