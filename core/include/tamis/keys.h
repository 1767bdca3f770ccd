// Layouts of keys in memory, and output bitmaps, for functions that take many keys.
//
// See docs/contracts.md for integer keys, null keys, lifetimes, and outputs that are too short.
#ifndef TAMIS_KEYS_H_
#define TAMIS_KEYS_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tamis/key_types.h"

namespace tamis {

// Strings laid end to end, as Apache Arrow stores a column: string i is
// bytes[offsets[i] .. offsets[i + 1]). `offsets` has one element more than there are strings, does
// not decrease, and stays within `bytes`. Functions that take keys do not check this; call Valid()
// for offsets from an untrusted source.
template <typename Offset>
struct BasicStringColumn {
  static_assert(std::is_integral_v<Offset> && (sizeof(Offset) == 4 || sizeof(Offset) == 8));

  const char* bytes = nullptr;      // all strings
  std::span<const Offset> offsets;  // where each string begins, and where the last one ends

  // Returns the number of strings.
  size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }

  // Returns string `i`.
  std::string_view operator[](size_t i) const noexcept {
    return {bytes + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
  }

  // Returns whether the offsets are non-negative, in order, and end within `num_bytes`. O(size()).
  bool Valid(uint64_t num_bytes) const noexcept {
    for (size_t i = 0; i < size(); ++i) {
      if (offsets[i] > offsets[i + 1]) return false;
    }
    return offsets.empty() ||
           (offsets.front() >= 0 && static_cast<uint64_t>(offsets.back()) <= num_bytes);
  }
};

using StringColumn = BasicStringColumn<int32_t>;       // Arrow's utf8 and binary
using LargeStringColumn = BasicStringColumn<int64_t>;  // Arrow's large_utf8 and large_binary

// Values of a fixed width laid end to end. A key is the `width` bytes of a value. This is the
// layout of Arrow's fixed_size_binary, and of Parquet's physical types that are not hashed as 8
// bytes, such as INT32 (4 bytes, KeyType::kInt32). A filter records `type` as the type of these
// keys.
struct FixedColumn {
  const void* bytes = nullptr;     // size * width bytes, at any address
  uint32_t width = 0;              // bytes of a value
  size_t size = 0;                 // number of values
  KeyType type = KeyType::kBytes;  // what the values are
};

// Ready hashes, made by HashU64 or HashBytes with the hash() of the filter that they are passed to.
struct Hashes {
  std::span<const uint64_t> values;  // the hashes
};

namespace detail {

template <typename R>
using ElementOf = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<R&>()))>>;

template <typename T>
inline constexpr bool kIsCharacter =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> ||
    std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;

template <typename R>
concept Contiguous = requires(const R& r) {
  std::data(r);
  std::size(r);
};

// Types whose conversion to a key would lose information: 3.9 would become 3, 'a' would become 97,
// true would become 1, and an integer of 128 bits would become its lower half.
template <typename T>
concept NoKey = std::floating_point<T> || std::same_as<T, bool> || kIsCharacter<T> ||
    (sizeof(T) > sizeof(uint64_t) && !std::is_class_v<T> && std::is_convertible_v<T, uint64_t>);

// Vectors, arrays, spans. A range of characters is one string, not a sequence of keys.
template <typename R>
concept Sequence = Contiguous<R> && !kIsCharacter<ElementOf<const R>>;

}  // namespace detail

// How keys lie in memory.
enum class KeyLayout : uint8_t {
  kU64,
  kU32,
  kI32,
  kHashes,
  kStringViews,
  kStrings,
  kColumn,
  kLargeColumn,
  kFixedColumn
};

// A batch of keys in any of the layouts above. It is a view of a few pointers and numbers, cheap to
// pass by value. The memory that it points to must outlive the call that takes it. Vectors, arrays
// and spans of integers of 32 or 64 bits, std::string_view or std::string convert to Keys.
//
// A batch of any layout can have nulls: see WithValidity. 0 and "" are keys like any others.
class Keys {
 public:
  class ChunkRange;

  // No keys.
  Keys() = default;

  // Converts keys of each layout to a batch.
  template <detail::Sequence R>
  Keys(const R& keys)
      : data_(std::data(keys)),
        size_(std::size(keys)),
        layout_(LayoutOf<detail::ElementOf<const R>>()) {}
  Keys(Hashes hashes)
      : data_(hashes.values.data()), size_(hashes.values.size()), layout_(KeyLayout::kHashes) {}
  Keys(StringColumn column)
      : data_(column.offsets.data()),
        bytes_(column.bytes),
        size_(column.size()),
        layout_(KeyLayout::kColumn) {}
  Keys(LargeStringColumn column)
      : data_(column.offsets.data()),
        bytes_(column.bytes),
        size_(column.size()),
        layout_(KeyLayout::kLargeColumn) {}

  Keys(FixedColumn column)
      : data_(column.bytes),
        size_(column.size),
        width_(column.width),
        layout_(KeyLayout::kFixedColumn),
        has_key_type_(true),
        key_type_(column.type) {}

