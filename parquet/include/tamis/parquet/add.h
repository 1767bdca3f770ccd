// Adds Bloom filters to Parquet files. Writes a new file: the data of the old file, the filters
// behind it, and a footer with the offsets of the filters.
#ifndef TAMIS_PARQUET_ADD_H_
#define TAMIS_PARQUET_ADD_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tamis/file/file.h"
#include "tamis/filters/sizing.h"
#include "tamis/keys.h"
#include "tamis/parquet/footer.h"

namespace tamis::parquet {

// Decodes the values of a file. tamis::parquet has no decoder. OpenArrowValues of arrow_values.h
// returns a ColumnValues that uses Apache Arrow.
class ColumnValues {
 public:
  using Take = std::function<void(const Keys& keys)>;

  ColumnValues() = default;
  virtual ~ColumnValues() = default;
  ColumnValues(const ColumnValues&) = delete;
  ColumnValues& operator=(const ColumnValues&) = delete;

  // Calls `take` with every value of a column chunk except nulls, in batches. The keys are the
  // values in plain encoding: FixedColumns of 4 bytes for INT32 and FLOAT, integers for INT64,
  // FixedColumns of 8 bytes for DOUBLE, strings for the other types. `row_group` and `column` count
  // from 0 as in Footer. Returns the number of values read, nulls included. AddFilters compares
  // this number with the footer, because a filter would answer "no" for a value that was not read.
  virtual uint64_t Read(size_t row_group, size_t column, const Take& take) = 0;
};

// Opens a file to read its values on one thread.
using OpenValues = std::function<std::unique_ptr<ColumnValues>(const std::filesystem::path&)>;

// Returns the bytes of the footer without logical types and without the writer's metadata. Some
// decoders convert values by logical type. With this footer, they return the physical values of the
// same file. Filters contain physical values.
std::vector<std::byte> PhysicalFooter(const Footer& footer);

// Reports the outcome for one column chunk.
struct AddedFilter {
  // The outcome for a chunk.
  enum class Outcome : uint8_t {
    kAdded,
    kReplaced,  // replaced the filter of the chunk
    kKept,      // the chunk keeps its filter
    kLeftOut,   // no filter, because it would not be worth its bytes; see `reason`
  };

  size_t row_group = 0;               // index of the row group
  size_t column = 0;                  // index of the column
  Outcome outcome = Outcome::kAdded;  // the outcome for the chunk
  std::string reason = {};  // one sentence without a period; empty for kAdded and kReplaced
  uint64_t values = 0;      // values in the chunk, nulls included
  // The members below are meaningless for kKept and for a chunk without values.
  uint64_t distinct = 0;       // number of keys, estimated from the bits of the filter
  uint64_t bytes = 0;          // size of the filter's bits, even if the filter was left out
  double fpr = 0;              // rate with `distinct` keys in `bytes` bytes
  uint64_t offset = 0;         // offset of the header in the new file; kAdded and kReplaced only
  uint64_t bytes_in_file = 0;  // padding, header and bits; 0 if left out
};

// Options of AddFilters.
struct AddOptions {
  // Paths of columns, in the syntax of Schema::Find. Must not be empty.
  std::vector<std::string> columns = {};
  // The highest false-positive rate, in [kMinFpr, kMaxFpr]. Sizes are powers of two up to 128 MiB,
  // which all readers accept. The rate of a filter of 128 MiB may be higher.
  double fpr = kDefaultFpr;
  // Whether to add filters even if they are not worth their bytes.
  bool force = false;
  // Whether to replace existing filters. A filter in which no bit is set is always replaced if its
  // chunk has values.
  bool replace = false;
  SaveOptions save = {};  // how the new file is written
  // Called after each chunk. If it throws, AddFilters stops, leaves no file behind, and rethrows.
  std::function<void(const AddedFilter&)> on_chunk = {};
};

// The result of AddFilters.
struct AddResult {
  std::vector<AddedFilter> chunks = {};  // ordered by row group and column
  uint64_t old_bytes = 0;                // size of `from`
  uint64_t new_bytes = 0;                // size of `to`
};

// Writes a copy of `from` with Bloom filters to `to`: the bytes in front of the footer, one filter
// for each chunk of the columns, and the old footer with the offsets of the filters added.
//
// A filter is created for all values of its chunk and then folded to the size for its distinct
// keys. Unless options.force is true, a filter is left out in these cases, because it is not worth
// its bytes:
//   - The chunk has at most 8 distinct values, or only nulls.
//   - A dictionary that is no larger than the filter contains all values of the chunk.
//   - The chunk is no larger than the filter.
//
//   AddFilters("old.parquet", "new.parquet", OpenArrowValues, {.columns = {"id", "user.name"}});
//
// Saves `to` like Filter::Save, with options.save. Before the new file gets its name, it is read
// again: the bytes in front of the filters must equal those of `from`, and each filter must be at
// the offset in the footer. Takes at most 256 MiB of memory in addition to the footers and the
// decoder. Uses one thread.
//
// Throws
//   - Error(kInvalidArgument) for options out of range, for columns that do not exist or cannot
//     have filters (BOOLEAN, INT96), and if `to` is `from`;
//   - Error(kUnsupported) for files that are encrypted or signed, and for data in other files;
//   - FormatError(kCorrupt) in the cases of Footer::Read, and if the decoder returns more or fewer
//     values than the footer states;
//   - Error(kBusy) if `from` is changed, replaced or removed during the call;
//   - Error(kIo) and Error(kNotDurable) in the cases of Filter::Save;
//   - the exceptions of `open` and of its values.
AddResult AddFilters(const std::filesystem::path& from, const std::filesystem::path& to,
                     const OpenValues& open, const AddOptions& options);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_ADD_H_
