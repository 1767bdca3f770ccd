// Strings sorted by classes of lengths, so that they can be hashed without a branch on each length.
#ifndef TAMIS_CORE_SRC_BULK_LENGTH_CLASSES_H_
#define TAMIS_CORE_SRC_BULK_LENGTH_CLASSES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/string_kernels.h"

namespace tamis::detail {

// Strings sorted by classes of lengths.
template <LengthClasses::Longest kLongest>
class ByLength {
 public:
  // `lengths` are those of `n` strings, at most 255 each, in memory for kStringsAtOnce bytes.
  ByLength(const CommonKernels& kernels, const uint8_t* lengths, size_t n) noexcept {
    static constexpr LengthClasses kOfLengths(kLongest);
    kernels.sort_by_length(kOfLengths, lengths, n, sorted_);
  }

  // Calls visit(numbers, count) for each class that has strings. The template arguments are the
  // shortest and the longest length of the class.
  template <typename Visit>
  void ForEachClass(const Visit& visit) const noexcept {
    [&]<size_t... kClass>(std::index_sequence<kClass...>) { (VisitClass<kClass>(visit), ...); }
    (std::make_index_sequence<LengthClasses::kCount>());
  }

 private:
  template <size_t kClass, typename Visit>
  void VisitClass(const Visit& visit) const noexcept {
    constexpr size_t kMin = kClass == 0 ? 0 : size_t{kLongest[kClass == 0 ? 0 : kClass - 1]} + 1;
    constexpr size_t kMax =
        kClass == kLongest.size() ? ~size_t{0} : kLongest[kClass % kLongest.size()];
    if (sorted_.counts[kClass] == 0) return;
    visit.template operator()<kMin, kMax>(sorted_.numbers[kClass], sorted_.counts[kClass]);
  }

  SortedStrings sorted_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_LENGTH_CLASSES_H_
