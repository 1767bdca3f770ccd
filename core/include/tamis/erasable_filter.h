// Filters that keys can be erased from.
#ifndef TAMIS_ERASABLE_FILTER_H_
#define TAMIS_ERASABLE_FILTER_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tamis/detail/filter_base.h"

namespace tamis {

// Erasing takes a key back that was inserted. A key that was never inserted must not be erased: the
// filter may have it all the same, at the false-positive rate, and would then lose what stands for
// another key, which is a false negative from there on. Only the caller can know.
class ErasableFilter : public detail::FilterBase {
 public:
  // One key, one copy of it, of a filter of whatever kind. Returns whether it was found and erased.
  bool Erase(uint64_t key) noexcept;
  bool Erase(std::string_view key) noexcept;
  bool EraseHash(uint64_t hash) noexcept;
  template <std::floating_point T>
  bool Erase(T) = delete;

  // Erases keys in their order, one copy of each. Returns how many were found and erased; none if
  // the filter is read_only().
  size_t Erase(Keys keys) noexcept;
  // The same, and writes the indices of the other keys, ascending, to missing[0 .. n - result),
  // those of nulls among them. `missing` needs n elements: Error(kInvalidArgument), with nothing
  // erased, if it has fewer.
  size_t Erase(Keys keys, std::span<uint64_t> missing);

 protected:
  using FilterBase::FilterBase;
};

}  // namespace tamis

#endif  // TAMIS_ERASABLE_FILTER_H_
