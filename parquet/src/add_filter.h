// Builds the filter of one column chunk, and decides whether it is worth its bytes.
#ifndef TAMIS_PARQUET_SRC_ADD_FILTER_H_
#define TAMIS_PARQUET_SRC_ADD_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tamis/filters/split_block_filter.h"
#include "tamis/parquet/add.h"
#include "tamis/parquet/footer.h"

namespace tamis::parquet {

// All readers accept powers of two up to this size.
inline constexpr uint64_t kMaxAddedBytes = uint64_t{128} << 20;

struct BuiltFilter {
  SplitBlockBloomFilter filter;
  uint64_t present = 0;   // number of values that are not null
  uint64_t distinct = 0;  // number of distinct values, estimated from the bits
  double fpr = 0;         // false-positive rate with these values
};

// Builds a filter of all values of a chunk, of the smallest size with a rate of at most `fpr` for
// the distinct keys. Throws FormatError(kCorrupt) if the number of values, nulls included, is not
// chunk.values.
BuiltFilter BuildFilter(ColumnValues& values, size_t row_group, size_t column,
                        const ColumnChunk& chunk, double fpr);

// Returns the size of the chunk's dictionary in the file. Returns nothing unless the footer states
// that all values of the chunk are in the dictionary (ColumnMetaData.encoding_stats).
std::optional<uint64_t> FullDictionaryBytes(const Footer& footer, size_t row_group, size_t column);

// Returns the reason why a filter of `bytes_in_file` bytes is not worth its bytes, as in
// AddedFilter::reason. Returns "" if the filter may be worth them.
std::string WhyNotPaying(const Footer& footer, size_t row_group, size_t column,
                         const ColumnChunk& chunk, const BuiltFilter& built,
                         uint64_t bytes_in_file);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_ADD_FILTER_H_
