// The types of keys before they are hashed. "42" and 42 are different keys.
#ifndef TAMIS_KEY_TYPES_H_
#define TAMIS_KEY_TYPES_H_

#include <cstdint>

#include "tamis/detail/compiler.h"

namespace tamis {

// The values are part of the file format.
enum class KeyType : uint8_t {
  kUnknown = 0,  // ready hashes
  kBytes = 1,    // strings as they are; Parquet's BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY
  kInteger = 2,  // the 64-bit value as 8 bytes: all integers of tamis, and Parquet's INT64
  kInt32 = 3,    // 4 bytes: Parquet's INT32
  kFloat = 4,    // 4 bytes: Parquet's FLOAT
  kDouble = 5,   // 8 bytes: Parquet's DOUBLE
  kInt96 = 6,    // 12 bytes: Parquet's INT96
  kTime = 7,     // nanoseconds as 8 bytes, or as 16 if 8 are too few: see tamis/time_keys.h
};

// A set of key types, such as the types of all keys of a filter.
class KeyTypes {
 public:
  static constexpr int kCount = 8;  // number of key types

  // The empty set, and a set of one type.
  constexpr KeyTypes() = default;
  constexpr KeyTypes(KeyType type) : bits_(Bit(type)) {}
  // Bit i stands for the type with the value i, as in files. Bits of unknown types are dropped.
  static constexpr KeyTypes FromBits(uint16_t bits) {
    KeyTypes types;
    types.bits_ = bits & ((1 << kCount) - 1);
    return types;
  }

  // Returns one bit for each type.
  constexpr uint16_t bits() const noexcept { return bits_; }
  // Returns true if `type` is in the set.
  TAMIS_HD constexpr bool Has(KeyType type) const noexcept { return (bits_ & Bit(type)) != 0; }
  // Returns whether a key of this type may be in a filter with keys of the types in this set. The
  // result is true if the set is empty, if the set contains `type` or kUnknown, or if `type` is
  // kUnknown. A query can return true even if the result is false: a string of eight bytes and the
  // integer with these bytes have the same hash.
  constexpr bool Admit(KeyType type) const noexcept {
    return bits_ == 0 || type == KeyType::kUnknown || Has(KeyType::kUnknown) || Has(type);
  }
  TAMIS_HD constexpr void Add(KeyType type) noexcept {
    bits_ = static_cast<uint16_t>(bits_ | Bit(type));
  }
  // Add a type, or all types of another set.
  constexpr void Add(KeyTypes types) noexcept { bits_ = bits_ | types.bits_; }

  friend constexpr bool operator==(KeyTypes, KeyTypes) = default;

 private:
  TAMIS_HD static constexpr uint16_t Bit(KeyType type) {
    return static_cast<uint16_t>(1 << static_cast<int>(type));
  }

  // No filter's contents have the type uint16_t, so compilers see that a write to the contents does
  // not change this field.
  uint16_t bits_ = 0;
};

}  // namespace tamis

#endif  // TAMIS_KEY_TYPES_H_
