// The footer of a Parquet file: its columns, its row groups, and where their Bloom filters are.
// Source: parquet.thrift of Apache Parquet 2.13.
#ifndef TAMIS_PARQUET_FOOTER_H_
#define TAMIS_PARQUET_FOOTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/parquet/schema.h"
#include "tamis/parquet/source.h"

namespace tamis::parquet {

class ThriftWalker;

// A row group.
struct RowGroup {
  uint64_t rows = 0;        // number of rows
  uint64_t bytes = 0;       // size of the values, encoded but not compressed
  uint64_t file_bytes = 0;  // size in the file; 0 if the footer does not contain it
};

// The smallest and the largest value in plain encoding: 4 or 8 bytes, little-endian, or the bytes
// of a string. The deprecated fields `min` and `max` are not read. If the writer of the file is
// known to store wrong statistics, these are left out, and `ignored` has the reasons.
struct Statistics {
  std::optional<std::string_view> min;  // no value is smaller
  std::optional<std::string_view> max;  // no value is larger
  // Whether the bound is a value of the column. (A writer may cut a long string to a smaller `min`,
  // or round it up to a larger `max`.) Empty if the file does not state it.
  std::optional<bool> min_exact;
  std::optional<bool> max_exact;     // see `min_exact`
  std::optional<uint64_t> nulls;     // number of nulls
  std::optional<uint64_t> distinct;  // number of distinct values
  // If true, two kinds of values may be outside the bounds: prefixes of `min`, and values that
  // begin with `max`.
  bool prefixes_are_outside = false;
  std::vector<const char*> ignored = {};  // one sentence each, without a full stop
};

// A column of one row group. Views refer to the bytes of the footer.
struct ColumnChunk {
  uint64_t values = 0;              // nulls included
  uint64_t compressed_bytes = 0;    // size of the pages in the file
  uint64_t uncompressed_bytes = 0;  // size of the pages before compression
  Statistics statistics;            // the bounds of the values
  // Offset of the filter's header in the file; empty without a filter.
  std::optional<uint64_t> filter_offset;
  // Size of header and bits; empty if the writer left it out, as older writers do.
  std::optional<uint64_t> filter_length;
  // Offset in the file of the first page: the dictionary, or the first data page.
  uint64_t first_page = 0;
  // Whether the chunk begins with a dictionary. Some pages may still have plain encoding.
  bool has_dictionary = false;
  bool other_file = false;  // whether data and filter are in another file

  // Returns whether the chunk may have values that are not null. A chunk with a bound has such
  // values. The number of nulls does not matter then, because some writers count nulls wrongly.
  bool MayHaveValues() const noexcept {
    const bool all_null = statistics.nulls == values && !statistics.min && !statistics.max;
    return values != 0 && !all_null;
  }
};

// A parsed footer. Every offset and size is checked against the bytes of the footer and the length
// of the file before it is used. Column chunks are parsed on demand. So the object mainly holds the
// bytes of the footer, and 8 bytes for each chunk. Any number of threads may use one footer at the
// same time.
class Footer {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // maximum size of a footer

  // Reads the footer from the end of the file. Throws FormatError(kCorrupt) if the file is damaged
  // or is not a Parquet file, Error(kUnsupported) if its footer is encrypted, and the exceptions of
  // `source`.
  static Footer Read(const Source& source);

  // Parses a footer that the program has read itself. `bytes` are the bytes between the data and
  // the stored length of the footer. `offset` is their offset in the file. Throws
  // FormatError(kCorrupt) like Read.
  Footer(std::vector<std::byte> bytes, uint64_t offset);

  // Returns the bytes of the footer.
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // Returns the place of the footer in the file.
  uint64_t offset() const noexcept { return offset_; }

  // Returns the number of rows of the file.
  uint64_t rows() const noexcept { return rows_; }
  // The name of the program that wrote the file, from the footer; "" if unknown.
  const std::string& created_by() const noexcept { return created_by_; }
  // Returns the columns.
  const Schema& schema() const noexcept { return schema_; }
  // Returns the row groups.
  const std::vector<RowGroup>& row_groups() const noexcept { return row_groups_; }
  // Whether some columns are encrypted, or the footer is signed.
  bool encrypted() const noexcept { return encrypted_; }
  // Returns whether the order of the column's values is known. Without a known order, min and max
  // are meaningless.
  bool ordered(size_t column) const noexcept { return ordered_[column]; }

  // Returns the chunk of a column in a row group; both indices count from 0. Throws
  // FormatError(kCorrupt) if its description is invalid, and Error(kUnsupported) if the column is
  // encrypted.
  ColumnChunk Chunk(size_t row_group, size_t column) const;
  // Returns the offset in bytes() of the Thrift struct ColumnChunk.
  size_t ChunkAt(size_t row_group, size_t column) const noexcept {
    return chunks_[row_group * schema_.columns().size() + column];
  }

 private:
  void ReadRowGroup(ThriftWalker& walker);

  std::vector<std::byte> bytes_;
  uint64_t offset_;
  uint64_t rows_ = 0;
  std::string created_by_;
  bool encrypted_ = false;
  Schema schema_{{}, {}};
  std::vector<RowGroup> row_groups_;
  std::vector<bool> ordered_;
  std::vector<size_t> chunks_;  // offsets in bytes_, ordered by row group and column
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_FOOTER_H_
