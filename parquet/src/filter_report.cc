#include "tamis/parquet/filter_report.h"

#include <algorithm>
#include <cmath>

#include "parquet/src/filter_header.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/layout/split_block.h"
#include "tamis/parquet/bloom_filter.h"
#include "tamis/units.h"

namespace tamis::parquet {
namespace {

constexpr double kUseless = 0.5;  // a filter with a higher false-positive rate is useless
constexpr double kOversized = 2;  // filters of more than twice the sufficient size are too large

std::string Size(uint64_t bytes) { return BytesText(static_cast<double>(bytes)); }

double Share(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// Throws if the filter cannot be used. Then only the members that were read before are set in
// `report`.
void Read(const Source& source, const Footer& footer, const ColumnChunk& chunk, double fpr,
          FilterBuffer& buffer, FilterReport& report) {
  const FilterPlace place = FindFilter(source, footer, chunk);
  report.bytes = place.bytes();
  const ConstSplitBlockView view = ReadFilter(source, place, buffer);
  RequireBits(view, chunk);
  report.keys = view.estimated_count();
  report.rate = view.expected_fpr();
  // Computes the share of set bits from the estimated number of keys: each key sets one of the 32
  // bits in each word of its block.
  report.fill = std::isfinite(report.keys)
                    ? 1 - std::exp(-report.keys / (32.0 * static_cast<double>(view.num_blocks())))
                    : 1;
  if (std::isfinite(report.keys)) {
    const uint64_t bits = CommonBytes(static_cast<uint64_t>(std::llround(report.keys)), fpr);
    report.right_bytes = FilterHeader(bits).size() + bits;
  }
}

std::string Verdict(const ColumnReport& column, uint64_t file_bytes, double fpr) {
  const size_t present = column.present();
  const auto problem = std::find_if(column.groups.begin(), column.groups.end(),
                                    [](const FilterReport& r) { return !r.problem.empty(); });
  if (problem != column.groups.end()) {
    return (present > 0 ? "Not all of its filters can be used: "
                        : "It is unknown whether it has filters: ") +
           problem->problem + ".";
  }
  if (present == 0) return "It has no filters.";
  const std::string cost = Size(column.filter_bytes) + ", " +
                           ShortPercentText(Share(column.filter_bytes, file_bytes)) +
                           " of the file";
  if (column.rate > kUseless) {
    return "No: they are too full, and let " + ShortPercentText(column.rate) +
           " of absent keys pass, for " + cost + ".";
  }
  if (column.filter_bytes >= column.data_bytes) {
    return "No: with " + cost + " they are as large as the column's own data (" +
           Size(column.data_bytes) + "), which could be read instead.";
  }
  const std::string spares =
      "they let " + ShortPercentText(column.rate) + " of absent keys pass, for " + cost + " and " +
      ShortPercentText(Share(column.filter_bytes, column.data_bytes)) + " of the column's data";
  uint64_t right = 0;
  for (const FilterReport& report : column.groups) right += report.right_bytes;
  if (static_cast<double>(column.filter_bytes) > kOversized * static_cast<double>(right)) {
    return "Yes, but they are too large: " + spares + "; " + Size(right) + " would be enough at " +
           ShortPercentText(fpr) + ".";
  }
  if (present < column.groups.size()) {
    return detail::StrCat("Yes, where they are: in ", present, " of ", column.groups.size(),
                          " row groups ", spares, ".");
  }
  return "Yes: " + spares + ".";
}

}  // namespace

uint64_t CommonBytes(uint64_t keys, double fpr) {
  if (!(fpr >= kMinFpr && fpr <= kMaxFpr)) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("a rate of ", std::to_string(fpr), "; allowed: from 1e-12 to 0.5"));
  }
  uint64_t bytes = kMinCommonBytes;
  while (bytes < kMaxCommonBytes &&
         SplitBlockFpr(static_cast<double>(keys), bytes / split_block::kBlockBytes) > fpr) {
    bytes *= 2;
  }
  return bytes;
}

size_t ColumnReport::present() const noexcept {
  return static_cast<size_t>(
      std::count_if(groups.begin(), groups.end(), [](const FilterReport& r) { return r.present; }));
}

FileReport ReportFilters(const Source& source, double fpr) {
  CommonBytes(1, fpr);  // checks the rate
  const Footer footer = Footer::Read(source);
  FileReport file = {source.size(), footer.rows(), footer.created_by()};
  FilterBuffer buffer;
  for (size_t c = 0; c < footer.schema().columns().size(); ++c) {
    ColumnReport column = {footer.schema().PathOf(c), footer.schema().columns()[c]};
    size_t readable = 0;
    for (size_t g = 0; g < footer.row_groups().size(); ++g) {
      FilterReport report;
      try {
        const ColumnChunk chunk = footer.Chunk(g, c);
        column.data_bytes += chunk.compressed_bytes;
        column.ignored.insert(chunk.statistics.ignored.begin(), chunk.statistics.ignored.end());
        report.present = chunk.filter_offset.has_value();
        if (report.present) {
          Read(source, footer, chunk, fpr, buffer, report);
          column.rate += report.rate;
          ++readable;
        }
      } catch (const Error& error) {
        report.problem = error.what();
      }
      column.filter_bytes += report.bytes;
      column.groups.push_back(std::move(report));
    }
    if (readable > 0) column.rate /= static_cast<double>(readable);
    column.verdict = Verdict(column, file.file_bytes, fpr);
    file.columns.push_back(std::move(column));
  }
  return file;
}

}  // namespace tamis::parquet
