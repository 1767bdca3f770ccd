#include "tamis/keys.h"

#include <algorithm>

#include "core/src/bulk/valid_keys.h"

namespace tamis {
namespace {

size_t ElementSize(const Keys& keys) noexcept {
  switch (keys.form()) {
    case Keys::Form::kU64:
    case Keys::Form::kHashes:
    case Keys::Form::kLargeColumn:
      return 8;
    case Keys::Form::kU32:
    case Keys::Form::kI32:
    case Keys::Form::kColumn:
      return 4;
    case Keys::Form::kStringViews:
      return sizeof(std::string_view);
    case Keys::Form::kStrings:
      return sizeof(std::string);
    case Keys::Form::kFixedColumn:
      return keys.width();
  }
  return 0;
}

}  // namespace

KeyForm Keys::key_form() const noexcept {
  if (has_key_form_) return key_form_;
  switch (form_) {
    case Form::kU64:
    case Form::kU32:
    case Form::kI32:
      return KeyForm::kInteger;
    case Form::kStringViews:
    case Form::kStrings:
    case Form::kColumn:
    case Form::kLargeColumn:
      return KeyForm::kBytes;
    case Form::kFixedColumn:
    case Form::kHashes:
      break;
  }
  return KeyForm::kUnknown;
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
