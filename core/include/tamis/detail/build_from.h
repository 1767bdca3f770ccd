// Makes filters that are sized by their keys.
#ifndef TAMIS_DETAIL_BUILD_FROM_H_
#define TAMIS_DETAIL_BUILD_FROM_H_

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tamis/filters/filter.h"
#include "tamis/keys.h"

namespace tamis {

namespace detail {

// See build.h.
using RepeatableSource = std::function<void(const std::function<void(Keys)>& visit)>;

template <typename R>
using ReferenceOf = decltype(*std::begin(std::declval<const R&>()));

// Ranges of integers or strings that can be read twice.
template <typename R>
concept KeyRange = std::convertible_to<const R&, Keys> ||
    (std::forward_iterator<decltype(std::begin(std::declval<const R&>()))> &&
     !NoKey<std::remove_cvref_t<ReferenceOf<R>>> &&
     (std::integral<std::remove_cvref_t<ReferenceOf<R>>> ||
      std::convertible_to<ReferenceOf<R>, std::string_view>));

// The type in which elements of a range are collected. Strings that the range makes on the fly are
// copied.
template <typename Reference, typename T = std::remove_cvref_t<Reference>>
using GatheredKey = std::conditional_t<
    std::is_integral_v<T>, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
    std::conditional_t<std::is_lvalue_reference_v<Reference> || std::is_same_v<T, std::string_view>,
                       std::string_view, std::string>>;

// Calls visit(keys) for all elements of a range. If Keys can view the range, makes one call;
// otherwise copies the elements to chunks and makes a call for each chunk.
template <typename R>
void ForKeysOf(const R& range, const std::function<void(Keys)>& visit) {
  if constexpr (std::convertible_to<const R&, Keys>) {
    visit(range);
  } else {
    constexpr size_t kChunk = size_t{1} << 14;
    std::vector<GatheredKey<ReferenceOf<R>>> chunk;
    for (auto&& key : range) {
      chunk.emplace_back(key);
      if (chunk.size() < kChunk) continue;
      visit(chunk);
      chunk.clear();
    }
    if (!chunk.empty()) visit(chunk);
  }
}

// Throws Error(kInvalidArgument) if the options set `capacity` or `bytes`.
void RequireSizedByKeys(const FilterOptions& options);

// Returns the number of keys of a source, for a filter that is sized by them. Throws the errors of
// RequireSizedByKeys.
uint64_t CountKeys(const RepeatableSource& source, const FilterOptions& options);

// Calls add(keys) for the keys of a source again. Throws Error(kInvalidArgument) if their number is
// not `count`.
void AddCounted(const RepeatableSource& source, uint64_t count,
                const std::function<void(Keys)>& add);

// Throws Error(kInvalidArgument) if some keys did not fit.
void RequireAllInserted(uint64_t inserted, uint64_t count);

// Builds a filter of the keys of a source with insert(filter, keys). Throws the errors of Build.
template <typename F, typename Insert>
F BuildFrom(const RepeatableSource& source, FilterOptions options, const Insert& insert) {
  const uint64_t count = CountKeys(source, options);
  options.capacity = std::max<uint64_t>(count, 1);
  F filter(options);
  uint64_t inserted = 0;
  AddCounted(source, count, [&](const Keys& keys) { inserted += insert(filter, keys); });
  RequireAllInserted(inserted, count);
  return filter;
}

template <typename F, typename R>
F FilterFrom(const R& keys, const FilterOptions& options) {
  return BuildFrom<F>([&keys](const std::function<void(Keys)>& visit) { ForKeysOf(keys, visit); },
                      options, [](F& filter, const Keys& some) { return filter.Insert(some); });
}

}  // namespace detail
}  // namespace tamis

#endif  // TAMIS_DETAIL_BUILD_FROM_H_
