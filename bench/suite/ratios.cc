#include "bench/suite/ratios.h"

#include <algorithm>

#include "bench/suite/subject.h"
#include "bench/timing.h"

namespace tamis::bench {
namespace {

Case InBulk(const Row& row) {
  Case bulk = row.point;
  bulk.threads = 1;
  bulk.call_keys = 0;
  if (bulk.operation == Operation::kOneKey || bulk.operation == Operation::kEngineContains ||
      bulk.operation == Operation::kContainsBesideWriter) {
    bulk.operation = Operation::kContains;
  }
  if (bulk.operation == Operation::kBuildOneKey || bulk.operation == Operation::kBuildIfAbsent) {
    bulk.operation = Operation::kBuild;
  }
  return bulk;
}

// Returns the row of `kind` that equals `row` in everything except `point`. Peers have no backends.
const Row* Find(const std::vector<Row>& rows, const std::string& kind, const Row& row,
                const Case& point) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& other) {
    Case wanted = point;
    if (kind != row.kind) wanted.backend = other.point.backend;
    return other.kind == kind && other.size_class == row.size_class &&
           other.huge_pages == row.huge_pages && other.point == wanted;
  });
  return found == rows.end() ? nullptr : &*found;
}

// Returns the kind that a row is compared with: the plain kind for a concurrent kind, otherwise the
// first kind.
std::string ComparedKind(const std::vector<Row>& rows, const Row& row) {
  if (!row.kind.starts_with(kConcurrentPrefix)) return rows.front().kind;
  return row.kind.substr(kConcurrentPrefix.size());
}

Ratio RatioOf(const Row& row, const Row& to) {
  std::vector<double> samples;
  for (size_t i = 0; i < std::min(row.ns_per_key.size(), to.ns_per_key.size()); ++i) {
    samples.push_back(row.ns_per_key[i] / to.ns_per_key[i]);
  }
  return {&row, &to, Median(samples), Quantile(samples, 0), Quantile(samples, 1)};
}

}  // namespace

std::vector<Ratio> Ratios(const std::vector<Row>& rows) {
  std::vector<Ratio> ratios;
  for (const Row& row : rows) {
    const Row* const bulk = Find(rows, row.kind, row, InBulk(row));
    const std::string kind = ComparedKind(rows, row);
    // A plain filter cannot be queried while it changes. So such a row is compared with the plain
    // filter's bulk operation: the ratio is the cost of a writer.
    const bool beside = row.point.operation == Operation::kContainsBesideWriter;
    const Row* const other = Find(rows, kind, row, beside ? InBulk(row) : row.point);
    for (const Row* const to : {bulk, other}) {
      if (to != nullptr && to != &row) ratios.push_back(RatioOf(row, *to));
    }
  }
  return ratios;
}

}  // namespace tamis::bench