  // Returns how the keys lie in memory.
  KeyLayout layout() const noexcept { return layout_; }
  // Bytes of each key of a FixedColumn. 0 for other layouts.
  uint32_t width() const noexcept { return width_; }
  // The type that a filter records for these keys.
  KeyType key_type() const noexcept;
  // Returns the same keys, with `type` as the type that a filter records. The hashes stay the same.
  Keys WithKeyType(KeyType type) const noexcept {
    Keys keys = *this;
    keys.has_key_type_ = true;
    keys.key_type_ = type;
    return keys;
  }
  // Returns the number of keys, nulls included.
  size_t size() const noexcept { return size_; }
  // Returns true if there are no keys.
  bool empty() const noexcept { return size_ == 0; }

  // Returns keys [begin, begin + count) with their nulls, cut off at the end of this batch. The
  // slice is empty if `begin` is not below size().
  Keys Slice(size_t begin, size_t count) const noexcept;

  // Returns this batch as a range of slices of `count` keys, of which the last may be shorter. For
  // insertion in steps: `for (const Keys& some : keys.Chunks(1000))`. A `count` of 0 means 1.
  ChunkRange Chunks(size_t count) const noexcept;

  // Returns the same keys with a validity bitmap of Apache Arrow: bit `first_bit` + i, least
  // significant bit first, is 1 if key i is valid and 0 if it is null. `bitmap` has (first_bit +
  // size() + 7) / 8 bytes in host memory, at any address. If the values of an Arrow array are
  // passed from the offset of the array on, pass that offset as `first_bit`. If `bitmap` is
  // nullptr, all keys are valid.
  Keys WithValidity(const uint8_t* bitmap, uint64_t first_bit = 0) const noexcept {
    Keys keys = *this;
    keys.validity_ = bitmap;
    keys.first_bit_ = first_bit;
    return keys;
  }
  // The bitmap of WithValidity. nullptr: all keys are valid. Slice advances first_bit().
  const uint8_t* validity() const noexcept { return validity_; }
  uint64_t first_bit() const noexcept { return first_bit_; }
  bool IsValid(size_t i) const noexcept {
    const uint64_t bit = first_bit_ + i;
    return validity_ == nullptr || ((validity_[bit / 8] >> (bit % 8)) & 1) != 0;
  }
  // Returns the number of keys that are not null. O(size() / 64) with a bitmap, O(1) without.
  size_t CountValid() const noexcept;

  // The elements as they were passed in, nulls included. T must be the element type of layout().
  // For string columns these are the size() + 1 offsets. For a FixedColumn they are the bytes.
  template <typename T>
  const T* data() const noexcept {
    return static_cast<const T*>(data_);
  }
  const char* bytes() const noexcept { return bytes_; }

 private:
  template <typename T>
  static constexpr KeyLayout LayoutOf() {
    constexpr bool kInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    constexpr bool kString = std::is_same_v<T, std::string>;
    static_assert((kInteger && (sizeof(T) == 4 || sizeof(T) == 8)) || kString ||
                      std::is_same_v<T, std::string_view>,
                  "tamis: keys are integers of 32 or 64 bits, std::string or std::string_view; "
                  "others have to be converted first");
    if (kInteger && sizeof(T) == 8) return KeyLayout::kU64;
    if (kInteger) return std::is_signed_v<T> ? KeyLayout::kI32 : KeyLayout::kU32;
    return kString ? KeyLayout::kStrings : KeyLayout::kStringViews;
  }

  const void* data_ = nullptr;
  const char* bytes_ = nullptr;  // string columns only
  const uint8_t* validity_ = nullptr;
  uint64_t first_bit_ = 0;
  size_t size_ = 0;
  uint32_t width_ = 0;  // fixed columns only
  KeyLayout layout_ = KeyLayout::kU64;
  bool has_key_type_ = false;  // false: layout_ determines the type
  KeyType key_type_ = KeyType::kUnknown;
};

// The range of Keys that Keys::Chunks returns.
class Keys::ChunkRange {
 public:
  class Iterator {
   public:
    using value_type = Keys;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Keys operator*() const noexcept { return rest_.Slice(0, count_); }
    Iterator& operator++() noexcept {
      rest_ = rest_.Slice(count_, rest_.size());
      return *this;
    }
    Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(std::default_sentinel_t) const noexcept { return rest_.empty(); }

   private:
    friend class ChunkRange;
    Iterator(const Keys& keys, size_t count) noexcept : rest_(keys), count_(count) {}

    Keys rest_;
    size_t count_ = 1;
  };

  ChunkRange(const Keys& keys, size_t count) noexcept
      : keys_(keys), count_(count == 0 ? 1 : count) {}
  Iterator begin() const noexcept { return {keys_, count_}; }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  Keys keys_;
  size_t count_;
};

inline Keys::ChunkRange Keys::Chunks(size_t count) const noexcept { return {*this, count}; }

// Returns the number of words of a bitmap of `bits` bits.
constexpr size_t BitmapWords(size_t bits) noexcept { return bits / 64 + (bits % 64 != 0); }

// One bit per key, least significant bit first: key i is bit i % 64 of word i / 64. On a
// little-endian machine this is Arrow's bitmap order.
class Bitmap {
 public:
  // Makes a bitmap in this memory.
  explicit Bitmap(std::span<uint64_t> words) noexcept : words_(words) {}

  // Returns the memory.
  std::span<uint64_t> words() const noexcept { return words_; }

  // Returns bit `i`.
  bool Test(size_t i) const noexcept { return (words_[i / 64] >> (i % 64)) & 1; }

 private:
  std::span<uint64_t> words_;
};

}  // namespace tamis

#endif  // TAMIS_KEYS_H_
