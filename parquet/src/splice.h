// Adds Bloom filters to the footer of a Parquet file, between the bytes that are there.
#ifndef TAMIS_PARQUET_SRC_SPLICE_H_
#define TAMIS_PARQUET_SRC_SPLICE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis::parquet {

// What a footer says of the filter of a column chunk: fields 14 and 15 of its ColumnMetaData
// (parquet.thrift of Apache Parquet).
struct FilterEntry {
  size_t row_group = 0;
  size_t column = 0;   // among the row group's chunks
  int64_t offset = 0;  // of the filter's header, from the start of the file
  int32_t bytes = 0;   // of header and bitset

  friend bool operator==(const FilterEntry&, const FilterEntry&) = default;
};

// `footer`, the FileMetaData of a file in Thrift's compact protocol, with these entries in it: in
// front of the first field of their struct that has a higher number, or at its end. Where a chunk
// has such an entry the new one takes its place. All other bytes stay as they are, known or not,
// but for the header of the one field behind, whose number is relative to that of the field before
// it.
//
// `base` is the offset of the footer in its file, for errors. `entries` ascend by row group and
// column. Throws FormatError(kCorrupt) for a footer that does not keep to the protocol, lacks a
// struct to add to, or has bytes behind it; Error(kInvalidArgument) for entries out of order, and
// for chunks that the footer does not have.
std::vector<std::byte> SpliceFooter(std::span<const std::byte> footer, uint64_t base,
                                    std::span<const FilterEntry> entries);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_SPLICE_H_
