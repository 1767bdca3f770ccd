// Adds Bloom filters to Parquet files: a new file with the bytes of the old one, filters behind
// its data, and a footer that names them.
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

// Decodes pages, which tamis::parquet does not: OpenArrowValues of arrow_values.h is one.
class ColumnValues {
 public:
  using Take = std::function<void(const Keys& keys)>;

  ColumnValues() = default;
  virtual ~ColumnValues() = default;
  ColumnValues(const ColumnValues&) = delete;
  ColumnValues& operator=(const ColumnValues&) = delete;

  // Hands over every value of a column chunk but its nulls, in batches, as keys by their plain
  // encoding: FixedColumns of 4 bytes for INT32 and FLOAT, integers for INT64, FixedColumns of 8
  // for DOUBLE, and strings. `row_group` and `column` count from 0 as in Footer. Returns how many
  // values there are, nulls included: those that were not read would be missed by the filter.
  virtual uint64_t Read(size_t row_group, size_t column, const Take& take) = 0;
};

// Opens a file for its values to be read, by one thread.
using OpenValues = std::function<std::unique_ptr<ColumnValues>(const std::filesystem::path&)>;

// The bytes of the footer without what its columns stand for: logical types, which decoders make
// values of that are not those that were stored, and metadata of writers. With it a decoder reads
// the physical values, which filters are made of, off the same file.
std::vector<std::byte> PhysicalFooter(const Footer& footer);

// What became of a column chunk.
struct AddedFilter {
  enum class Outcome : uint8_t {
    kAdded,
    kReplaced,  // a filter that was there
    kKept,      // a filter that was there
    kLeftOut,   // it would not pay, as `reason` says
  };

  size_t row_group = 0;
  size_t column = 0;
  Outcome outcome = Outcome::kAdded;
  std::string reason = {};  // one sentence without a period; empty for kAdded and kReplaced
  uint64_t values = 0;      // of the chunk, nulls included
  // The rest is not known of kKept, and of a chunk without values.
  uint64_t distinct = 0;       // keys, by the bits of a filter
  uint64_t bytes = 0;          // bits of the filter, or of the one that was left out
  double fpr = 0;              // with these keys in so many bytes
  uint64_t offset = 0;         // of its header in the new file; kAdded and kReplaced only
  uint64_t bytes_in_file = 0;  // header, bits, and zeros for these to begin at a multiple of 32
};

struct AddOptions {
  // Paths of columns, as Schema::Find takes them.
  std::vector<std::string> columns = {};
  // The highest false-positive rate, in [kMinFpr, kMaxFpr]. Sizes are powers of two, which all
  // readers take, up to 128 MiB, at which the rate may be higher.
  double fpr = kDefaultFpr;
  // Filters also where they cannot pay.
  bool force = false;
  // Whether column chunks that have a filter get a new one. A filter without bits is replaced in
  // any case if the chunk has values.
  bool replace = false;
  SaveOptions save = {};
  // Called after each chunk. What it throws ends the work, and nothing is left behind.
  std::function<void(const AddedFilter&)> on_chunk = {};
};

struct AddResult {
  std::vector<AddedFilter> chunks = {};  // by row group and column
  uint64_t old_bytes = 0;                // of the files
  uint64_t new_bytes = 0;
};

// Writes `to`: what is in front of the footer of `from`, byte for byte, a filter for each chunk of
// the columns, and the footer with the places of these, all else in it as it was. A filter is sized
// to the distinct keys that it has: it begins as one for all values of its chunk, and is folded. It
// is left out where it cannot pay, but for options.force: where its chunk has no or few distinct
// values, has all of them in a dictionary that is no larger than the filter, or is itself no
// larger.
//
//   AddFilters("old.parquet", "new.parquet", OpenArrowValues, {.columns = {"id", "user.name"}});
//
// `to` is saved as filters are (SaveOptions), and is there only when it has been read again: its
// bytes in front of the filters are those of `from`, and the filters are where the footer says.
// Takes 256 MiB at most beside the footers and what decoding takes. One thread.
//
// Throws Error(kInvalidArgument) for options out of range, columns that are not there or cannot
// have filters (BOOLEAN, INT96), and if `to` is `from`; Error(kUnsupported) for files that are
// encrypted or signed, and for data in other files; FormatError(kCorrupt) as Footer::Read does, and
// if decoding gives more or fewer values than the footer tells of; Error(kBusy) if `from` changes
// meanwhile; Error(kIo) and Error(kNotDurable) as Filter::Save; and what `open` and its values
// throw.
AddResult AddFilters(const std::filesystem::path& from, const std::filesystem::path& to,
                     const OpenValues& open, const AddOptions& options);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_ADD_H_
