// The hash stage of the bulk functions: turns keys of any layout into batches for kernels.
#ifndef TAMIS_CORE_SRC_BULK_BATCHES_H_
#define TAMIS_CORE_SRC_BULK_BATCHES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tamis/detail/kernels.h"
#include "tamis/hash.h"
#include "tamis/hash_kinds.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Keys whose hashes or bits are buffered at a time: half of a first-level cache of 32 KiB.
inline constexpr size_t kBatchKeys = 2048;
static_assert(kBatchKeys % 64 == 0);

// The batch length for ForEachBatch that makes batches as long as the keys allow.
inline constexpr size_t kUnlimited = std::numeric_limits<size_t>::max() / 64 * 64;

// Returns whether all kernels can read these keys where they are.
inline bool IsDirect(const Keys& keys, const HashSpec& spec) noexcept {
  return keys.layout() == KeyLayout::kHashes ||
         (keys.layout() == KeyLayout::kU64 && !IsKeyed(spec.kind));
}

// Returns integer keys as all kernels accept them: the keys themselves, or their hashes in
// `buffer`, which has n elements and may be the memory of the keys.
Batch IntegerBatch(const CommonKernels& kernels, const HashSpec& spec, const uint64_t* keys,
                   size_t n, uint64_t* buffer) noexcept;

// Returns the batch of keys [begin, begin + n). If the keys are not direct, they are widened or
// hashed into `buffer`, which has n elements.
Batch MakeBatch(const CommonKernels& kernels, const Keys& keys, const HashSpec& spec, size_t begin,
                size_t n, uint64_t* buffer) noexcept;

// Calls visit(batch, begin) for consecutive batches of `batch_keys` keys, a multiple of 64. The
// last batch may be shorter. Batches of keys that are not direct have at most kKeys keys.
template <size_t kKeys = kBatchKeys, typename Visit>
void ForEachBatch(const CommonKernels& kernels, const Keys& keys, const HashSpec& spec,
                  size_t batch_keys, const Visit& visit) {
  alignas(64) uint64_t buffer[kKeys];
  const size_t step = IsDirect(keys, spec) ? batch_keys : std::min(batch_keys, kKeys);
  for (size_t begin = 0, n = 0; begin < keys.size(); begin += n) {
    n = std::min(step, keys.size() - begin);
    visit(MakeBatch(kernels, keys, spec, begin, n, buffer), begin);
  }
}

// Calls visit(slice, begin) for consecutive slices of at most kBatchKeys keys. For stages that keep
// data for each key on the stack.
template <typename Visit>
void ForEachSlice(const Batch& batch, const Visit& visit) {
  for (size_t begin = 0; begin < batch.n; begin += kBatchKeys) {
    visit(Batch{batch.hasher, batch.values + begin, std::min(kBatchKeys, batch.n - begin)}, begin);
  }
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_BATCHES_H_
