// The keys of a selection vector, gathered so that they can be queried like other keys.
#ifndef TAMIS_CORE_SRC_BULK_SELECTED_KEYS_H_
#define TAMIS_CORE_SRC_BULK_SELECTED_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/keys.h"

namespace tamis::detail {

// Owns the memory of the keys that Of returns.
class SelectedKeys {
 public:
  // Returns key selection[0], key selection[1] ... of `keys`, with their nulls. If the indices are
  // consecutive, the result is a slice of `keys`. Otherwise the keys are copied; strings are copied
  // as views. The result is valid until the next call. All indices must be below keys.size().
  template <typename Index>
  Keys Of(const Keys& keys, std::span<const Index> selection);

 private:
  std::vector<std::byte> elements_;
  std::vector<std::string_view> strings_;
  std::vector<uint8_t> validity_;
};

extern template Keys SelectedKeys::Of(const Keys& keys, std::span<const uint32_t> selection);
extern template Keys SelectedKeys::Of(const Keys& keys, std::span<const uint64_t> selection);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_SELECTED_KEYS_H_
