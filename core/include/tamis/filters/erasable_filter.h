// Filters from which keys can be erased.
#ifndef TAMIS_FILTERS_ERASABLE_FILTER_H_
#define TAMIS_FILTERS_ERASABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/filters/changeable_filter.h"

namespace tamis {

// Erase only keys that were inserted. The filter cannot check this: for another key it may find the
// entry of a key that is in, at the false-positive rate. Erasing then removes that entry, and later
// queries miss the key that it belonged to.
class ErasableFilter : public ChangeableFilter {
 public:
  // Erase one copy of one key. Return whether it was found and erased.
  bool Erase(uint64_t key) noexcept;
  bool Erase(std::string_view key) noexcept;
  bool EraseHash(uint64_t hash) noexcept;
  template <detail::NoKey T>
  bool Erase(T) = delete;

  using Changeable::Erase;
  // Erases the keys if RequireAllIn(keys) does not throw. Returns the number of erased keys. It is
  // smaller than the number of keys if two of them share a copy, or if several layers of a scalable
  // filter may have a key, which then stays.
  size_t EraseIfAllFound(Keys keys);
  // Throws Error(kInvalidArgument) unless the filter has each key, nulls aside, at least as often
  // as `keys` contains it. This detects wrong lists, lists that are erased twice, and lists with a
  // key too often, unless all the surplus keys are false positives. Takes 8 bytes per key.
  void RequireAllIn(Keys keys) const;

  ChangeTraits change_traits() const noexcept override;

 protected:
  using ChangeableFilter::ChangeableFilter;

  // Returns how often the filter has the key of a hash, as far as it can tell.
  virtual uint64_t CopiesOfHash(uint64_t hash) const noexcept = 0;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_ERASABLE_FILTER_H_
