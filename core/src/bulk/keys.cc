#include "tamis/keys.h"

#include <algorithm>

#include "core/src/bulk/valid_keys.h"

namespace tamis {
namespace {

size_t ElementSize(const Keys& keys) noexcept {
  switch (keys.layout()) {
    case KeyLayout::kU64:
    case KeyLayout::kHashes:
    case KeyLayout::kLargeColumn:
      return 8;
    case KeyLayout::kU32:
    case KeyLayout::kI32:
    case KeyLayout::kColumn:
      return 4;
    case KeyLayout::kStringViews:
      return sizeof(std::string_view);
    case KeyLayout::kStrings:
      return sizeof(std::string);
    case KeyLayout::kFixedColumn:
      return keys.width();
  }
  return 0;
}

}  // namespace

KeyType Keys::key_type() const noexcept {
  if (has_key_type_) return key_type_;
  switch (layout_) {
    case KeyLayout::kU64:
    case KeyLayout::kU32:
    case KeyLayout::kI32:
      return KeyType::kInteger;
    case KeyLayout::kStringViews:
    case KeyLayout::kStrings:
    case KeyLayout::kColumn:
    case KeyLayout::kLargeColumn:
      return KeyType::kBytes;
    case KeyLayout::kFixedColumn:
    case KeyLayout::kHashes:
      break;
  }
  return KeyType::kUnknown;
}

Keys Keys::Slice(size_t begin, size_t count) const noexcept {
  Keys slice = *this;
  begin = std::min(begin, size_);
  slice.data_ = static_cast<const char*>(data_) + begin * ElementSize(*this);
  slice.first_bit_ += begin;
  slice.size_ = std::min(count, size_ - begin);
  return slice;
}

size_t Keys::CountValid() const noexcept {
  return validity_ == nullptr ? size_ : detail::CountValid(*this, 0, size_);
}

}  // namespace tamis
