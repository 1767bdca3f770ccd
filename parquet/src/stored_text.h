// Converts stored values of a column to text: the inverse of stored_value.h.
#ifndef TAMIS_PARQUET_SRC_STORED_TEXT_H_
#define TAMIS_PARQUET_SRC_STORED_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/parquet/schema.h"

namespace tamis::parquet {

// Returns whether values of the column can be written as text: whether the column can be queried,
// or has decimals of BYTE_ARRAY.
bool HasText(const Column& column);

// Returns the text of a number from its bits, in the low 4 bytes for types of 4 bytes.
// NumberKindOf(column) must have a value.
std::string TextOfNumber(const Column& column, uint64_t bits);
// Returns the text of a value in a column of bytes.
std::string TextOfBytes(const Column& column, std::string_view bytes);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_STORED_TEXT_H_
