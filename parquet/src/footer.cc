#include "tamis/parquet/footer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "parquet/src/fields.h"
#include "parquet/src/known_faults.h"
#include "parquet/src/schema_reader.h"
#include "parquet/src/thrift_walker.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::parquet {
namespace {

constexpr uint64_t kMagicBytes = 4;
constexpr uint64_t kEndBytes = 8;  // length of the footer, and the magic number again

[[noreturn]] void Corrupt(const std::string& check, uint64_t offset, const std::string& what) {
  throw FormatError(ErrorCode::kCorrupt, check, offset, what);
}

// Reads a number that must not be negative.
uint64_t Unsigned(ThriftWalker& walker, const ThriftField& field) {
  const int64_t value = walker.Integer(field.type);
  if (value < 0) {
    walker.Fail(field.value_at, detail::StrCat("field ", field.id, " is ", value));
  }
  return static_cast<uint64_t>(value);
}

Statistics ReadStatistics(ThriftWalker& walker) {
  namespace id = fields::statistics;
  Statistics statistics;
  ThriftStruct fields(walker);
  while (const auto field = fields.Next()) {
    const ThriftType type = field->type;
    if (field->id == id::kNulls && type == ThriftType::kI64) {
      statistics.nulls = Unsigned(walker, *field);
    } else if (field->id == id::kDistinct && type == ThriftType::kI64) {
      statistics.distinct = Unsigned(walker, *field);
    } else if (field->id == id::kMaxValue && type == ThriftType::kBinary) {
      statistics.max = walker.Binary();
    } else if (field->id == id::kMinValue && type == ThriftType::kBinary) {
      statistics.min = walker.Binary();
    } else if (field->id == id::kMaxExact && field->boolean()) {
      statistics.max_exact = type == ThriftType::kTrue;
    } else if (field->id == id::kMinExact && field->boolean()) {
      statistics.min_exact = type == ThriftType::kTrue;
    }
  }
  return statistics;
}

// Checks that a chunk has the path of column `column`. Readers find columns by index, so they would
// read a different column if a row group had another order.
void RequirePath(ThriftWalker& walker, const Schema& schema, size_t column) {
  const size_t begin = walker.at();
  const ThriftList list = walker.List();
  std::vector<std::string_view> names = {schema.columns()[column].name};  // innermost first
  for (size_t group = schema.columns()[column].parent; group != 0;
       group = schema.groups()[group].parent) {
    names.push_back(schema.groups()[group].name);
  }
  bool same = list.element == ThriftType::kBinary && list.size == names.size();
  for (; same && !names.empty(); names.pop_back()) same = walker.Binary() == names.back();
  if (!same) {
    walker.Fail(begin,
                "a column path that differs from " + schema.PathOf(column) + " in the schema");
  }
}

// Returns whether all writers order values of this kind in the same way.
bool HasOrder(const Column& column) {
  switch (column.logical.kind) {
    case LogicalType::Kind::kInterval:
    case LogicalType::Kind::kNull:
    case LogicalType::Kind::kOther:
      return false;
    default:
      return column.physical != PhysicalType::kInt96;
  }
}

// Reads the list at the walker: whether each column has the order of its type.
std::vector<bool> ReadOrders(ThriftWalker& walker, const Schema& schema) {
  const size_t begin = walker.at();
  const ThriftList list = walker.List();
  std::vector<bool> ordered(schema.columns().size(), false);
  if (list.element != ThriftType::kStruct || list.size != ordered.size()) {
    walker.Fail(begin, "a number of column orders that is not the number of columns");
  }
  for (size_t i = 0; i < ordered.size(); ++i) {
    ThriftStruct fields(walker);
    while (const auto field = fields.Next()) {
      ordered[i] = field->id == fields::column_order::kTypeOrder && HasOrder(schema.columns()[i]);
    }
  }
  return ordered;
}

}  // namespace

