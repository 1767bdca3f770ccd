// A key as a column of a type stores it: what is hashed, and what bounds are compared with.
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

// Of types that are numbers, 4 or 8 bytes.
enum class NumberKind : uint8_t { kSigned, kUnsigned, kFloat, kDouble };

// nullptr if columns of the type can be asked; else why they cannot.
const char* WhyNotAsked(const Column& column);

// Whether values are numbers of 4 or 8 bytes, and which.
std::optional<NumberKind> NumberKindOf(const Column& column);

// The bits of key i of the list, in the low 4 bytes where the type has 4; nothing if it does not
// fit. The column is one of numbers.
std::optional<uint64_t> NumberBits(const Column& column, NumberKind kind, const KeyList& keys,
                                   size_t i);

// The bytes of key i: the list's own, or what was made in `made`. The column is one of bytes.
std::optional<std::string_view> StoredBytes(const Column& column, const KeyList& keys, size_t i,
                                            std::string& made);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_STORED_VALUE_H_
