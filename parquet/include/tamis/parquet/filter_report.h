// What the Bloom filters of a file are worth.
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

// The sizes that all readers take.
inline constexpr uint64_t kMinCommonBytes = 32;
inline constexpr uint64_t kMaxCommonBytes = uint64_t{128} << 20;

// The bits, in bytes, of the smallest filter that all readers take and that has this rate for so
// many distinct keys: a power of two; kMaxCommonBytes where that is not enough.
uint64_t CommonBytes(uint64_t keys, double fpr);

// Of one column in one row group.
struct FilterReport {
  bool present = false;
  std::string problem = {};  // why it cannot be read; else ""
  uint64_t bytes = 0;        // with its header
  double fill = 0;           // share of its bits that are set
  double keys = 0;           // distinct ones, estimated; infinite where all bits are set
  double rate = 0;           // of false hits, at this fill
  uint64_t right_bytes = 0;  // with a header, for that many keys; 0 if nobody knows how many
};

struct ColumnReport {
  std::string path;
  Column column = {};
  std::vector<FilterReport> groups = {};
  uint64_t filter_bytes = 0;  // of all groups
  uint64_t data_bytes = 0;    // of the column's pages
  double rate = 0;            // mean of the filters that can be read
  std::string verdict = {};   // one sentence: are they worth their bytes?
  // Which statistics are not used, and why: Statistics::ignored of all groups.
  std::set<std::string> ignored = {};

  size_t present() const noexcept;
};

struct FileReport {
  uint64_t file_bytes = 0;
  uint64_t rows = 0;
  std::string writer = {};
  std::vector<ColumnReport> columns = {};
};

// Reads the footer and all filters, of which a right-sized one would have a rate of `fpr`. Throws
// as Footer::Read; what is wrong with a filter is in its report. Throws Error(kInvalidArgument) for
// an fpr out of [kMinFpr, kMaxFpr].
FileReport ReportFilters(const Source& source, double fpr = 0.01);

}  // namespace tamis::parquet

#endif  // TAMIS_PARQUET_FILTER_REPORT_H_
