// Reports whether the Bloom filters of a file are worth their bytes.
#ifndef TAMIS_PARQUET_FILTER_REPORT_H_
#define TAMIS_PARQUET_FILTER_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tamis/parquet/footer.h"
#include "tamis/parquet/source.h"

namespace tamis::parquet {

// All readers accept powers of two from kMinCommonBytes to kMaxCommonBytes.
inline constexpr uint64_t kMinCommonBytes = 32;
inline constexpr uint64_t kMaxCommonBytes = uint64_t{128} << 20;

// Returns the size in bytes, a power of two, of the smallest filter that all readers accept and
// that has a false-positive rate of at most `fpr` for `keys` distinct keys. The size does not
// include the header. If no such filter exists, returns kMaxCommonBytes. Throws
// Error(kInvalidArgument) if `fpr` is not in [kMinFpr, kMaxFpr].
uint64_t CommonBytes(uint64_t keys, double fpr);

// The filter of one column in one row group.
struct FilterReport {
  bool present = false;      // whether the row group has a filter
  std::string problem = {};  // why the filter cannot be read; otherwise ""
  uint64_t bytes = 0;        // size of the filter, with its header
  double fill = 0;           // share of bits that are set
  double keys = 0;           // estimated number of distinct keys; infinite if all bits are set
  double rate = 0;           // false-positive rate at this fill
  uint64_t right_bytes = 0;  // size, with header, of a filter for `keys`; 0 if `keys` is infinite
};

// The filters of one column.
struct ColumnReport {
  std::string path;                       // path of the column, in the syntax of Schema::Find
  Column column = {};                     // the type of the column
  std::vector<FilterReport> groups = {};  // one report for each row group
  uint64_t filter_bytes = 0;              // size of the filters of all groups
  uint64_t data_bytes = 0;                // size of the column's pages
  double rate = 0;                        // mean over the filters that can be read
  std::string verdict = {};               // one sentence: whether the filters are worth their bytes
  // Statistics that are not used, with reasons: Statistics::ignored of all groups.
  std::set<std::string> ignored = {};

  // Returns the number of row groups that have a filter.
  size_t present() const noexcept;
};

// The filters of one file.
struct FileReport {
  uint64_t file_bytes = 0;                 // size of the file
  uint64_t rows = 0;                       // number of rows
  std::string writer = {};                 // the program that wrote the file, from its footer
  std::vector<ColumnReport> columns = {};  // one report for each column
};

// Reads the footer and all filters. Compares each filter with a filter of rate `fpr` for the same
// keys. If a filter cannot be read, FilterReport::problem has the reason. Throws the exceptions of
// Footer::Read, and Error(kInvalidArgument) if `fpr` is not in [kMinFpr, kMaxFpr].
FileReport ReportFilters(const Source& source, double fpr = 0.01);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_FILTER_REPORT_H_
