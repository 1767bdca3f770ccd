// Where the fields of a struct are, for those who write it anew with a field more: what they do not
// know is copied as it is.
#ifndef TAMIS_PARQUET_SRC_THRIFT_PLACES_H_
#define TAMIS_PARQUET_SRC_THRIFT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parquet/src/thrift_walker.h"

namespace tamis::parquet {

// Its header is [field.header_at, field.value_at), its value [field.value_at, end).
struct PlacedField {
  ThriftField field;
  size_t end = 0;
};

struct PlacedStruct {
  size_t begin = 0;
  std::vector<PlacedField> fields = {};  // as they are, not by their numbers
  size_t stop_at = 0;                    // its end is one byte later
  int16_t last_id = 0;  // what a field in front of the stop byte counts its own from

  // nullptr if it has no such field.
  const PlacedField* Find(int16_t id) const;
};

// Of the struct at `at` of `bytes`; `base` is where these begin in the file, for messages. Throws
// as ThriftWalker.
PlacedStruct PlacesOf(std::span<const std::byte> bytes, size_t at, uint64_t base = 0);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_THRIFT_PLACES_H_
