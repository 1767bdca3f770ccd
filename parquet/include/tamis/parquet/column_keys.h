// Keys as Parquet stores them: converts integers, numbers, dates, decimals and strings to values of
// a column type, and hashes them. Source: Encodings.md (PLAIN), LogicalTypes.md and BloomFilter.md
// of Apache Parquet.
#ifndef TAMIS_PARQUET_COLUMN_KEYS_H_
#define TAMIS_PARQUET_COLUMN_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/parquet/footer.h"
#include "tamis/parquet/schema.h"

namespace tamis::parquet {

// A list of values to query in columns of any type. KeyList is a view: the values must outlive it.
// Pass it by value.
class KeyList {
 public:
  // The type of the keys of a list.
  enum class Type : uint8_t { kIntegers, kUnsigned, kDoubles, kTimestamps, kBytes, kText };

  // Integers. In a date column, an integer is a number of days since 1970-01-01. In a time or
  // timestamp column, it counts the unit of the column. In a decimal column, 5 is the decimal 5.
  static KeyList Integers(std::span<const int64_t> values) {
    return {Type::kIntegers, values.data(), values.size()};
  }
  // Integers without a sign.
  static KeyList Unsigned(std::span<const uint64_t> values) {
    return {Type::kUnsigned, values.data(), values.size()};
  }
  // Floating-point numbers.
  static KeyList Doubles(std::span<const double> values) {
    return {Type::kDoubles, values.data(), values.size()};
  }
  // Points in time, counted in `unit` since 1970-01-01 00:00. `unit` may differ from the unit of
  // the column.
  static KeyList Timestamps(std::span<const int64_t> values, TimeUnit unit) {
    return {Type::kTimestamps, values.data(), values.size(), unit};
  }
  // Strings, or the 16 bytes of a UUID, as they are stored.
  static KeyList Bytes(std::span<const std::string_view> values) {
    return {Type::kBytes, values.data(), values.size()};
  }
  // Values as text: -12, 12.0, 1.5e3, nan, 12.34 (decimal), 2026-01-31 (date), 12:30:00.5 (time),
  // 2026-01-31 12:30:00.123 or ...T12:30Z or ...+02:00 (timestamp; a date alone is midnight),
  // 123e4567-e89b-12d3-a456-426614174000. Spaces and tabs around a value are ignored. In string
  // columns, the whole text is the value, with its spaces.
  static KeyList Text(std::span<const std::string_view> values) {
    return {Type::kText, values.data(), values.size()};
  }

  // Returns the type of the keys.
  Type type() const noexcept { return type_; }
  // Returns the number of keys.
  size_t size() const noexcept { return size_; }
  TimeUnit unit() const noexcept { return unit_; }  // for kTimestamps
  template <typename T>
  std::span<const T> values() const noexcept {
    return {static_cast<const T*>(data_), size_};
  }
  // Returns key `i` as text, for messages and output.
  std::string TextOf(size_t i) const;

 private:
  KeyList(Type type, const void* data, size_t size, TimeUnit unit = TimeUnit::kMillis)
      : data_(data), size_(size), type_(type), unit_(unit) {}

  const void* data_;
  size_t size_;
  Type type_;
  TimeUnit unit_;
};

// The keys of a list as values of one column type, with their hashes.
//
// In columns of FLOAT and DOUBLE, a number is rounded to the nearest value of the type, and zero is
// queried with both signs. A key is a misfit if no column of the type can contain it, or if its
// text is not a value of the type. Misfits are counted, but not queried.
//
// A position is an index into these values, which are in the order of the type and without
// duplicates. Any number of threads may use one object.
class ColumnKeys {
 public:
  static constexpr size_t kNamedMisfits = 10;

  // Throws Error(kUnsupported) for
  //   - BOOLEAN and INT96, whose filters are meaningless,
  //   - decimals of BYTE_ARRAY, because one number can be stored in several ways,
  //   - float16, intervals, and types that this library does not know.
  // Throws Error(kInvalidArgument) for a list of more than 2^32 - 1 keys, and std::bad_alloc.
  ColumnKeys(const Column& column, const KeyList& keys);

  // Number of positions. A key that is zero can have two positions, for +0 and -0.
  size_t size() const noexcept { return hashes_.size(); }
  std::span<const uint64_t> hashes() const noexcept { return hashes_; }
  // Returns which key of the list is at `position`, as an index. If the list has several equal
  // keys, returns the first index.
  uint32_t KeyAt(size_t position) const noexcept { return keys_[position]; }
  // The position of +0 in a column of FLOAT or DOUBLE; -0 is at the next position.
  std::optional<size_t> zero() const noexcept { return zero_; }
  // Keys that are not-a-number, as indices in the list. Filters and bounds cannot rule out these
  // keys.
  std::span<const uint32_t> not_numbers() const noexcept { return not_numbers_; }

  // Returns the number of keys that no value of the column can equal.
  uint64_t misfits() const noexcept { return misfits_; }
  // The first kNamedMisfits misfits, as indices in the list.
  std::span<const uint32_t> first_misfits() const noexcept { return first_misfits_; }

  // Returns the positions [first, second) of the values that are within the bounds of `statistics`.
  // If a bound is invalid, or both are missing, returns all positions.
  std::pair<size_t, size_t> Within(const Statistics& statistics) const;

 private:
  // The order in which values are compared.
  enum class Order : uint8_t { kSigned, kUnsigned, kFloating, kBytes, kSignedBytes };

  void MakeNumbers(const Column& column, const KeyList& keys);
  void MakeBytes(const Column& column, const KeyList& keys);
  void AddMisfit(size_t key);
  void AddNumber(uint64_t order, uint32_t key, std::vector<uint64_t>& stored);
  bool Less(std::string_view a, std::string_view b) const;
  // Maps a bound to an integer, as in `ordered_`. Returns nothing if the bytes are not a value of
  // the type.
  std::optional<uint64_t> OrderOf(std::string_view stored) const;
  std::pair<size_t, size_t> WithinBytes(const Statistics& statistics) const;

  Order order_ = Order::kSigned;
  uint32_t width_ = 0;  // bytes of a value; 0 if sizes differ
  uint64_t misfits_ = 0;
  std::vector<uint32_t> first_misfits_;
  std::vector<uint32_t> not_numbers_;
  std::optional<size_t> zero_;
  // These vectors have one element for each position.
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> keys_;
  std::vector<uint64_t> ordered_;        // numbers, mapped to unsigned integers in the same order
  std::vector<std::string_view> bytes_;  // bytes, in `made_` or in the list
  std::vector<char> made_;
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_COLUMN_KEYS_H_