Footer Footer::Read(const Source& source) {
  const uint64_t size = source.size();
  const auto damaged = [&](uint64_t offset, const std::string& what) {
    Corrupt("footer", offset, source.name() + ": " + what);
  };
  if (size < 2 * kMagicBytes + kEndBytes - kMagicBytes) {
    damaged(0, detail::StrCat("has ", size, " bytes, too few for a Parquet file"));
  }
  std::array<std::byte, kEndBytes> end;
  source.Read(size - kEndBytes, end);
  const std::string_view magic(reinterpret_cast<const char*>(end.data()) + 4, kMagicBytes);
  if (magic == "PARE") {
    throw Error(ErrorCode::kUnsupported, source.name() + ": its footer is encrypted");
  }
  if (magic != "PAR1") damaged(size - kMagicBytes, "does not end as a Parquet file (PAR1)");
  uint64_t bytes = 0;
  for (size_t i = 0; i < 4; ++i) bytes |= static_cast<uint64_t>(end[i]) << (8 * i);
  if (bytes > size - kEndBytes - kMagicBytes || bytes > kMaxBytes) {
    damaged(size - kEndBytes, detail::StrCat("a footer of ", bytes, " bytes in a file of ", size));
  }
  std::vector<std::byte> footer(static_cast<size_t>(bytes));
  source.Read(size - kEndBytes - bytes, footer);
  return Footer(std::move(footer), size - kEndBytes - bytes);
}

Footer::Footer(std::vector<std::byte> bytes, uint64_t offset)
    : bytes_(std::move(bytes)), offset_(offset) {
  namespace id = fields::file_meta_data;
  // Fields may come in any order, and parsing row groups requires the schema.
  size_t schema_at = 0;
  size_t groups_at = 0;
  size_t orders_at = 0;
  ThriftWalker walker(bytes_, offset_);
  {
    ThriftStruct fields(walker);
    while (const auto field = fields.Next()) {
      const bool list = field->type == ThriftType::kList;
      if (field->id == id::kSchema && list) {
        schema_at = field->value_at;
      } else if (field->id == id::kNumRows && field->type == ThriftType::kI64) {
        rows_ = Unsigned(walker, *field);
      } else if (field->id == id::kRowGroups && list) {
        groups_at = field->value_at;
      } else if (field->id == id::kCreatedBy && field->type == ThriftType::kBinary) {
        created_by_ = walker.Binary();
      } else if (field->id == id::kColumnOrders && list) {
        orders_at = field->value_at;
      } else if (field->id == id::kEncryptionAlgorithm ||
                 field->id == id::kFooterSigningKeyMetadata) {
        encrypted_ = true;
      }
    }
  }
  if (schema_at == 0 || groups_at == 0) Corrupt("footer", offset_, "no schema or no row groups");
  ThriftWalker schema_walker(bytes_, offset_, schema_at);
  schema_ = ReadSchema(schema_walker);
  ordered_.resize(schema_.columns().size(), false);
  if (orders_at != 0) {
    ThriftWalker orders(bytes_, offset_, orders_at);
    ordered_ = ReadOrders(orders, schema_);
  }
  ThriftWalker groups(bytes_, offset_, groups_at);
  const ThriftList list = groups.List();
  if (list.element != ThriftType::kStruct && list.size > 0) {
    groups.Fail(groups_at, "a list of row groups with elements of another type");
  }
  for (uint32_t i = 0; i < list.size; ++i) ReadRowGroup(groups);
}

void Footer::ReadRowGroup(ThriftWalker& walker) {
  namespace id = fields::row_group;
  const size_t begin = walker.at();
  RowGroup group;
  bool has_rows = false;
  bool has_columns = false;
  ThriftStruct fields(walker);
  while (const auto field = fields.Next()) {
    if (field->id == id::kColumns && field->type == ThriftType::kList) {
      const ThriftList list = walker.List();
      if (list.size != schema_.columns().size() ||
          (list.size > 0 && list.element != ThriftType::kStruct)) {
        walker.Fail(field->value_at, "a row group that does not have the columns of the schema");
      }
      for (uint32_t i = 0; i < list.size; ++i) {
        chunks_.push_back(walker.at());
        walker.Skip(ThriftType::kStruct);
      }
      has_columns = true;
    } else if (field->id == id::kTotalByteSize && field->type == ThriftType::kI64) {
      group.bytes = Unsigned(walker, *field);
    } else if (field->id == id::kTotalCompressedSize && field->type == ThriftType::kI64) {
      group.file_bytes = Unsigned(walker, *field);
    } else if (field->id == id::kNumRows && field->type == ThriftType::kI64) {
      group.rows = Unsigned(walker, *field);
      has_rows = true;
    }
  }
  if (!has_columns || !has_rows) walker.Fail(begin, "a row group without columns or rows");
  row_groups_.push_back(group);
}

