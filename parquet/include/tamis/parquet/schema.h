// The columns of a Parquet file: how values are stored, and their meaning.
#ifndef TAMIS_PARQUET_SCHEMA_H_
#define TAMIS_PARQUET_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/cpp20.h"

namespace tamis::parquet {

// How values are stored and hashed. The numbers are Parquet's.
enum class PhysicalType : uint8_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedLenByteArray = 7,
};

// The unit of a time.
enum class TimeUnit : uint8_t { kMillis, kMicros, kNanos };

// The meaning of stored values, from the LogicalType of a column or its older ConvertedType.
struct LogicalType {
  // The logical types.
  enum class Kind : uint8_t {
    kNone,  // the physical type is the meaning
    kString,
    kEnum,
    kJson,
    kBson,
    kDecimal,    // an unscaled integer: scale, precision
    kDate,       // days since 1970-01-01
    kTime,       // since midnight: unit
    kTimestamp,  // since 1970-01-01 00:00: unit
    kInteger,    // bit_width, is_signed
    kUuid,       // 16 bytes, most significant first
    kFloat16,    // 2 bytes, little-endian
    kInterval,
    kNull,   // all values are null
    kOther,  // a type that this library does not know
  };

  Kind kind = Kind::kNone;            // the logical type
  TimeUnit unit = TimeUnit::kMillis;  // unit of times
  int bit_width = 0;                  // 8, 16, 32 or 64
  bool is_signed = true;              // whether integers have a sign
  int32_t scale = 0;                  // digits after the point of a decimal
  int32_t precision = 0;              // digits of a decimal

  friend bool operator==(const LogicalType&, const LogicalType&) = default;
};

// A column that has values: a leaf of the schema.
struct Column {
  std::string name = {};                         // the last part of its path
  size_t parent = 0;                             // Schema::groups()[parent]
  PhysicalType physical = PhysicalType::kInt32;  // how values are stored
  uint32_t width = 0;        // bytes of a value of kFixedLenByteArray; otherwise 0
  LogicalType logical = {};  // what values mean
};

// A group of columns: a struct, or the representation of a list or a map.
struct Group {
  std::string name;   // name of the group
  size_t parent = 0;  // index of the parent group; the root is group 0 and its own parent
};

// Returns the type as text: "INT64", "BYTE_ARRAY (string)", "FIXED_LEN_BYTE_ARRAY(16) (UUID)" ...
std::string TypeText(const Column& column);
// Returns the name of the type in the Parquet format.
std::string_view PhysicalTypeName(PhysicalType type) noexcept;

// All columns of a file, in the order of the columns in row groups.
class Schema {
 public:
  Schema(std::vector<Group> groups, std::vector<Column> columns)
      : groups_(std::move(groups)), columns_(std::move(columns)) {}

  // Return all columns and all groups.
  const std::vector<Column>& columns() const noexcept { return columns_; }
  const std::vector<Group>& groups() const noexcept { return groups_; }

  // Returns the names from below the root down to the column, joined by dots: "tags.list.element".
  std::string PathOf(size_t column) const;

  // Returns the index of the column with this path. If no column has this path, but a group has it,
  // returns the only column below this group: "tags" is "tags.list.element". Throws
  // Error(kInvalidArgument), with the names of the columns, if no column or more than one matches.
  size_t Find(std::string_view path) const;

 private:
  bool IsPath(std::string_view name, size_t parent, std::string_view path) const;

  std::vector<Group> groups_;
  std::vector<Column> columns_;
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SCHEMA_H_
