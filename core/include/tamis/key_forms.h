// What the keys of a filter were before they were hashed: "42" and 42 are different keys, and a
// filter built of one says "no" to the other.
#ifndef TAMIS_KEY_FORMS_H_
#define TAMIS_KEY_FORMS_H_

#include <cstdint>
#include <string>

#include "tamis/detail/hd.h"

namespace tamis {

// The values are part of the file format.
enum class KeyForm : uint8_t {
  kUnknown = 0,  // ready hashes
  kBytes = 1,    // strings as they are; Parquet's BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY
  kInteger = 2,  // the 64-bit value, 8 bytes: all integers of tamis, and Parquet's INT64
  kInt32 = 3,    // 4 bytes: Parquet's INT32
  kFloat = 4,    // 4 bytes: Parquet's FLOAT
  kDouble = 5,   // 8 bytes: Parquet's DOUBLE
  kInt96 = 6,    // 12 bytes: Parquet's INT96
  kTime = 7,     // nanoseconds, 8 bytes, or 16 where these are too few: see tamis/time_keys.h
};
inline constexpr int kKeyForms = 8;

// A set of forms: those of all keys that a filter was given.
class KeyForms {
 public:
  constexpr KeyForms() = default;
  constexpr KeyForms(KeyForm form) : bits_(Bit(form)) {}
  // Bit i is the form of value i, as in files; bits that stand for no form are dropped.
  static constexpr KeyForms FromBits(uint16_t bits) {
    KeyForms forms;
    forms.bits_ = bits & ((1 << kKeyForms) - 1);
    return forms;
  }

  constexpr uint16_t bits() const noexcept { return bits_; }
  constexpr bool Has(KeyForm form) const noexcept { return (bits_ & Bit(form)) != 0; }
  // False only if all keys have other forms. (A string of eight bytes and the integer with these
  // bytes hash alike all the same, for programs that rely on it.)
  constexpr bool Admit(KeyForm form) const noexcept {
    return bits_ == 0 || form == KeyForm::kUnknown || Has(KeyForm::kUnknown) || Has(form);
  }
  TAMIS_HD constexpr void Add(KeyForm form) noexcept {
    bits_ = static_cast<uint16_t>(bits_ | uint16_t{1} << static_cast<int>(form));
  }
  constexpr void Add(KeyForms forms) noexcept { bits_ = bits_ | forms.bits_; }

  friend constexpr bool operator==(KeyForms, KeyForms) = default;

 private:
  static constexpr uint16_t Bit(KeyForm form) {
    return static_cast<uint16_t>(1 << static_cast<int>(form));
  }

  // No filter's contents have this type: so compilers know that a write to those leaves it alone.
  uint16_t bits_ = 0;
};

// "text", "integers", "text and integers" ...; just "unknown" if that is among them; "none" for an
// empty set.
std::string KeyFormsText(KeyForms forms);

}  // namespace tamis

#endif  // TAMIS_KEY_FORMS_H_
