// Adds Bloom filters to the footer of a Parquet file, between the existing bytes.
#ifndef TAMIS_PARQUET_SRC_SPLICE_H_
#define TAMIS_PARQUET_SRC_SPLICE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis::parquet {

// The entry of a footer for the filter of a column chunk: fields 14 and 15 of its ColumnMetaData
// (parquet.thrift of Apache Parquet).
struct FilterEntry {
  size_t row_group = 0;
  size_t column = 0;   // index among the row group's chunks
  int64_t offset = 0;  // offset of the filter's header in the file
  int32_t bytes = 0;   // size of header and bits

  friend bool operator==(const FilterEntry&, const FilterEntry&) = default;
};

// Returns `footer`, the FileMetaData of a file in Thrift's compact protocol, with `entries` added.
// An entry is inserted in front of the first field of its struct with a higher number, or at the
// end of the struct. It replaces an existing entry of the chunk. All other bytes do not change,
// including the bytes of unknown fields. The only exception is the header of the field after an
// added field, because a header states how much its number exceeds the number of the previous
// field.
//
// `base` is the offset of the footer in its file, for errors. `entries` must ascend by row group
// and column. Throws FormatError(kCorrupt) for a footer that violates the protocol, lacks a struct
// to which an entry must be added, or has bytes behind its end. Throws Error(kInvalidArgument) for
// entries out of order, and for chunks that the footer does not have.
std::vector<std::byte> SpliceFooter(std::span<const std::byte> footer, uint64_t base,
                                    std::span<const FilterEntry> entries);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_SPLICE_H_