ColumnChunk Footer::Chunk(size_t row_group, size_t column) const {
  namespace chunk_id = fields::column_chunk;
  namespace id = fields::column_meta_data;
  const size_t begin = ChunkAt(row_group, column);
  ThriftWalker walker(bytes_, offset_, begin);
  ColumnChunk chunk;
  bool encrypted = false;
  size_t meta_at = 0;
  {
    ThriftStruct fields(walker);
    while (const auto field = fields.Next()) {
      if (field->id == chunk_id::kFilePath && field->type == ThriftType::kBinary) {
        chunk.other_file = !walker.Binary().empty();
      } else if (field->id == chunk_id::kMetaData && field->type == ThriftType::kStruct) {
        meta_at = field->value_at;
      } else if (field->id == chunk_id::kCryptoMetadata ||
                 field->id == chunk_id::kEncryptedMetaData) {
        encrypted = true;
      }
    }
  }
  if (encrypted) {
    throw Error(ErrorCode::kUnsupported, "column " + schema_.PathOf(column) + " is encrypted");
  }
  if (meta_at == 0) walker.Fail(begin, "a column without a description");
  ThriftWalker meta(bytes_, offset_, meta_at);
  ThriftStruct fields(meta);
  std::optional<int64_t> type;
  std::optional<uint64_t> data_page;
  std::optional<uint64_t> dictionary_page;
  bool has_values = false;
  while (const auto field = fields.Next()) {
    if (field->id == id::kPath && field->type == ThriftType::kList) {
      RequirePath(meta, schema_, column);
    } else if (field->type == ThriftType::kI64) {
      switch (field->id) {
        case id::kNumValues:
          chunk.values = Unsigned(meta, *field);
          has_values = true;
          break;
        case id::kUncompressed:
          chunk.uncompressed_bytes = Unsigned(meta, *field);
          break;
        case id::kCompressed:
          chunk.compressed_bytes = Unsigned(meta, *field);
          break;
        case id::kDataPage:
          data_page = Unsigned(meta, *field);
          break;
        case id::kDictionaryPage:
          dictionary_page = Unsigned(meta, *field);
          break;
        case id::kBloomFilterOffset:
          chunk.filter_offset = Unsigned(meta, *field);
          break;
        default:
          break;
      }
    } else if (field->type == ThriftType::kI32) {
      if (field->id == id::kType) type = meta.Integer(field->type);
      if (field->id == id::kBloomFilterLength) chunk.filter_length = Unsigned(meta, *field);
    } else if (field->id == id::kStatistics && field->type == ThriftType::kStruct) {
      chunk.statistics = ReadStatistics(meta);
    }
  }
  if (type != static_cast<int64_t>(schema_.columns()[column].physical) || !has_values) {
    meta.Fail(meta_at,
              "a column without a number of values, or with a type that differs from the schema");
  }
  IgnoreKnownFaults(created_by_, schema_.columns()[column], chunk.statistics);
  if (schema_.columns()[column].logical.kind == LogicalType::Kind::kNull) {
    chunk.statistics.nulls = chunk.values;
  }
  // Some writers store 0 if there is no dictionary. A dictionary is in front of the data pages.
  chunk.has_dictionary = dictionary_page.value_or(0) > 0;
  chunk.first_page = data_page.value_or(0);
  if (chunk.has_dictionary) chunk.first_page = std::min(chunk.first_page, *dictionary_page);
  if (!chunk.other_file) {
    // Data and filters are in front of the footer.
    if (chunk.first_page > offset_ || chunk.compressed_bytes > offset_ - chunk.first_page) {
      meta.Fail(meta_at, "a column beyond the end of the data");
    }
  }
  return chunk;
}

}  // namespace tamis::parquet
