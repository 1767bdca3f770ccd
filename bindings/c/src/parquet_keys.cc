#include "bindings/c/src/parquet_keys.h"

#include <bit>
#include <limits>
#include <numeric>
#include <span>

#include "bindings/c/src/guard.h"
#include "bindings/c/src/key_array.h"
#include "tamis/detail/str_cat.h"

namespace tamis::c {
namespace {

using parquet::KeyList;
using parquet::TimeUnit;

bool IsInteger(uint32_t layout) { return layout >= TAMIS_KEYS_U8 && layout <= TAMIS_KEYS_I64; }
bool IsString(uint32_t layout) {
  return (layout >= TAMIS_KEYS_STRINGS32 && layout <= TAMIS_KEYS_FIXED) ||
         layout == TAMIS_KEYS_VIEWS;
}

void RequireMeaning(uint32_t layout, uint32_t meaning) {
  if (meaning > TAMIS_PARQUET_NANOS) {
    Refuse(detail::StrCat("meaning is ", meaning, ", must be TAMIS_PARQUET_VALUES to _NANOS"));
  }
  const bool fits = meaning == TAMIS_PARQUET_VALUES    ? IsInteger(layout) || IsString(layout)
                    : meaning == TAMIS_PARQUET_TEXT    ? IsString(layout)
                    : meaning == TAMIS_PARQUET_DOUBLES ? layout == TAMIS_KEYS_U64
                                                       : IsInteger(layout);
  if (!fits) {
    Refuse(detail::StrCat("keys of layout ", layout, " cannot have the meaning ", meaning));
  }
}

// Returns element `i` of any layout of strings.
std::string_view StringAt(const Keys& keys, size_t i) {
  const auto of_column = [&](const auto* offsets) {
    return std::string_view(keys.bytes() + offsets[i],
                            static_cast<size_t>(offsets[i + 1] - offsets[i]));
  };
  switch (keys.layout()) {
    case KeyLayout::kColumn:
      return of_column(keys.data<int32_t>());
    case KeyLayout::kLargeColumn:
      return of_column(keys.data<int64_t>());
    case KeyLayout::kFixedColumn:
      return {keys.data<char>() + i * keys.width(), keys.width()};
    case KeyLayout::kStringViews:
      return keys.data<std::string_view>()[i];
    default:
      Refuse("the keys are not strings");
  }
}

uint64_t IntegerAt(const Keys& keys, size_t i) {
  switch (keys.layout()) {
    case KeyLayout::kU64:
      return keys.data<uint64_t>()[i];
    case KeyLayout::kU32:
      return keys.data<uint32_t>()[i];
    case KeyLayout::kI32:
      return static_cast<uint64_t>(int64_t{keys.data<int32_t>()[i]});
    default:
      Refuse("the keys are not integers");
  }
}

}  // namespace

ParquetKeys::ParquetKeys(const tamis_keys* keys, uint32_t meaning) : meaning_(meaning) {
  const KeyArray array(keys);
  RequireMeaning(keys->layout, meaning);
  if (array.size() > std::numeric_limits<uint32_t>::max()) {
    Refuse(detail::StrCat("there are ", array.size(), " keys, and at most 2^32 - 1 are allowed"));
  }
  strings_wanted_ = IsString(keys->layout);
  is_signed_ = keys->layout == TAMIS_KEYS_I8 || keys->layout == TAMIS_KEYS_I16 ||
               keys->layout == TAMIS_KEYS_I32 || keys->layout == TAMIS_KEYS_I64;
  array.ForRuns([this](const Keys& run, size_t first) { Add(run, first); });
  strings_.reserve(ends_.size());
  for (size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i++]) {
    strings_.push_back(std::string_view(bytes_).substr(begin, ends_[i] - begin));
  }
}

void ParquetKeys::Add(const Keys& keys, size_t first) {
  if (!indices_ && keys.CountValid() < keys.size()) {
    indices_.emplace(size_);
    std::iota(indices_->begin(), indices_->end(), 0);
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys.IsValid(i)) continue;
    if (meaning_ == TAMIS_PARQUET_DOUBLES) {
      doubles_.push_back(std::bit_cast<double>(IntegerAt(keys, i)));
    } else if (strings_wanted_) {
      bytes_.append(StringAt(keys, i));
      ends_.push_back(bytes_.size());
    } else {
      integers_.push_back(IntegerAt(keys, i));
    }
    ++size_;
    if (indices_) indices_->push_back(static_cast<uint32_t>(first + i));
  }
}

KeyList ParquetKeys::list() const {
  const std::span signed_integers(reinterpret_cast<const int64_t*>(integers_.data()),
                                  integers_.size());
  switch (meaning_) {
    case TAMIS_PARQUET_TEXT:
      return KeyList::Text(strings_);
    case TAMIS_PARQUET_DOUBLES:
      return KeyList::Doubles(doubles_);
    case TAMIS_PARQUET_MILLIS:
      return KeyList::Timestamps(signed_integers, TimeUnit::kMillis);
    case TAMIS_PARQUET_MICROS:
      return KeyList::Timestamps(signed_integers, TimeUnit::kMicros);
    case TAMIS_PARQUET_NANOS:
      return KeyList::Timestamps(signed_integers, TimeUnit::kNanos);
    default:
      if (strings_wanted_) return KeyList::Bytes(strings_);
      return is_signed_ ? KeyList::Integers(signed_integers) : KeyList::Unsigned(integers_);
  }
}

}  // namespace tamis::c
