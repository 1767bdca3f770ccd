#include "parquet/src/file_asker.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::parquet {
namespace {

constexpr size_t kUntilFirstHit = 4096;  // keys per query between checks for a hit

// Returns whether the values of both columns have the same storage and order.
bool SameType(const Column& a, const Column& b) {
  return a.physical == b.physical && a.width == b.width && a.logical == b.logical;
}

}  // namespace

AskedType KeysByType::Of(const Column& column) {
  const std::lock_guard lock(mutex_);
  for (const AskedType& type : types_) {
    if (SameType(type.column, column)) return type;
  }
  AskedType type = {column};
  try {
    auto keys = std::make_shared<const ColumnKeys>(column, list_);
    if (keys->size() == 0 && keys->not_numbers().empty()) {
      type.problem = "no key fits the type " + TypeText(column);
    }
    type.keys = std::move(keys);
  } catch (const Error& error) {
    type.problem = error.what();
  }
  types_.push_back(type);
  return type;
}

std::vector<AskedType> KeysByType::all() const {
  const std::lock_guard lock(mutex_);
  return types_;
}

FileAsker::FileAsker(const Source& source, KeysByType& types, const PrunerOptions& options)
    : source_(source), options_(options) {
  try {
    footer_ = std::make_unique<Footer>(Footer::Read(source));
    column_ = footer_->schema().Find(options.column);
    AskedType type = types.Of(footer_->schema().columns()[column_]);
    doubt_ = std::move(type.problem);
    keys_ = std::move(type.keys);
  } catch (const Error& error) {
    doubt_ = error.what();
  }
}

FileAsker::Range FileAsker::Within(const ColumnChunk& chunk) const {
  if (!options_.bounds || !footer_->ordered(column_)) return {0, keys_->size()};
  const auto [begin, end] = keys_->Within(chunk.statistics);
  return {begin, end};
}

void FileAsker::KeepAll(const Range& range, GroupAnswer& answer) const {
  const auto zero = keys_->zero();
  const bool both = zero && *zero >= range.begin && *zero < range.end;
  answer.hits = keys_->not_numbers().size() + range.size() - (both ? 1 : 0);
  if (options_.detail != Detail::kPairs) return;
  for (size_t i = range.begin; i < range.end; ++i) {
    if (!(both && i == *zero + 1)) answer.keys.push_back(keys_->KeyAt(i));
  }
}

void FileAsker::AskFilter(const ConstSplitBlockView& view, const Range& range, AskerMemory& memory,
                          GroupAnswer& answer) const {
  const auto hashes = keys_->hashes().subspan(range.begin, range.size());
  if (options_.detail == Detail::kGroups) {
    for (size_t begin = 0; begin < hashes.size() && answer.hits == 0; begin += kUntilFirstHit) {
      const size_t count = std::min(kUntilFirstHit, hashes.size() - begin);
      if (view.Count(Hashes{hashes.subspan(begin, count)}) > 0) answer.hits = 1;
    }
    return;
  }
  // The positions of +0 and -0 belong to one key.
  const auto zero = keys_->zero();
  const bool twice = zero && *zero >= range.begin && *zero < range.end &&
                     view.ContainsHash(keys_->hashes()[*zero]) &&
                     view.ContainsHash(keys_->hashes()[*zero + 1]);
  if (options_.detail == Detail::kCounts) {
    answer.hits += view.Count(Hashes{hashes}) - (twice ? 1 : 0);
    return;
  }
  memory.positions.resize(hashes.size());
  const size_t found = view.Select(Hashes{hashes}, std::span(memory.positions));
  for (size_t i = 0; i < found; ++i) {
    const size_t position = range.begin + memory.positions[i];
    if (!(twice && position == *zero + 1)) answer.keys.push_back(keys_->KeyAt(position));
  }
  answer.hits = answer.keys.size();
}

void FileAsker::AskChunk(size_t group, AskerMemory& memory, GroupAnswer& answer) const {
  const ColumnChunk chunk = footer_->Chunk(group, column_);
  if (chunk.values < answer.rows) {
    // `values` includes nulls, so it is the number of rows or more. A writer that leaves nulls out
    // here may count them wrongly elsewhere, so the statistics cannot be trusted.
    throw Error(ErrorCode::kCorrupt,
                detail::StrCat("the column has ", chunk.values, " values, nulls included, in ",
                               answer.rows, " rows"));
  }
  const auto not_numbers = keys_->not_numbers();
  const bool has_filter = chunk.filter_offset && options_.filters;
  const auto read_filter = [&] {
    return ReadFilter(source_, FindFilter(source_, *footer_, chunk), memory.buffer,
                      options_.backend);
  };
  bool no_values = chunk.values == 0 || (options_.bounds && !chunk.MayHaveValues());
  // A filter with set bits shows that there are values, even if the writer states that all are
  // null.
  if (no_values && chunk.values != 0 && has_filter) no_values = HasNoBits(read_filter());
  // Some writers count not-a-number as null.
  if (no_values && (chunk.values == 0 || not_numbers.empty())) {
    answer.outcome = Outcome::kNoValues;
    return;
  }
  const Range range = no_values ? Range{} : Within(chunk);
  if (options_.detail == Detail::kPairs) answer.keys.assign(not_numbers.begin(), not_numbers.end());
  answer.hits = not_numbers.size();
  if (range.size() == 0) {
    answer.outcome = not_numbers.empty() ? Outcome::kBounds : Outcome::kHits;
    return;
  }
  if (!has_filter) {
    answer.outcome = Outcome::kNoFilter;
    return KeepAll(range, answer);
  }
  const ConstSplitBlockView filter = read_filter();
  RequireBits(filter, chunk);
  AskFilter(filter, range, memory, answer);
  answer.outcome = answer.hits > 0 ? Outcome::kHits : Outcome::kFilter;
}

GroupAnswer FileAsker::Ask(size_t group, AskerMemory& memory) const {
  const RowGroup& about = footer_->row_groups()[group];
  GroupAnswer answer = {.rows = about.rows,
                        .bytes = about.file_bytes != 0 ? about.file_bytes : about.bytes};
  try {
    AskChunk(group, memory, answer);
  } catch (const Error& error) {
    answer.outcome = Outcome::kDoubt;
    answer.hits = 0;
    answer.keys.clear();
    answer.doubt = error.what();
  }
  return answer;
}

void FileAsker::Sample(size_t group, AskerMemory& memory, Prediction& sums) const {
  try {
    const ColumnChunk chunk = footer_->Chunk(group, column_);
    const Range range = Within(chunk);
    if (!chunk.filter_offset || range.size() == 0) return;
    const FilterPlace place = FindFilter(source_, *footer_, chunk);
    const ConstSplitBlockView filter = ReadFilter(source_, place, memory.buffer, options_.backend);
    RequireBits(filter, chunk);
    const double rate = filter.expected_fpr();
    const auto keys = static_cast<double>(range.size());
    ++sums.filters;
    sums.keys += keys;
    sums.rate += rate;
    sums.false_hits += keys * rate;
    if (keys_->not_numbers().empty()) sums.ruled_out += std::pow(1 - rate, keys);
  } catch (const Error&) {  // Run reports the error
  }
}

}  // namespace tamis::parquet
