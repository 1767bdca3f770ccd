// Calls functions with NULL and misaligned pointers.
#ifndef TAMIS_TESTS_C_POINTER_CHECKS_H_
#define TAMIS_TESTS_C_POINTER_CHECKS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tamis/c.h"

namespace tamis {

using Allowed = std::set<size_t>;

// Calls f with NULL instead of one pointer, for each pointer that is not `allowed` to be NULL, and
// with one pointer moved by one byte, for each pointer that must be aligned.
template <typename R, typename... P, size_t... I>
void ExpectPointersChecked(R (*f)(P...), std::tuple<P...> arguments, const Allowed& allowed,
                           std::index_sequence<I...>) {
  const auto one = [&](auto index) {
    constexpr size_t kIndex = decltype(index)::value;
    using T = std::tuple_element_t<kIndex, std::tuple<P...>>;
    const auto expect_refused = [&](T pointer, const char* text) {
      std::tuple<P...> changed = arguments;
      std::get<kIndex>(changed) = pointer;
      const R result = std::apply(f, changed);
      EXPECT_EQ(result < 0 ? -result : result, TAMIS_INVALID_ARGUMENT) << "argument " << kIndex;
      EXPECT_NE(std::strstr(tamis_last_error(), text), nullptr) << tamis_last_error();
    };
    if constexpr (std::is_pointer_v<T>) {
      if (!allowed.contains(kIndex)) expect_refused(nullptr, "NULL");
      if constexpr (requires(T pointer) { sizeof(*pointer); }) {
        if (alignof(std::remove_pointer_t<T>) == 1 || std::get<kIndex>(arguments) == nullptr)
          return;
        const auto odd = reinterpret_cast<uintptr_t>(std::get<kIndex>(arguments)) + 1;
        expect_refused(reinterpret_cast<T>(odd), "not at a multiple");
      }
    }
  };
  (one(std::integral_constant<size_t, I>()), ...);
}

template <typename R, typename... P, typename... A>
void ExpectPointersChecked(R (*f)(P...), const Allowed& allowed, A... arguments) {
  ExpectPointersChecked(f, std::tuple<P...>(arguments...), allowed,
                        std::index_sequence_for<P...>());
}

}  // namespace tamis

#endif  // TAMIS_TESTS_C_POINTER_CHECKS_H_
