// Converts a key to the stored value of a column type, which is hashed and compared with bounds.
#ifndef TAMIS_PARQUET_SRC_STORED_VALUE_H_
#define TAMIS_PARQUET_SRC_STORED_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/parquet/column_keys.h"
#include "tamis/parquet/schema.h"

namespace tamis::parquet {

// Number types of 4 or 8 bytes.
enum class NumberKind : uint8_t { kSigned, kUnsigned, kFloat, kDouble };

// Returns nullptr if columns of the type can be queried; otherwise the reason.
const char* WhyNotAsked(const Column& column);

// Returns the kind of number if values are numbers of 4 or 8 bytes.
std::optional<NumberKind> NumberKindOf(const Column& column);

// Returns the bits of key `i`, in the low 4 bytes for types of 4 bytes, or nothing if the key does
// not fit. The column must be a column of numbers.
std::optional<uint64_t> NumberBits(const Column& column, NumberKind kind, const KeyList& keys,
                                   size_t i);

// Returns the bytes of key `i`, which are stored in the list or in `made`. The column must be a
// column of bytes.
std::optional<std::string_view> StoredBytes(const Column& column, const KeyList& keys, size_t i,
                                            std::string& made);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_STORED_VALUE_H_
