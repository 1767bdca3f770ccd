#include "bindings/c/src/key_array.h"

#include <cstring>
#include <limits>
#include <span>

#include "bindings/c/src/guard.h"
#include "tamis/detail/str_cat.h"

namespace tamis::c {
namespace {

// Limits: larger than any memory, but so small that sums of sizes cannot overflow.
constexpr uint64_t kMaxKeys = uint64_t{1} << 48;
constexpr uint64_t kMaxBytes = std::numeric_limits<ptrdiff_t>::max();

void RequireInMemory(uint64_t elements, uint64_t width) {
  if (elements > kMaxBytes / width) {
    Refuse(detail::StrCat(elements, " elements of ", width, " bytes are more than any memory has"));
  }
}

// A string in Arrow's layout of views.
struct View {
  static constexpr int32_t kInline = 12;

  int32_t length;
  int32_t prefix;
  int32_t buffer;
  int32_t offset;
};

TimeUnit UnitOf(uint32_t layout) {
  return layout == TAMIS_KEYS_DAYS      ? TimeUnit::kDays
         : layout == TAMIS_KEYS_SECONDS ? TimeUnit::kSeconds
         : layout == TAMIS_KEYS_MILLIS  ? TimeUnit::kMillis
         : layout == TAMIS_KEYS_MICROS  ? TimeUnit::kMicros
                                        : TimeUnit::kNanos;
}

const char* ViewPlace(const tamis_keys& keys, size_t i) {
  return static_cast<const char*>(keys.data) + sizeof(View) * (keys.offset + i);
}

View ViewAt(const tamis_keys& keys, size_t i) {
  View view;
  std::memcpy(&view, ViewPlace(keys, i), sizeof(view));
  return view;
}

}  // namespace

KeyArray::KeyArray(const tamis_keys* keys, size_t run_keys)
    : keys_(Required(keys, "keys")), size_(static_cast<size_t>(keys_.count)), run_keys_(run_keys) {
  if (keys_.count > kMaxKeys || keys_.offset > kMaxKeys) {
    Refuse(detail::StrCat("keys.count is ", keys_.count, " and keys.offset ", keys_.offset,
                          "; allowed: up to 2^48"));
  }
  switch (keys_.layout) {
    case TAMIS_KEYS_U8:
    case TAMIS_KEYS_I8:
      Elements<uint8_t>();
      converts_ = true;
      break;
    case TAMIS_KEYS_U16:
    case TAMIS_KEYS_I16:
      Elements<uint16_t>();
      converts_ = true;
      break;
    case TAMIS_KEYS_U32:
      TakeIntegers<uint32_t>();
      break;
    case TAMIS_KEYS_I32:
      TakeIntegers<int32_t>();
      break;
    case TAMIS_KEYS_U64:
      TakeIntegers<uint64_t>();
      break;
    case TAMIS_KEYS_I64:
      TakeIntegers<int64_t>();
      break;
    case TAMIS_KEYS_HASHES:
      whole_ = Keys(Hashes{{Elements<uint64_t>(), size_}});
      break;
    case TAMIS_KEYS_STRINGS32:
      TakeColumn<StringColumn>();
      break;
    case TAMIS_KEYS_STRINGS64:
      TakeColumn<LargeStringColumn>();
      break;
    case TAMIS_KEYS_POINTERS:
      TakePointers();
      break;
    case TAMIS_KEYS_FIXED:
      TakeFixed(keys_.width, KeyType::kBytes);
      break;
    case TAMIS_KEYS_PARQUET_INT32:
      TakeFixed(sizeof(int32_t), KeyType::kInt32);
      break;
    case TAMIS_KEYS_VIEWS:
      TakeViews();
      break;
    case TAMIS_KEYS_DAYS:
    case TAMIS_KEYS_SECONDS:
    case TAMIS_KEYS_MILLIS:
    case TAMIS_KEYS_MICROS:
    case TAMIS_KEYS_NANOS:
      Elements<int64_t>();
      converts_ = true;
      break;
    default:
      Refuse(detail::StrCat("unknown keys.layout ", keys_.layout));
  }
  whole_ = whole_.WithValidity(keys_.validity, keys_.offset);
}

// Returns the elements of the keys, from `offset` on. Returns nullptr if there are 0 keys.
template <typename T>
const T* KeyArray::Elements(uint64_t more) {
  RequireInMemory(keys_.offset + keys_.count + more, sizeof(T));
  if (size_ == 0) return nullptr;
  RequireArray<T>(keys_.data, "keys.data");
  return static_cast<const T*>(keys_.data) + keys_.offset;
}

template <typename T>
void KeyArray::TakeIntegers() {
  whole_ = Keys(std::span(Elements<T>(), size_));
}

template <typename Column>
void KeyArray::TakeColumn() {
  using Offset = typename decltype(Column::offsets)::value_type;
  const Offset* const offsets = Elements<Offset>(1);
  if (size_ == 0) return;
  const Column column{static_cast<const char*>(keys_.bytes), {offsets, size_ + 1}};
  if (!column.Valid(keys_.num_bytes)) {
    Refuse(
        detail::StrCat("the offsets of keys.data must not be negative, not decrease, and not "
                       "exceed keys.num_bytes, which is ",
                       keys_.num_bytes));
  }
  if (column.bytes == nullptr && offsets[size_] != offsets[0]) Refuse("keys.bytes is NULL");
  // If all strings are empty, `bytes` may be nullptr.
  whole_ = column.bytes != nullptr ? column : Column{"", column.offsets};
}

void KeyArray::TakePointers() {
  converts_ = true;
  const auto* const strings = Elements<const char*>();
  if (size_ == 0) return;
  RequireArray<uint64_t>(keys_.lengths, "keys.lengths");
  for (size_t i = 0; i < size_; ++i) {
    if (!IsValid(i)) continue;
    const uint64_t length = keys_.lengths[keys_.offset + i];
    if (length > kMaxBytes || (strings[i] == nullptr && length != 0)) {
      Refuse(detail::StrCat("string ", i, " has ", length, " bytes at ",
                            strings[i] == nullptr ? "NULL" : "an address"));
    }
  }
}

void KeyArray::TakeViews() {
  converts_ = true;
  RequireInMemory(keys_.offset + keys_.count, sizeof(View));
  if (size_ == 0) return;
  RequireArray<char>(keys_.data, "keys.data");
  // Views of short strings contain the strings, so there may be no buffers.
  const auto* const buffers = static_cast<const char* const*>(keys_.bytes);
  if (keys_.num_bytes > kMaxBytes / sizeof(*buffers)) {
    Refuse(detail::StrCat(keys_.num_bytes, " buffers are more than any memory has"));
  }
  if (keys_.num_bytes != 0) {
    RequireArray<const char*>(buffers, "keys.bytes");
    RequireArray<uint64_t>(keys_.lengths, "keys.lengths");
  }
  for (size_t i = 0; i < size_; ++i) {
    if (!IsValid(i)) continue;
    const View view = ViewAt(keys_, i);
    if (view.length >= 0 && view.length <= View::kInline) continue;
    const auto buffer = static_cast<uint64_t>(view.buffer);  // a negative index becomes too large
    if (view.length < 0 || view.offset < 0 || buffer >= keys_.num_bytes ||
        buffers[buffer] == nullptr ||
        uint64_t{static_cast<uint32_t>(view.offset)} + static_cast<uint32_t>(view.length) >
            keys_.lengths[buffer]) {
      Refuse(detail::StrCat("view ", i, " of keys.data is not within its buffer"));
    }
  }
}

void KeyArray::TakeFixed(uint32_t width, KeyType type) {
  if (width == 0) Refuse("keys.width is 0");
  RequireInMemory(keys_.offset + keys_.count, width);
  FixedColumn column{nullptr, width, size_, type};
  if (size_ != 0) {
    column.bytes =
        &Required(static_cast<const char*>(keys_.data), "keys.data") + keys_.offset * width;
  }
  whole_ = column;
}

bool KeyArray::IsValid(size_t i) const noexcept {
  const uint64_t bit = keys_.offset + i;
  return keys_.validity == nullptr || ((keys_.validity[bit / 8] >> (bit % 8)) & 1) != 0;
}

std::string_view KeyArray::StringAt(size_t i) const noexcept {
  if (keys_.layout == TAMIS_KEYS_POINTERS) {
    const uint64_t at = keys_.offset + i;
    return {static_cast<const char* const*>(keys_.data)[at],
            static_cast<size_t>(keys_.lengths[at])};
  }
  const View view = ViewAt(keys_, i);
  const char* const begin =
      view.length <= View::kInline
          ? ViewPlace(keys_, i) + sizeof(view.length)
          : static_cast<const char* const*>(keys_.bytes)[view.buffer] + view.offset;
  return {begin, static_cast<size_t>(view.length)};
}

template <typename T>
void KeyArray::Widen(size_t begin, size_t n, std::vector<int32_t>& out) const {
  const T* const from = static_cast<const T*>(keys_.data) + keys_.offset + begin;
  out.assign(from, from + n);
}

Keys KeyArray::Convert(size_t begin, size_t n, Buffer& buffer) const {
  const auto with_nulls = [&](const Keys& keys) {
    return keys.WithValidity(keys_.validity, keys_.offset + begin);
  };
  if (keys_.layout == TAMIS_KEYS_POINTERS || keys_.layout == TAMIS_KEYS_VIEWS) {
    buffer.strings.resize(n);
    for (size_t i = 0; i < n; ++i) {
      // The element of a null key may be anything.
      buffer.strings[i] = IsValid(begin + i) ? StringAt(begin + i) : std::string_view();
    }
    return with_nulls(buffer.strings);
  }
  if (n == 0) return {};
  if (keys_.layout >= TAMIS_KEYS_DAYS) {
    const auto* const counts = static_cast<const int64_t*>(keys_.data) + keys_.offset + begin;
    buffer.times.emplace(std::span(counts, n), UnitOf(keys_.layout), keys_.validity,
                         keys_.offset + begin);
    return buffer.times->keys();
  }
  switch (keys_.layout) {
    case TAMIS_KEYS_U8:
      Widen<uint8_t>(begin, n, buffer.integers);
      break;
    case TAMIS_KEYS_I8:
      Widen<int8_t>(begin, n, buffer.integers);
      break;
    case TAMIS_KEYS_U16:
      Widen<uint16_t>(begin, n, buffer.integers);
      break;
    default:
      Widen<int16_t>(begin, n, buffer.integers);
  }
  return with_nulls(buffer.integers);
}

}  // namespace tamis::c
