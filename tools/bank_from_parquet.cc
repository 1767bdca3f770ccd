#include "tools/bank_from_parquet.h"

#include <tamis/error.h>
#include <tamis/key_forms.h>
#include <tamis/parquet/bloom_filter.h>
#include <tamis/parquet/footer.h>
#include <tamis/parquet/source.h>

#include <cstddef>
#include <memory>
#include <span>

namespace tamis::tools {
namespace {

using parquet::ColumnChunk;
using parquet::Footer;
using parquet::PhysicalType;
using parquet::Source;

KeyForm FormOf(const parquet::Column& column, const std::string& where) {
  switch (column.physical) {
    case PhysicalType::kInt32:
      return KeyForm::kInt32;
    case PhysicalType::kInt64:
      return KeyForm::kInteger;
    case PhysicalType::kFloat:
      return KeyForm::kFloat;
    case PhysicalType::kDouble:
      return KeyForm::kDouble;
    case PhysicalType::kByteArray:
    case PhysicalType::kFixedLenByteArray:
      return KeyForm::kBytes;
    case PhysicalType::kBoolean:
    case PhysicalType::kInt96:
      break;
  }
  throw Error(ErrorCode::kUnsupported,
              where + ": filters of columns of type " + TypeText(column) + " are of no use");
}

// The filter in a file, with its header.
SplitBlockBloomFilter ReadFilter(const Source& source, const Footer& footer,
                                 const ColumnChunk& chunk) {
  const parquet::FilterPlace place = FindFilter(source, footer, chunk);
  std::vector<std::byte> bytes(place.bytes());
  source.Read(place.header_offset, bytes);
  return parquet::FromParquet(bytes);
}

// A filter of one block that says "maybe" to every key.
SplitBlockBloomFilter FullFilter() {
  std::string bytes =
      parquet::ToParquet(SplitBlockBloomFilter({.bytes = 32, .hash = parquet::kFilterHash}));
  bytes.replace(bytes.size() - 32, 32, 32, '\xFF');
  return parquet::FromParquet(std::as_bytes(std::span(bytes)));
}

bool HasNoValue(const ColumnChunk& chunk) {
  return chunk.values == 0 || chunk.statistics.nulls == chunk.values;
}

}  // namespace

ParquetFilters ForParquetFilters(
    const std::vector<std::filesystem::path>& files, const ParquetFilterOptions& options,
    const std::function<void(const std::string& name, const SplitBlockBloomFilter& filter)>& add) {
  ParquetFilters made;
  for (const std::filesystem::path& path : files) {
    const std::unique_ptr<Source> source = parquet::OpenSource(path);
    const Footer footer = Footer::Read(*source);
    size_t column = 0;
    try {
      column = footer.schema().Find(options.column);
    } catch (const Error& error) {
      throw Error(error.code(), path.string() + ": " + error.what());
    }
    const KeyForm form = FormOf(footer.schema().columns()[column], path.string());
    for (size_t group = 0; group < footer.row_groups().size(); ++group) {
      const std::string name = path.string() + "#" + std::to_string(group);
      const ColumnChunk chunk = footer.Chunk(group, column);
      if (!chunk.filter_offset && HasNoValue(chunk)) {
        ++made.empty;
        continue;
      }
      if (!chunk.filter_offset && !options.keep_without_filter) {
        throw Error(ErrorCode::kInvalidArgument,
                    path.string() + ": row group " + std::to_string(group) +
                        " has no Bloom filter for this column, and a bank without it would say no "
                        "to what is in it: `tamis parquet add` makes one, and "
                        "--keep-without-filter a column that may have every key");
      }
      SplitBlockBloomFilter filter =
          chunk.filter_offset ? ReadFilter(*source, footer, chunk) : FullFilter();
      filter.set_key_forms(form);
      add(name, filter);
      ++made.added;
      made.without_filter += !chunk.filter_offset;
    }
  }
  if (made.added == 0) {
    throw Error(ErrorCode::kInvalidArgument, "no row group of these files has a value");
  }
  return made;
}

}  // namespace tamis::tools
