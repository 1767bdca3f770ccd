#include "tamis/erasable_filter.h"

#include "core/src/bulk/valid_keys.h"

namespace tamis {

bool ErasableFilter::Erase(uint64_t key) noexcept { return EraseHash(hasher_(key)); }

bool ErasableFilter::Erase(std::string_view key) noexcept {
  return EraseHash(HashBytes(key, hash_));
}

bool ErasableFilter::EraseHash(uint64_t hash) noexcept { return ChangeOne(Change::kErase, hash); }

ChangeTraits ErasableFilter::change_traits() const noexcept {
  ChangeTraits traits = ChangeableFilter::change_traits();
  traits.erases = true;
  return traits;
}

size_t ErasableFilter::EraseIfAllFound(Keys keys) {
  detail::RequireAllFound(Count(keys), keys);
  return Erase(keys);
}

}  // namespace tamis
