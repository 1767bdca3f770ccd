// A list of keys that is a column of a Parquet file.
#ifndef TAMIS_PARQUET_KEY_COLUMN_H_
#define TAMIS_PARQUET_KEY_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/parquet/add.h"

namespace tamis::parquet {

// The different values of a column, as KeyList::Text takes them: by what they stand for, so that
// columns of other types can be asked for them. A number of FLOAT is that number in DOUBLE, and a
// time of milliseconds the same time in nanoseconds. Any number of threads may use one.
class KeyColumn {
 public:
  std::span<const std::string_view> texts() const noexcept { return texts_; }
  uint64_t values() const noexcept { return values_; }  // of the column, nulls included
  uint64_t nulls() const noexcept { return nulls_; }

 private:
  friend class KeyColumnReader;

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::string_view> texts_;  // in `blocks_`
  uint64_t values_ = 0;
  uint64_t nulls_ = 0;
};

// Reads the column, counted from 0 as in Schema. Takes memory for the different values, and what
// decoding takes. Throws Error(kInvalidArgument) if there is no such column; Error(kUnsupported) if
// its values cannot be written (BOOLEAN, INT96, float16, intervals, types that this library does
// not know), and for data in other files; FormatError(kCorrupt) as Footer::Read does, and if
// decoding gives more or fewer values than the footer tells of; and what `open` and its values
// throw.
KeyColumn ReadKeyColumn(const std::filesystem::path& path, size_t column, const OpenValues& open);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_KEY_COLUMN_H_
