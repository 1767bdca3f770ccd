// Filters from which keys can be erased.
#ifndef TAMIS_FILTERS_ERASABLE_FILTER_H_
#define TAMIS_FILTERS_ERASABLE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/filters/changeable_filter.h"

namespace tamis {

// Erase only keys that were inserted. The filter cannot check this. If another key is a false
// positive, Erase removes the entry of a key that was inserted, and later queries miss the inserted
// key.
class ErasableFilter : public ChangeableFilter {
 public:
  // Erase one copy of one key. Return whether it was found and erased.
  bool Erase(uint64_t key) noexcept;
  bool Erase(std::string_view key) noexcept;
  bool EraseHash(uint64_t hash) noexcept;
  template <detail::NoKey T>
  bool Erase(T) = delete;

  using Changeable::Erase;
  // Calls RequireAllIn(keys), and then erases the keys. Returns the number of erased keys. The
  // result is smaller than the number of keys if two different keys share one copy, or if several
  // layers of a scalable filter may have a key, because such a key is not erased.
  size_t EraseIfAllFound(Keys keys);
  // Compares the copies of each key in the filter with the copies in `keys`; nulls do not count.
  // Throws Error(kInvalidArgument) if the filter has fewer copies of any key. The check detects
  // lists of other keys, lists that were already erased, and lists with too many copies of a key.
  // Such a list passes the check only if all its surplus keys are false positives. Allocates 8
  // bytes per key.
  void RequireAllIn(Keys keys) const;

  ChangeTraits change_traits() const noexcept override;

 protected:
  using ChangeableFilter::ChangeableFilter;

  // Returns how many copies of the key with this hash the filter seems to have.
  virtual uint64_t CopiesOfHash(uint64_t hash) const noexcept = 0;
};

}  // namespace tamis

#endif  // TAMIS_FILTERS_ERASABLE_FILTER_H_
