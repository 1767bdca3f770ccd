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

struct RowGroup {
  uint64_t rows = 0;
  uint64_t bytes = 0;       // of its values, encoded and not compressed
  uint64_t file_bytes = 0;  // in the file; 0 if the writer does not say it
};

// The smallest and the largest value, plain-encoded: 4 or 8 bytes, little-endian, or the bytes of a
// string. The deprecated fields `min` and `max` are not read. Statistics that the file's writer is
// known to state wrongly are left out, with the reasons in `ignored`.
struct Statistics {
  std::optional<std::string_view> min;  // no value is smaller
  std::optional<std::string_view> max;  // no value is larger
  // Whether the column has this very value: a long string is cut to one that is smaller, or made
  // larger. Without a word of the writer, nothing.
  std::optional<bool> min_exact;
  std::optional<bool> max_exact;
  std::optional<uint64_t> nulls;
  std::optional<uint64_t> distinct;
  // Values may also be smaller than `min` if it begins with them, and larger than `max` if they
  // begin with it.
  bool prefixes_are_outside = false;
  std::vector<const char*> ignored = {};  // a sentence each, without its full stop
};

// A column of one row group. Views are into the bytes of the footer.
struct ColumnChunk {
  uint64_t values = 0;            // nulls included
  uint64_t compressed_bytes = 0;  // of its pages in the file
  uint64_t uncompressed_bytes = 0;
  Statistics statistics;
  // Of the filter's header, in the file; nothing if there is no filter.
  std::optional<uint64_t> filter_offset;
  // Of header and bits together; writers of older versions leave it out.
  std::optional<uint64_t> filter_length;
  // Of its first byte in the file: the dictionary, or the first page of data.
  uint64_t first_page = 0;
  // With a dictionary in front. Its pages may be plain all the same.
  bool has_dictionary = false;
  bool other_file = false;  // its data and its filter are in a file beside this one

  // Whether the chunk may have values that are not null. Some writers count nulls wrongly, so
  // bounds outweigh the number of nulls: they come from values.
  bool MayHaveValues() const noexcept {
    const bool all_null = statistics.nulls == values && !statistics.min && !statistics.max;
    return values != 0 && !all_null;
  }
};

// What is read of a footer is checked against its bytes and the length of the file before it is
// used. Names and numbers are kept; chunks are read when they are asked for, so that a footer takes
// its own bytes and 8 for each chunk. Any number of threads may use one at a time.
class Footer {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

  // Reads the last bytes of the file. Throws FormatError(kCorrupt) if it is no Parquet file, or a
  // damaged one, Error(kUnsupported) if its footer is encrypted, and what the source throws.
  static Footer Read(const Source& source);

  // The bytes between the data and the length of the footer, for those who have read them
  // themselves; `offset` is where they are in the file. Throws as Read.
  Footer(std::vector<std::byte> bytes, uint64_t offset);

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  uint64_t offset() const noexcept { return offset_; }

  uint64_t rows() const noexcept { return rows_; }
  // The writer, by its own words; "" if it says nothing.
  const std::string& created_by() const noexcept { return created_by_; }
  const Schema& schema() const noexcept { return schema_; }
  const std::vector<RowGroup>& row_groups() const noexcept { return row_groups_; }
  // Some columns are encrypted, or the footer is signed.
  bool encrypted() const noexcept { return encrypted_; }
  // Whether the order of the column's values is known, so that min and max mean something.
  bool ordered(size_t column) const noexcept { return ordered_[column]; }

  // The column of the row group; both count from 0. Throws FormatError(kCorrupt) if what the footer
  // says of it cannot be, and Error(kUnsupported) if it is encrypted.
  ColumnChunk Chunk(size_t row_group, size_t column) const;
  // Where that ColumnChunk begins in bytes().
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
  std::vector<size_t> chunks_;  // of all row groups, one after the other
};

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_FOOTER_H_
