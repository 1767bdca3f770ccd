// Keys with nulls: what the bulk functions see of them. Lookups take all keys and clear the bits of
// those that are null; changes take those that are valid, packed.
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

// Bit i becomes whether key begin + i is valid; n is at most 64, and bits past n are 0.
uint64_t ValidBits(const Keys& keys, size_t begin, size_t n) noexcept;

// How many of keys [begin, begin + n) are valid.
size_t CountValid(const Keys& keys, size_t begin, size_t n) noexcept;

// Clears bit i for each key begin + i of the n that is null.
void ClearNulls(const Keys& keys, size_t begin, size_t n, uint64_t* bits) noexcept;

// As ForEachBatch, for keys that may have nulls: what stands for those in a batch is unspecified. A
// null string view may point anywhere, and is not followed.
template <typename Visit>
void ForEachBatchAndNulls(const CommonKernels& kernels, const Keys& keys, const HashSpec& spec,
                          size_t batch_keys, const Visit& visit) {
  if (keys.validity() == nullptr || keys.layout() != KeyLayout::kStringViews) {
    ForEachBatch(kernels, keys, spec, batch_keys, visit);
    return;
  }
  constexpr size_t kViews = 512;
  std::string_view views[kViews];
  for (size_t begin = 0, n = 0; begin < keys.size(); begin += n) {
    n = std::min({kViews, batch_keys, keys.size() - begin});
    for (size_t i = 0; i < n; ++i) {
      views[i] = keys.IsValid(begin + i) ? keys.data<std::string_view>()[begin + i] : "";
    }
    ForEachBatch(kernels, std::span<const std::string_view>(views, n), spec, kUnlimited,
                 [&](const Batch& batch, size_t) { visit(batch, begin); });
  }
}

// The source (see BatchSource) of the valid ones of some keys, by their rank: key r is the one that
// r valid ones come before. Allocates nothing, as it is for functions that are noexcept.
class ValidKeys {
 public:
  ValidKeys(const Keys& keys, const HashSpec& spec) noexcept;

  size_t size() const noexcept { return size_; }
  void operator()(const CommonKernels& kernels, uint64_t begin, uint64_t n,
                  FunctionRef<void(const Batch& batch, uint64_t index)> visit) const noexcept;

  // Makes the ascending ranks at ranks[0 .. count) the ascending indices of these keys and of the
  // nulls.
  void RanksToIndices(uint64_t* ranks, size_t count) const noexcept;
  // The same for bits: that of rank r moves to where key r is, and those of nulls are 0.
  void SpreadBits(uint64_t* bits) const noexcept;

 private:
  size_t IndexOf(uint64_t rank) const noexcept;

  static constexpr size_t kMarks = 1024;

  const Keys& keys_;
  const HashSpec& spec_;
  size_t size_ = 0;
  size_t stride_;  // keys from one mark to the next
  size_t num_marks_ = 0;
  uint64_t marks_[kMarks];  // how many valid keys there are before each
};

// Calls change(n, source, outcomes) for all keys that are valid, and writes the outputs for all
// keys: the indices of nulls are among the rejected. Returns what it returns: how many keys there
// was a change for.
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
