#include "tamis/filters/erasable_filter.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/hash_keys.h"

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
  RequireAllIn(keys);
  return Erase(keys);
}

void ErasableFilter::RequireAllIn(Keys keys) const {
  std::vector<uint64_t> hashes(keys.size());
  hashes.resize(HashKeys(keys, hash_, hashes));
  std::sort(hashes.begin(), hashes.end());
  uint64_t absent = 0, too_many = 0;
  for (auto key = hashes.begin(); key != hashes.end();) {
    const auto next = std::find_if(key, hashes.end(), [=](uint64_t hash) { return hash != *key; });
    const auto listed = static_cast<uint64_t>(next - key);
    const uint64_t copies = CopiesOfHash(*key);
    if (copies < listed) (copies == 0 ? absent : too_many) += listed - copies;
    key = next;
  }
  if (absent + too_many == 0) return;
  const std::string of_all = detail::StrCat(" of ", hashes.size(), " keys are ");
  throw Error(
      ErrorCode::kInvalidArgument,
      absent > 0 ? detail::StrCat(absent, of_all, "not in the filter; nothing was erased")
                 : detail::StrCat(too_many, of_all,
                                  "in the list more often than in the filter; nothing was erased"));
}

}  // namespace tamis
