// Keys with nulls. Lookups take all keys and clear the bits of nulls. Changes take only the valid
// keys, packed.
#ifndef TAMIS_CORE_SRC_BULK_VALID_KEYS_H_
#define TAMIS_CORE_SRC_BULK_VALID_KEYS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/src/base/function_ref.h"
#include "core/src/bulk/batches.h"
#include "core/src/bulk/change_loop.h"
#include "core/src/bulk/outcomes.h"
#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Returns a word in which bit i is set if key begin + i is valid. `n` must be at most 64; bits past
// n are 0.
uint64_t ValidBits(const Keys& keys, size_t begin, size_t n) noexcept;

// Returns how many of keys [begin, begin + n) are valid.
size_t CountValid(const Keys& keys, size_t begin, size_t n) noexcept;

// Clears bit i if key begin + i is null, for i < n.
void ClearNulls(const Keys& keys, size_t begin, size_t n, uint64_t* bits) noexcept;

// Works like ForEachBatch, for keys that may have nulls. The values of nulls in a batch are
// unspecified. A null string view may point anywhere and is not read.
template <size_t kKeys = kBatchKeys, typename Visit>
void ForEachBatchAndNulls(const CommonKernels& kernels, const Keys& keys, const HashSpec& spec,
                          size_t batch_keys, const Visit& visit) {
  if (keys.validity() == nullptr || keys.layout() != KeyLayout::kStringViews) {
    ForEachBatch<kKeys>(kernels, keys, spec, batch_keys, visit);
    return;
  }
  constexpr size_t kViews = 256;
  std::string_view views[kViews];
  for (size_t begin = 0, n = 0; begin < keys.size(); begin += n) {
    n = std::min({kViews, batch_keys, keys.size() - begin});
    for (size_t i = 0; i < n; ++i) {
      views[i] = keys.IsValid(begin + i) ? keys.data<std::string_view>()[begin + i] : "";
    }
    ForEachBatch<kViews>(kernels, std::span<const std::string_view>(views, n), spec, kUnlimited,
                         [&](const Batch& batch, size_t) { visit(batch, begin); });
  }
}

// A BatchSource of the valid keys among some keys. The index of a key in this source is its rank:
// the number of valid keys before it. Allocates nothing, because noexcept functions use it.
class ValidKeys {
 public:
  ValidKeys(const Keys& keys, const HashSpec& spec) noexcept;

  size_t size() const noexcept { return size_; }
  void operator()(const CommonKernels& kernels, uint64_t begin, uint64_t n,
                  FunctionRef<void(const Batch& batch, uint64_t index)> visit) const noexcept;

  // Replaces the ascending ranks in ranks[0, count) by the indices of these keys, and merges in the
  // indices of the nulls; all are ascending.
  void RanksToIndices(uint64_t* ranks, size_t count) const noexcept;
  // Moves the bit of rank r to the index of key r. The bits of nulls become 0.
  void SpreadBits(uint64_t* bits) const noexcept;

 private:
  size_t IndexOf(uint64_t rank) const noexcept;

  static constexpr size_t kMarks = 1024;

  const Keys& keys_;
  const HashSpec& spec_;
  size_t size_ = 0;
  size_t stride_;  // the number of keys from one mark to the next
  size_t num_marks_ = 0;
  uint64_t marks_[kMarks];  // the number of valid keys before each mark
};

// Calls change(n, source, outcomes) for all valid keys, and writes the outputs for all keys: the
// indices of nulls are among the rejected ones. Returns the result of `change`, which is the number
// of keys that changed the filter.
template <typename ChangeAll>
uint64_t ForValidKeys(const Keys& keys, const HashSpec& spec, const ChangeOutputs& outputs,
                      const ChangeAll& change) {
  for (uint64_t* const bits : {outputs.fresh, outputs.rejected}) {
    if (bits != nullptr) std::fill_n(bits, BitmapWords(keys.size()), uint64_t{0});
  }
  const Outcomes outcomes(outputs);
  if (keys.validity() == nullptr) return change(keys.size(), BatchesOf(keys, spec), outcomes);
  const ValidKeys valid(keys, spec);
  const uint64_t done = change(valid.size(), valid, outcomes);
  if (outputs.rejected_indices != nullptr) {
    valid.RanksToIndices(outputs.rejected_indices, valid.size() - done);
  }
  for (uint64_t* const bits : {outputs.fresh, outputs.rejected}) {
    if (bits != nullptr) valid.SpreadBits(bits);
  }
  return done;
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_VALID_KEYS_H_
