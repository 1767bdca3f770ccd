// The filter of one column chunk: made of its values, and whether it is worth its bytes.
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

// Sizes that all readers take are powers of two up to this.
inline constexpr uint64_t kMaxAddedBytes = uint64_t{128} << 20;

struct BuiltFilter {
  SplitBlockBloomFilter filter;
  uint64_t present = 0;   // values that are not null
  uint64_t distinct = 0;  // of them, by the bits
  double fpr = 0;         // at that fill
};

// Of all values of a chunk, in as few bytes as `fpr` takes for the keys that are distinct. Throws
// FormatError(kCorrupt) if they are not chunk.values, nulls included.
BuiltFilter BuildFilter(ColumnValues& values, size_t row_group, size_t column,
                        const ColumnChunk& chunk, double fpr);

// The bytes of the dictionary in the file, if all values of the chunk are in it and the footer says
// so (ColumnMetaData.encoding_stats).
std::optional<uint64_t> FullDictionaryBytes(const Footer& footer, size_t row_group, size_t column);

// Why a filter that takes `bytes_in_file` cannot pay, as in AddedFilter; empty if it may.
std::string WhyNotPaying(const Footer& footer, size_t row_group, size_t column,
                         const ColumnChunk& chunk, const BuiltFilter& built,
                         uint64_t bytes_in_file);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_SRC_ADD_FILTER_H_
