#include "core/src/bulk/selected_keys.h"

#include <cstring>
#include <string>

namespace tamis::detail {
namespace {

template <typename Index>
bool Consecutive(std::span<const Index> selection) noexcept {
  for (size_t i = 1; i < selection.size(); ++i) {
    if (selection[i] != uint64_t{selection[i - 1]} + 1) return false;
  }
  return true;
}

// Copies elements of T, or of `width` bytes if T is char.
template <typename T, typename Index>
std::span<const T> Gather(const Keys& keys, std::span<const Index> selection, size_t width,
                          std::vector<std::byte>& elements) {
  elements.resize(selection.size() * width * sizeof(T));
  const T* const from = keys.data<T>();
  T* const to = reinterpret_cast<T*>(elements.data());
  for (size_t i = 0; i < selection.size(); ++i) {
    if constexpr (sizeof(T) == 1) {
      if (width != 0) std::memcpy(to + i * width, from + selection[i] * width, width);
    } else {
      to[i] = from[selection[i]];
    }
  }
  return {to, selection.size() * width};
}

// The string of a null may be at any address, so it is not read.
template <typename Index, typename StringAt>
std::span<const std::string_view> GatherStrings(const Keys& keys, std::span<const Index> selection,
                                                std::vector<std::string_view>& strings,
                                                const StringAt& string_at) {
  strings.resize(selection.size());
  for (size_t i = 0; i < selection.size(); ++i) {
    strings[i] = keys.IsValid(selection[i]) ? string_at(selection[i]) : std::string_view();
  }
  return strings;
}

}  // namespace

template <typename Index>
Keys SelectedKeys::Of(const Keys& keys, std::span<const Index> selection) {
  if (selection.empty()) return Keys();
  if (Consecutive(selection)) return keys.Slice(selection[0], selection.size());
  const auto strings = [&](const auto& string_at) {
    return GatherStrings(keys, selection, strings_, string_at);
  };
  Keys selected;
  switch (keys.layout()) {
    case KeyLayout::kU64:
      selected = Gather<uint64_t>(keys, selection, 1, elements_);
      break;
    case KeyLayout::kHashes:
      selected = Hashes{Gather<uint64_t>(keys, selection, 1, elements_)};
      break;
    case KeyLayout::kU32:
      selected = Gather<uint32_t>(keys, selection, 1, elements_);
      break;
    case KeyLayout::kI32:
      selected = Gather<int32_t>(keys, selection, 1, elements_);
      break;
    case KeyLayout::kStringViews:
      selected = strings([&](size_t i) { return keys.data<std::string_view>()[i]; });
      break;
    case KeyLayout::kStrings:
      selected = strings([&](size_t i) { return std::string_view(keys.data<std::string>()[i]); });
      break;
    case KeyLayout::kColumn:
      selected = strings([&](size_t i) {
        return StringColumn{keys.bytes(), {keys.data<int32_t>() + i, 2}}[0];
      });
      break;
    case KeyLayout::kLargeColumn:
      selected = strings([&](size_t i) {
        return LargeStringColumn{keys.bytes(), {keys.data<int64_t>() + i, 2}}[0];
      });
      break;
    case KeyLayout::kFixedColumn: {
      const auto bytes = Gather<char>(keys, selection, keys.width(), elements_);
      selected = FixedColumn{bytes.data(), keys.width(), selection.size()};
      break;
    }
  }
  selected = selected.WithKeyType(keys.key_type());
  if (keys.validity() == nullptr) return selected;
  validity_.assign(selection.size() / 8 + 1, 0);
  for (size_t i = 0; i < selection.size(); ++i) {
    validity_[i / 8] |= static_cast<uint8_t>(keys.IsValid(selection[i]) << (i % 8));
  }
  return selected.WithValidity(validity_.data());
}

template Keys SelectedKeys::Of(const Keys& keys, std::span<const uint32_t> selection);
template Keys SelectedKeys::Of(const Keys& keys, std::span<const uint64_t> selection);

}  // namespace tamis::detail
