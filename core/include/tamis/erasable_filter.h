// Filters that keys can be erased from.
#ifndef TAMIS_ERASABLE_FILTER_H_
#define TAMIS_ERASABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/changeable_filter.h"

namespace tamis {

// Erase only keys that were inserted, which only the caller can know. The filter may find another
// key all the same, at the false-positive rate; erasing it takes away what stands for a key that is
// in, and that key is then missed.
class ErasableFilter : public ChangeableFilter {
 public:
  // One copy of one key. Returns whether it was found and erased.
  bool Erase(uint64_t key) noexcept;
  bool Erase(std::string_view key) noexcept;
  bool EraseHash(uint64_t hash) noexcept;
  template <detail::NoKey T>
  bool Erase(T) = delete;

  using Changeable::Erase;
  // Erases the keys only if the filter finds each one, nulls aside, and otherwise throws
  // Error(kInvalidArgument) with nothing erased. This notices a wrong list, and a list that is
  // erased twice, unless all of its keys are false positives. Returns the number of erased keys,
  // which is smaller than the list if it has a key more often than the key was inserted.
  size_t EraseIfAllFound(Keys keys);

  ChangeTraits change_traits() const noexcept override;

 protected:
  using ChangeableFilter::ChangeableFilter;
};

}  // namespace tamis

#endif  // TAMIS_ERASABLE_FILTER_H_
