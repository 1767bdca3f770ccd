// Reads one Arrow array as keys, after checking its layout.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_COLUMN_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_COLUMN_H_

#include <tamis/keys.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "bindings/python/src/keys/arrow_abi.h"
#include "bindings/python/src/keys/key_source.h"

namespace tamis::python {

// The layout of the values of a type.
struct ArrowType {
  enum class Layout : uint8_t { kInteger, kOffsets32, kOffsets64, kViews, kFixed, kNull };

  Layout layout = Layout::kNull;
  uint32_t width = 0;      // bytes of a value of kInteger or kFixed
  bool is_signed = false;  // whether values of kInteger have a sign
  std::optional<TimeUnit> time = std::nullopt;
};

// A decimal number: an integer of `width` bytes divided by 10^`scale`.
struct ArrowDecimal {
  uint32_t width = 0;
  int scale = 0;
};

// Parses a format of the C data interface that begins with "d:". Throws nanobind::value_error if
// the format is damaged.
ArrowDecimal ArrowDecimalOf(const char* format);

// Parses a format of the C data interface. Throws nanobind::type_error for types that cannot be
// keys. `numbers` decides whether floating-point and decimal numbers are keys.
ArrowType ArrowTypeOf(const char* format, Numbers numbers = Numbers::kIntegers);

// Returns the unit of a time type from its format. Returns std::nullopt for all other types.
std::optional<TimeUnit> ArrowTimeUnitOf(std::string_view format);

// Reads one array in place. Checks offsets and views. It cannot check the lengths of buffers,
// because the C data interface does not contain them.
class ArrowColumn {
 public:
  // Reads `length` elements from `offset` on. `offset` is an index into the buffers of `array`.
  // Throws nanobind::value_error for an array that contradicts its type. O(length) if it has
  // offsets or views.
  ArrowColumn(const ArrowType& type, const ArrowArray& array, int64_t offset, int64_t length);

  size_t size() const noexcept { return size_; }
  bool is_integer() const noexcept { return type_.layout == ArrowType::Layout::kInteger; }

  bool ValidAt(size_t i) const noexcept {
    if (type_.layout == ArrowType::Layout::kNull) return false;
    const uint64_t bit = offset_ + i;
    return validity_ == nullptr || ((validity_[bit / 8] >> (bit % 8)) & 1) != 0;
  }
  // Return element `i`, which must be valid: an integer, or the bytes of any other type.
  uint64_t IntegerAt(size_t i) const noexcept;
  std::string_view BytesAt(size_t i) const noexcept;

  // Returns the keys in place, if the library supports their layout.
  std::optional<Keys> InPlace() const;
  // Returns elements of a fixed width in place, as keys that are hashed by their bytes.
  Keys FixedInPlace(KeyType form) const;

 private:
  void CheckOffsets() const;
  void CheckViews(const ArrowArray& array) const;

  ArrowType type_;
  size_t size_;
  uint64_t offset_;
  const uint8_t* validity_ = nullptr;
  const char* values_ = nullptr;  // integers, fixed bytes, offsets or views
  const char* bytes_ = nullptr;   // the bytes of strings with offsets
  const void* const* view_buffers_ = nullptr;
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_COLUMN_H_
