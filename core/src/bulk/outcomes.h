// Which keys of a call changed the filter, in the form that the caller requested.
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
  // For a caller that requested no output.
  Outcomes() = default;
  // Indices are written in the order of calls to Reject. Bitmaps must be 0 at first.
  Outcomes(const ChangeOutputs& outputs)
      : next_(outputs.rejected_indices), fresh_(outputs.fresh), rejected_(outputs.rejected) {}

  // Returns the place for the next index, or nullptr if the caller did not request indices.
  uint64_t* next() const noexcept { return next_; }
  uint64_t* fresh() const noexcept { return fresh_; }
  uint64_t* rejected() const noexcept { return rejected_; }
  bool wants_rejected() const noexcept { return next_ != nullptr || rejected_ != nullptr; }

  // If the caller did not request indices, several threads may call this at the same time, for keys
  // in different words of the bitmap.
  void Reject(uint64_t index) noexcept {
    if (next_ != nullptr) *next_++ = index;
    if (rejected_ != nullptr) SetBit(rejected_, index);
  }
  void SetFresh(uint64_t index) noexcept {
    if (fresh_ != nullptr) SetBit(fresh_, index);
  }
  // Adds the keys whose bits are set, out of n keys from `first` on; bits past n must be 0.
  void AddFresh(uint64_t first, const uint64_t* bits, size_t n) noexcept;

 private:
  static void SetBit(uint64_t* bits, uint64_t i) noexcept {
    bits[i / 64] |= uint64_t{1} << (i % 64);
  }

  uint64_t* next_ = nullptr;
  uint64_t* fresh_ = nullptr;
  uint64_t* rejected_ = nullptr;
};

// Return outputs in the memory of the caller, for `keys` keys. Throw Error(kInvalidArgument), with
// nothing written, if an output is too small.
ChangeOutputs IndicesFor(uint64_t keys, std::span<uint64_t> rejected);
ChangeOutputs BitsFor(uint64_t keys, Bitmap fresh);
ChangeOutputs BitsFor(uint64_t keys, Bitmap fresh, Bitmap rejected);

// Inserts the absent keys of a batch whose first key has the index `first`. Calls insert(slice,
// fresh), which must set the bits of the keys that were absent. Returns their number.
template <typename Insert>
size_t InsertAbsent(const CommonKernels& kernels, const Batch& batch, uint64_t first,
                    Outcomes& outcomes, const Insert& insert) noexcept {
  // Slices are long, because every slice has to fill the pipeline of a kernel again.
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
