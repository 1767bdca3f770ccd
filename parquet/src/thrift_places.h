// Finds the fields of a struct, in order to rewrite it with a field added or removed. Unknown
// fields are copied as they are.
#ifndef TAMIS_PARQUET_SRC_THRIFT_PLACES_H_
#define TAMIS_PARQUET_SRC_THRIFT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parquet/src/thrift_walker.h"

namespace tamis::parquet {

// The header is [field.header_at, field.value_at), the value [field.value_at, end).
struct PlacedField {
  ThriftField field;
  size_t end = 0;
};

struct PlacedStruct {
  size_t begin = 0;
  std::vector<PlacedField> fields = {};  // in file order
  size_t stop_at = 0;                    // the struct ends one byte later
  int16_t last_id = 0;  // number of the last field; the number of an added field is relative to it

  // Returns nullptr if there is no such field.
  const PlacedField* Find(int16_t id) const;
};

// Finds the fields of the struct at `at` of `bytes`. `base` is the offset of `bytes` in the file,
// for messages. Throws like ThriftWalker.
PlacedStruct PlacesOf(std::span<const std::byte> bytes, size_t at, uint64_t base = 0);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_THRIFT_PLACES_H_
