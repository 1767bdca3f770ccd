#include "core/src/bulk/outcomes.h"

#include "core/src/bulk/output.h"

namespace tamis::detail {

ChangeOutputs IndicesFor(uint64_t keys, std::span<uint64_t> rejected) {
  RequireRoom(rejected, keys);
  return {.rejected_indices = rejected.data()};
}

ChangeOutputs BitsFor(uint64_t keys, Bitmap fresh) {
  RequireRoom(fresh, keys);
  return {.fresh = fresh.words().data()};
}

ChangeOutputs BitsFor(uint64_t keys, Bitmap fresh, Bitmap rejected) {
  RequireRoom(fresh, keys);
  RequireRoom(rejected, keys);
  return {.fresh = fresh.words().data(), .rejected = rejected.words().data()};
}

void Outcomes::AddFresh(uint64_t first, const uint64_t* bits, size_t n) noexcept {
  if (fresh_ == nullptr) return;
  uint64_t* const out = fresh_ + first / 64;
  const unsigned shift = first % 64;
  const size_t words = BitmapWords(n);
  if (shift == 0) {
    for (size_t i = 0; i < words; ++i) out[i] |= bits[i];
    return;
  }
  for (size_t i = 0; i < words; ++i) {
    out[i] |= bits[i] << shift;
    // The next word may be after the last key, or belong to another thread.
    if (const uint64_t rest = bits[i] >> (64 - shift)) out[i + 1] |= rest;
  }
}

}  // namespace tamis::detail
