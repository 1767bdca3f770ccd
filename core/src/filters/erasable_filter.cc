#include "tamis/erasable_filter.h"

#include <cassert>

namespace tamis {

size_t ErasableFilter::Erase(Keys keys) noexcept {
  return ChangeAll(Change::kErase, keys, Rejects());
}

size_t ErasableFilter::Erase(Keys keys, std::span<uint64_t> missing) noexcept {
  assert(missing.size() >= keys.size());
  return ChangeAll(Change::kErase, keys, Rejects(missing));
}

}  // namespace tamis
