// Reads a list of keys from a column of a Parquet file.
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

// The distinct values of a column as texts for KeyList::Text. The texts show the meaning of the
// values, so columns of other types can be queried for them. A number of FLOAT equals the same
// number in DOUBLE, and a time in milliseconds equals the same time in nanoseconds. Any number of
// threads may use one object.
class KeyColumn {
 public:
  // Returns the keys as texts.
  std::span<const std::string_view> texts() const noexcept { return texts_; }
  uint64_t values() const noexcept { return values_; }  // number of values, nulls included
  // Returns the number of nulls.
  uint64_t nulls() const noexcept { return nulls_; }

 private:
  friend class KeyColumnReader;

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::string_view> texts_;  // point into `blocks_`
  uint64_t values_ = 0;
  uint64_t nulls_ = 0;
};

// Reads the column with index `column` in the Schema. Takes memory for the distinct values and for
// decoding. Throws
//   - Error(kInvalidArgument) if the column does not exist;
//   - Error(kUnsupported) for values without a text (BOOLEAN, INT96, float16, intervals, types that
//     this library does not know), and for data in other files;
//   - FormatError(kCorrupt) in the cases of Footer::Read, and if the decoder returns more or fewer
//     values than the footer states;
//   - the exceptions of `open` and of its values.
KeyColumn ReadKeyColumn(const std::filesystem::path& path, size_t column, const OpenValues& open);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_KEY_COLUMN_H_
