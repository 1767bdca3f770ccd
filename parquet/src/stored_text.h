// What a column stores, as people write it: the way back of stored_value.h.
#ifndef TAMIS_PARQUET_SRC_STORED_TEXT_H_
#define TAMIS_PARQUET_SRC_STORED_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/parquet/schema.h"

namespace tamis::parquet {

// Whether values of the column have a text. Columns that can be asked have one, and decimals of
// BYTE_ARRAY.
bool HasText(const Column& column);

// Of a number by its bits, in the low 4 bytes where the type has 4. NumberKindOf(column) is one.
std::string TextOfNumber(const Column& column, uint64_t bits);
// Of a column of bytes.
std::string TextOfBytes(const Column& column, std::string_view bytes);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_STORED_TEXT_H_
