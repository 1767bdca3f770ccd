// Filters that keys can be erased from.
#ifndef TAMIS_ERASABLE_FILTER_H_
#define TAMIS_ERASABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "tamis/detail/filter_base.h"

namespace tamis {

// Erase only keys that were inserted, which only the caller can know. The filter may find another
// key all the same, at the false-positive rate; erasing it takes away what stands for a key that is
// in, and that key is then missed.
class ErasableFilter : public detail::FilterBase {
 public:
  // One copy of one key. Returns whether it was found and erased.
  bool Erase(uint64_t key) noexcept;
  bool Erase(std::string_view key) noexcept;
  bool EraseHash(uint64_t hash) noexcept;
  template <detail::NoKey T>
  bool Erase(T) = delete;

  // Erases keys in their order, one copy of each. Returns how many were found and erased. Throws
  // Error(kReadOnly) if the filter is read_only().
  size_t Erase(Keys keys);
  size_t Erase(std::initializer_list<std::string_view> keys) { return Erase(Keys(keys)); }
  // The same, and writes the indices of the keys that were not erased, nulls included, ascending,
  // to missing[0 .. n - result). `missing` needs n elements: Error(kInvalidArgument), with nothing
  // erased, if it has fewer.
  size_t Erase(Keys keys, std::span<uint64_t> missing);
  // Erases the keys only if the filter finds each one, nulls aside, and otherwise throws
  // Error(kInvalidArgument) with nothing erased. This notices a wrong list, and a list that is
  // erased twice, unless all of its keys are false positives. Returns the number of erased keys,
  // which is smaller than the list if it has a key more often than the key was inserted.
  size_t EraseIfAllFound(Keys keys);

 protected:
  using FilterBase::FilterBase;
};

}  // namespace tamis

#endif  // TAMIS_ERASABLE_FILTER_H_
