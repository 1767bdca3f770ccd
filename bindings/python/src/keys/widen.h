// Converts integers of any width, spacing and byte order to keys.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_WIDEN_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_WIDEN_H_

#include <tamis/keys.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "tamis/detail/compiler.h"

namespace tamis::python {

struct IntegerLayout {
  size_t width = 8;  // in bytes: 1, 2, 4 or 8
  bool is_signed = false;
  bool swapped = false;  // big-endian on a little-endian machine
};

namespace detail {

template <typename T>
T Swapped(T value) {
  if constexpr (sizeof(T) >= 4) return tamis::detail::ByteSwap(value);
  if constexpr (sizeof(T) == 2) return static_cast<T>(value << 8 | value >> 8);
  return value;
}

template <typename T>
void WidenAs(const char* from, ptrdiff_t stride, size_t n, const IntegerLayout& layout,
             uint64_t* to) {
  for (size_t i = 0; i < n; ++i, from += stride) {
    T value;
    std::memcpy(&value, from, sizeof(value));
    if (layout.swapped) value = Swapped(value);
    to[i] = layout.is_signed
                ? static_cast<uint64_t>(static_cast<int64_t>(std::make_signed_t<T>(value)))
                : value;
  }
}

}  // namespace detail

// Widens n integers to 64 bits. Integer `i` is at from + i * stride.
inline void Widen(const char* from, ptrdiff_t stride, size_t n, const IntegerLayout& layout,
                  uint64_t* to) {
  switch (layout.width) {
    case 1:
      return detail::WidenAs<uint8_t>(from, stride, n, layout, to);
    case 2:
      return detail::WidenAs<uint16_t>(from, stride, n, layout, to);
    case 4:
      return detail::WidenAs<uint32_t>(from, stride, n, layout, to);
    default:
      return detail::WidenAs<uint64_t>(from, stride, n, layout, to);
  }
}

// Returns the keys without a copy if they have 4 or 8 bytes, are aligned, and have no gaps between
// them. Otherwise returns std::nullopt.
inline std::optional<Keys> KeysInPlace(const char* data, size_t n, size_t width, bool is_signed,
                                       ptrdiff_t stride) {
  if (width < 4 || stride != static_cast<ptrdiff_t>(width)) return std::nullopt;
  if (reinterpret_cast<uintptr_t>(data) % width != 0) return std::nullopt;
  if (width == 8) return Keys(std::span(reinterpret_cast<const uint64_t*>(data), n));
  if (is_signed) return Keys(std::span(reinterpret_cast<const int32_t*>(data), n));
  return Keys(std::span(reinterpret_cast<const uint32_t*>(data), n));
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_WIDEN_H_
