#include "parquet/src/add_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "parquet/src/fields.h"
#include "parquet/src/thrift_places.h"
#include "parquet/src/thrift_walker.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/parquet/bloom_filter.h"

namespace tamis::parquet {
namespace {

constexpr uint64_t kBlockBytes = 32;
// With at most this number of distinct values, a key that a reader looks for is about equally
// likely in every row group, so a filter rules out little.
constexpr uint64_t kFewKeys = 8;

// From parquet.thrift.
enum PageType : int64_t { kDataPage = 0, kDataPageV2 = 3 };
enum Encoding : int64_t { kPlainDictionary = 2, kRleDictionary = 8 };

// Returns a power of two.
uint64_t BytesFor(uint64_t keys, double fpr) {
  constexpr uint64_t kMost = kMaxAddedBytes / kBlockBytes;
  if (keys >= SplitBlockCapacity(kMost, fpr)) return kMaxAddedBytes;
  const uint64_t blocks = SplitBlockBlocks(std::max<uint64_t>(keys, 1), fpr);
  return kBlockBytes * std::min(kMost, std::bit_ceil(blocks));
}

struct PageStatistics {
  std::optional<int64_t> type;
  std::optional<int64_t> encoding;
  int64_t count = 1;

  bool OfOtherData() const {
    const bool data = type == kDataPage || type == kDataPageV2;
    const bool dictionary = encoding == kPlainDictionary || encoding == kRleDictionary;
    return !type || !encoding || (data && !dictionary && count != 0);
  }
};

PageStatistics ReadPageStatistics(ThriftWalker& walker) {
  namespace id = fields::page_encoding_stats;
  PageStatistics statistics;
  ThriftStruct fields(walker);
  while (const auto field = fields.Next()) {
    if (field->type != ThriftType::kI32) continue;
    if (field->id == id::kPageType) statistics.type = walker.Integer(field->type);
    if (field->id == id::kEncoding) statistics.encoding = walker.Integer(field->type);
    if (field->id == id::kCount) statistics.count = walker.Integer(field->type);
  }
  return statistics;
}

std::string BytesWritten(uint64_t bytes) { return detail::StrCat(bytes, " bytes"); }

}  // namespace

BuiltFilter BuildFilter(ColumnValues& values, size_t row_group, size_t column,
                        const ColumnChunk& chunk, double fpr) {
  BuiltFilter built = {
      .filter = SplitBlockBloomFilter({.bytes = BytesFor(chunk.values, fpr), .hash = kFilterHash})};
  const uint64_t read = values.Read(row_group, column, [&built](const Keys& keys) {
    built.present += keys.CountValid();
    built.filter.Insert(keys);
  });
  // The filter would answer "no" for a value that was not read.
  if (read != chunk.values || built.present > read) {
    throw FormatError(
        ErrorCode::kCorrupt, "values", chunk.first_page,
        detail::StrCat(read, " values were read, but the footer states ", chunk.values));
  }
  const double keys = std::min(built.filter.estimated_count(), static_cast<double>(built.present));
  while (built.filter.num_blocks() > 1 &&
         SplitBlockFpr(keys, built.filter.num_blocks() / 2) <= fpr) {
    built.filter = built.filter.Folded();
  }
  built.distinct = static_cast<uint64_t>(std::llround(keys));
  built.fpr = SplitBlockFpr(keys, built.filter.num_blocks());
  return built;
}

std::optional<uint64_t> FullDictionaryBytes(const Footer& footer, size_t row_group, size_t column) {
  namespace id = fields::column_meta_data;
  const PlacedStruct chunk =
      PlacesOf(footer.bytes(), footer.ChunkAt(row_group, column), footer.offset());
  const PlacedField* const meta = chunk.Find(fields::column_chunk::kMetaData);
  if (meta == nullptr || meta->field.type != ThriftType::kStruct) return std::nullopt;
  ThriftWalker walker(footer.bytes(), footer.offset(), meta->field.value_at);
  ThriftStruct fields(walker);
  int64_t dictionary_page = 0;
  int64_t data_page = 0;
  bool known = false;
  while (const auto field = fields.Next()) {
    if (field->id == id::kDataPage && field->type == ThriftType::kI64) {
      data_page = walker.Integer(field->type);
    } else if (field->id == id::kDictionaryPage && field->type == ThriftType::kI64) {
      dictionary_page = walker.Integer(field->type);
    } else if (field->id == id::kEncodingStats && field->type == ThriftType::kList) {
      const ThriftList list = walker.List();
      if (list.element != ThriftType::kStruct) return std::nullopt;
      for (uint32_t i = 0; i < list.size; ++i) {
        if (ReadPageStatistics(walker).OfOtherData()) return std::nullopt;
      }
      known = list.size > 0;
    }
  }
  if (!known || dictionary_page <= 0 || data_page <= dictionary_page) return std::nullopt;
  return static_cast<uint64_t>(data_page - dictionary_page);
}

std::string WhyNotPaying(const Footer& footer, size_t row_group, size_t column,
                         const ColumnChunk& chunk, const BuiltFilter& built,
                         uint64_t bytes_in_file) {
  if (built.present == 0) return "all values are null";
  if (built.distinct <= kFewKeys) {
    return detail::StrCat("few distinct values: ", built.distinct, " among ", built.present);
  }
  const auto smaller = [&](const std::string& what, uint64_t bytes) {
    return what + ", which takes " + BytesWritten(bytes) + ", and the filter takes " +
           BytesWritten(bytes_in_file);
  };
  const std::optional<uint64_t> dictionary = FullDictionaryBytes(footer, row_group, column);
  if (dictionary && *dictionary <= bytes_in_file) {
    return smaller("all values are in the dictionary", *dictionary);
  }
  if (chunk.compressed_bytes <= bytes_in_file) {
    return smaller("it is no smaller than the column chunk", chunk.compressed_bytes);
  }
  return "";
}

}  // namespace tamis::parquet
