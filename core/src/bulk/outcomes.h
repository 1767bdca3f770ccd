// Which keys of a call were changed, in the form that the caller asked for.
#ifndef TAMIS_CORE_SRC_BULK_OUTCOMES_H_
#define TAMIS_CORE_SRC_BULK_OUTCOMES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/changeable.h"
#include "tamis/detail/batch.h"
#include "tamis/detail/kernels.h"
#include "tamis/keys.h"

namespace tamis::detail {

class Outcomes {
 public:
  // Nobody asks.
  Outcomes() = default;
  // Indices come in the order of Reject. Bitmaps are 0 before.
  Outcomes(const ChangeOutputs& outputs)
      : next_(outputs.rejected_indices), fresh_(outputs.fresh), rejected_(outputs.rejected) {}

  // Where the next index goes; nullptr if nobody asks for indices.
  uint64_t* next() const noexcept { return next_; }
  uint64_t* fresh() const noexcept { return fresh_; }
  uint64_t* rejected() const noexcept { return rejected_; }
  bool wants_rejected() const noexcept { return next_ != nullptr || rejected_ != nullptr; }

  // As bits, threads may tell of keys in different words at the same time.
  void Reject(uint64_t index) noexcept {
    if (next_ != nullptr) *next_++ = index;
    if (rejected_ != nullptr) SetBit(rejected_, index);
  }
  void SetFresh(uint64_t index) noexcept {
    if (fresh_ != nullptr) SetBit(fresh_, index);
  }
  // Of n keys from `first` on, those whose bit is set; bits past n are 0.
  void AddFresh(uint64_t first, const uint64_t* bits, size_t n) noexcept;

 private:
  static void SetBit(uint64_t* bits, uint64_t i) noexcept {
    bits[i / 64] |= uint64_t{1} << (i % 64);
  }

  uint64_t* next_ = nullptr;
  uint64_t* fresh_ = nullptr;
  uint64_t* rejected_ = nullptr;
};

// Outputs that the caller has, for so many keys. Throw Error(kInvalidArgument), with nothing
// written, if one is too small.
ChangeOutputs IndicesFor(uint64_t keys, std::span<uint64_t> rejected);
ChangeOutputs BitsFor(uint64_t keys, Bitmap fresh);
ChangeOutputs BitsFor(uint64_t keys, Bitmap fresh, Bitmap rejected);

// Inserts the absent ones of a batch whose first key has the index `first`, by insert(slice,
// fresh), which tells by bits which they were. Returns how many.
template <typename Insert>
size_t InsertAbsent(const CommonKernels& kernels, const Batch& batch, uint64_t first,
                    Outcomes& outcomes, const Insert& insert) noexcept {
  // Many: every slice fills the pipeline of a kernel anew.
  constexpr size_t kSliceKeys = 16 << 10;
  uint64_t fresh[kSliceKeys / 64];
  size_t num_fresh = 0;
  for (size_t begin = 0, n = 0; begin < batch.n; begin += n) {
    n = std::min(kSliceKeys, batch.n - begin);
    insert(Batch{batch.hasher, batch.values + begin, n}, fresh);
    outcomes.AddFresh(first + begin, fresh, n);
    num_fresh += kernels.popcount(fresh, BitmapWords(n));
  }
  return num_fresh;
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_OUTCOMES_H_
