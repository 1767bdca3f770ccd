#include "tamis/erasable_filter.h"

#include "core/src/bulk/output.h"
#include "core/src/bulk/valid_keys.h"
#include "core/src/filters/filter_access.h"

namespace tamis {

using detail::Change;
using detail::FilterAccess;
using detail::Outcomes;

bool ErasableFilter::Erase(uint64_t key) noexcept { return EraseHash(hasher_(key)); }

bool ErasableFilter::Erase(std::string_view key) noexcept {
  return EraseHash(HashBytes(key, hash_));
}

bool ErasableFilter::EraseHash(uint64_t hash) noexcept { return ChangeOne(Change::kErase, hash); }

size_t ErasableFilter::Erase(Keys keys) {
  return FilterAccess::ChangeKeys(*this, Change::kErase, keys, Outcomes());
}

size_t ErasableFilter::Erase(Keys keys, std::span<uint64_t> missing) {
  detail::RequireRoom(missing, keys.size());
  return FilterAccess::ChangeKeys(*this, Change::kErase, keys, Outcomes(missing));
}

size_t ErasableFilter::EraseIfAllFound(Keys keys) {
  detail::RequireAllFound(Count(keys), keys);
  return Erase(keys);
}

}  // namespace tamis
