// Keys as Parquet has them: what integers, numbers, dates, decimals and strings are in a column of
// a given type, and their hashes. Source: Encodings.md (PLAIN), LogicalTypes.md and BloomFilter.md
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

// Values to look for, whatever the type of the columns turns out to be. A view, to be passed by
// value; what it was made of must outlive it.
class KeyList {
 public:
  enum class Type : uint8_t { kIntegers, kUnsigned, kDoubles, kTimestamps, kBytes, kText };

  // By their value. For a date they are days since 1970-01-01; for a time or a timestamp they count
  // in the unit of the column. A decimal of 5 is 5.
  static KeyList Integers(std::span<const int64_t> values) {
    return {Type::kIntegers, values.data(), values.size()};
  }
  static KeyList Unsigned(std::span<const uint64_t> values) {
    return {Type::kUnsigned, values.data(), values.size()};
  }
  static KeyList Doubles(std::span<const double> values) {
    return {Type::kDoubles, values.data(), values.size()};
  }
  // Since 1970-01-01 00:00 in `unit`, which may be another than the column's.
  static KeyList Timestamps(std::span<const int64_t> values, TimeUnit unit) {
    return {Type::kTimestamps, values.data(), values.size(), unit};
  }
  // Strings, and the 16 bytes of a UUID: as they are stored.
  static KeyList Bytes(std::span<const std::string_view> values) {
    return {Type::kBytes, values.data(), values.size()};
  }
  // As people and programs write them: -12, 12.0, 1.5e3, nan, 12.34 (decimal), 2026-01-31 (date),
  // 12:30:00.5 (time), 2026-01-31 12:30:00.123 or ...T12:30Z or ...+02:00 (timestamp; a date alone
  // is midnight), 123e4567-e89b-12d3-a456-426614174000, perhaps with blanks around them. In columns
  // of strings they are the strings themselves.
  static KeyList Text(std::span<const std::string_view> values) {
    return {Type::kText, values.data(), values.size()};
  }

  Type type() const noexcept { return type_; }
  size_t size() const noexcept { return size_; }
  TimeUnit unit() const noexcept { return unit_; }  // of kTimestamps
  template <typename T>
  std::span<const T> values() const noexcept {
    return {static_cast<const T*>(data_), size_};
  }
  // Key i as text, for messages and lists.
  std::string TextOf(size_t i) const;

 private:
  KeyList(Type type, const void* data, size_t size, TimeUnit unit = TimeUnit::kMillis)
      : data_(data), size_(size), type_(type), unit_(unit) {}

  const void* data_;
  size_t size_;
  Type type_;
  TimeUnit unit_;
};

// The values of a list in columns of one type, with the hashes by which filters know them.
//
// A number that FLOAT or DOUBLE does not have is asked as the nearest that it has. Zero is asked
// with both signs. A value that no column of the type can have, and text that is none of the type,
// is a misfit: it is counted, and not asked.
//
// Positions are those of the values that are asked, in the order of the type, without duplicates.
// Any number of threads may use one.
class ColumnKeys {
 public:
  static constexpr size_t kNamedMisfits = 10;

  // Throws Error(kUnsupported) for BOOLEAN and INT96, as their filters mean nothing. Throws it for
  // decimals of BYTE_ARRAY too, as one number can be stored in several ways, and for float16,
  // intervals, and types that this library does not know. Throws std::bad_alloc.
  ColumnKeys(const Column& column, const KeyList& keys);

  // Positions. Of zero there can be two.
  size_t size() const noexcept { return hashes_.size(); }
  std::span<const uint64_t> hashes() const noexcept { return hashes_; }
  // The index in the list of the (first) key that this position is of.
  uint32_t KeyAt(size_t position) const noexcept { return keys_[position]; }
  // The position of +0 in a column of FLOAT or DOUBLE; -0 is the next one.
  std::optional<size_t> zero() const noexcept { return zero_; }
  // The keys that are not-a-number, by their indices: no filter and no bound rules them out.
  std::span<const uint32_t> not_numbers() const noexcept { return not_numbers_; }

  uint64_t misfits() const noexcept { return misfits_; }
  // The first of them, by their indices in the list.
  std::span<const uint32_t> first_misfits() const noexcept { return first_misfits_; }

  // The positions [first, second) of values that are not outside the bounds. All of them, if there
  // are no bounds, or none that make sense.
  std::pair<size_t, size_t> Within(const Statistics& statistics) const;

 private:
  // How values compare.
  enum class Order : uint8_t { kSigned, kUnsigned, kFloating, kBytes, kSignedBytes };

  void MakeNumbers(const Column& column, const KeyList& keys);
  void MakeBytes(const Column& column, const KeyList& keys);
  void AddMisfit(size_t key);
  void AddNumber(uint64_t order, uint32_t key, std::vector<uint64_t>& stored);
  bool Less(std::string_view a, std::string_view b) const;
  // Of a bound; nothing if it is none.
  std::optional<uint64_t> OrderOf(std::string_view stored) const;
  std::pair<size_t, size_t> WithinBytes(const Statistics& statistics) const;

  Order order_ = Order::kSigned;
  uint32_t width_ = 0;  // bytes of a value; 0 if they differ
  uint64_t misfits_ = 0;
  std::vector<uint32_t> first_misfits_;
  std::vector<uint32_t> not_numbers_;
  std::optional<size_t> zero_;
  // Each of all positions.
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> keys_;
  std::vector<uint64_t> ordered_;        // numbers, mapped so that they compare as integers do
  std::vector<std::string_view> bytes_;  // or bytes, in `made_` or in the list
  std::vector<char> made_;
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_COLUMN_KEYS_H_
