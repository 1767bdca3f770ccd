// Filters that keys can be erased from.
#ifndef TAMIS_FILTERS_ERASABLE_FILTER_H_
#define TAMIS_FILTERS_ERASABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/filters/changeable_filter.h"

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
  // Erases the keys only if RequireAllIn(keys) does not throw. Returns the number of erased keys.
  // It is smaller than the list if two of the keys share a copy, or if several layers of a scalable
  // filter may have a key, which then stays.
  size_t EraseIfAllFound(Keys keys);
  // Throws Error(kInvalidArgument) unless the filter finds each key, nulls aside, as often as it
  // comes in `keys`. This notices a wrong list, a list that is erased twice, and a list with keys
  // that come twice, unless all of them are false positives. Takes 8 bytes a key.
  void RequireAllIn(Keys keys) const;

  ChangeTraits change_traits() const noexcept override;

 protected:
  using ChangeableFilter::ChangeableFilter;

  // How often the filter has the key of a hash, as far as it can tell.
  virtual uint64_t CopiesOfHash(uint64_t hash) const noexcept = 0;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_ERASABLE_FILTER_H_
