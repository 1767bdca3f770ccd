// Access to the keys of a batch: one by one as integers or strings, or as an array of integers for
// kernels.
#ifndef TAMIS_FORMATS_SRC_KEY_VISIT_H_
#define TAMIS_FORMATS_SRC_KEY_VISIT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/src/bulk/valid_keys.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Returns visit(of), where of(i) is key i as a string. Returns 0 if keys are not strings.
template <typename Visit>
uint64_t VisitStrings(const Keys& keys, const Visit& visit) {
  switch (keys.layout()) {
    case KeyLayout::kStringViews:
      return visit([p = keys.data<std::string_view>()](size_t i) { return p[i]; });
    case KeyLayout::kStrings:
      return visit([p = keys.data<std::string>()](size_t i) { return std::string_view(p[i]); });
    case KeyLayout::kColumn:
      return visit([p = keys.data<int32_t>(), bytes = keys.bytes()](size_t i) {
        return std::string_view(bytes + p[i], static_cast<size_t>(p[i + 1] - p[i]));
      });
    case KeyLayout::kLargeColumn:
      return visit([p = keys.data<int64_t>(), bytes = keys.bytes()](size_t i) {
        return std::string_view(bytes + p[i], static_cast<size_t>(p[i + 1] - p[i]));
      });
    case KeyLayout::kFixedColumn:
      return visit([p = keys.data<char>(), width = keys.width()](size_t i) {
        return std::string_view(p + i * width, width);
      });
    default:
      return 0;
  }
}

// Like VisitStrings, but also for integers, which are widened to 64 bits. Returns 0 for hashes.
template <typename Visit>
uint64_t VisitKeys(const Keys& keys, const Visit& visit) {
  switch (keys.layout()) {
    case KeyLayout::kU64:
      return visit([p = keys.data<uint64_t>()](size_t i) { return p[i]; });
    case KeyLayout::kU32:
      return visit([p = keys.data<uint32_t>()](size_t i) { return uint64_t{p[i]}; });
    case KeyLayout::kI32:
      return visit(
          [p = keys.data<int32_t>()](size_t i) { return static_cast<uint64_t>(int64_t{p[i]}); });
    default:
      return VisitStrings(keys, visit);
  }
}

// Returns the integers [begin, begin + n), n <= 64, widened to 64 bits, in place or in `room`.
// Returns nullptr if the keys are not integers. The integer of a null is unspecified.
inline const uint64_t* IntegersOf(const Keys& keys, size_t begin, size_t n,
                                  uint64_t (&room)[64]) noexcept {
  switch (keys.layout()) {
    case KeyLayout::kU64:
      return keys.data<uint64_t>() + begin;
    case KeyLayout::kU32:
      std::copy_n(keys.data<uint32_t>() + begin, n, room);
      return room;
    case KeyLayout::kI32:
      std::transform(keys.data<int32_t>() + begin, keys.data<int32_t>() + begin + n, room,
                     [](int32_t key) { return static_cast<uint64_t>(int64_t{key}); });
      return room;
    default:
      return nullptr;
  }
}

// Returns one bit for each of the keys [begin, begin + n) that is not null; n is in [1, 64].
inline uint64_t NotNull(const Keys& keys, size_t begin, size_t n) noexcept {
  return keys.validity() == nullptr ? ~uint64_t{0} >> (64 - n) : ValidBits(keys, begin, n);
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_KEY_VISIT_H_
