#include "tools/commands/bank_from_parquet.h"

#include <tamis/error.h>
#include <tamis/key_types.h>
#include <tamis/parquet/bloom_filter.h>
#include <tamis/parquet/footer.h>
#include <tamis/parquet/source.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "tamis/detail/str_cat.h"

namespace tamis::tools {
namespace {

using parquet::ColumnChunk;
using parquet::Footer;
using parquet::PhysicalType;
using parquet::Source;

// Returns whether a key in the user's input has the same bytes as the stored value. In the input, a
// UUID or decimal is text. If the file stores binary bytes, the filter would answer "no" for it.
bool AreKeys(const parquet::Column& column) {
  using Kind = parquet::LogicalType::Kind;
  switch (column.logical.kind) {
    case Kind::kDecimal:
      return column.physical == PhysicalType::kInt32 || column.physical == PhysicalType::kInt64;
    case Kind::kUuid:
    case Kind::kFloat16:
    case Kind::kInterval:
    case Kind::kNull:
    case Kind::kOther:
      return false;
    default:
      return true;
  }
}

KeyType KeyTypeOf(const parquet::Column& column) {
  if (!AreKeys(column)) {
    throw Error(ErrorCode::kUnsupported,
                "a bank cannot have keys of type " + TypeText(column) +
                    "; `tamis parquet prune` can query columns of UUIDs and decimals");
  }
  switch (column.physical) {
    case PhysicalType::kInt32:
      return KeyType::kInt32;
    case PhysicalType::kInt64:
      return KeyType::kInteger;
    case PhysicalType::kFloat:
      return KeyType::kFloat;
    case PhysicalType::kDouble:
      return KeyType::kDouble;
    case PhysicalType::kByteArray:
    case PhysicalType::kFixedLenByteArray:
      return KeyType::kBytes;
    case PhysicalType::kBoolean:
    case PhysicalType::kInt96:
      break;
  }
  throw Error(ErrorCode::kUnsupported,
              "filters of columns of type " + TypeText(column) + " are useless");
}

// Reads the filter of `chunk`.
SplitBlockBloomFilter ReadFilter(const Source& source, const Footer& footer,
                                 const ColumnChunk& chunk) {
  const parquet::FilterPlace place = FindFilter(source, footer, chunk);
  std::vector<std::byte> bytes(place.bytes());
  source.Read(place.header_offset, bytes);
  return parquet::FromParquet(bytes);
}

// Makes a filter of one block that answers "maybe" for every key.
SplitBlockBloomFilter FullFilter() {
  std::string bytes =
      parquet::ToParquet(SplitBlockBloomFilter({.bytes = 32, .hash = parquet::kFilterHash}));
  bytes.replace(bytes.size() - 32, 32, 32, '\xFF');
  return parquet::FromParquet(std::as_bytes(std::span(bytes)));
}

using Add = std::function<void(const std::string& name, const SplitBlockBloomFilter& filter)>;

// The reason why the filter of a row group, or all filters of a file, cannot be used.
struct Unusable {
  ErrorCode code;
  std::string reason;
};

class Reader {
 public:
  Reader(const ParquetFilterOptions& options, const Add& add) : options_(options), add_(add) {}

  // Adds a member for each row group of the file.
  void Read(const std::filesystem::path& path) {
    const std::string file = path.string();
    // Throws for a file that does not exist, even if `keep_without_filter` is set.
    const std::unique_ptr<Source> source = parquet::OpenSource(path);
    std::optional<Footer> footer;
    size_t column = 0;
    key_type_ = KeyType::kUnknown;
    try {
      footer.emplace(Footer::Read(*source));
      column = footer->schema().Find(options_.column);
      key_type_ = KeyTypeOf(footer->schema().columns()[column]);
      any_column_ = true;
    } catch (const Error& error) {
      // The row groups are unknown, so the whole file becomes one member.
      return AddFull(file, {error.code(), Named(file, error.what())});
    }
    for (size_t group = 0; group < footer->row_groups().size(); ++group) {
      const std::string name = detail::StrCat(file, "#", group);
      std::variant<std::monostate, SplitBlockBloomFilter, Unusable> filter;
      try {
        filter = FilterOf(*source, *footer, footer->Chunk(group, column));
      } catch (const Error& error) {
        filter = Unusable{error.code(), error.what()};
      }
      if (auto* const usable = std::get_if<SplitBlockBloomFilter>(&filter)) {
        AddMember(name, *usable);
      } else if (const auto* const unusable = std::get_if<Unusable>(&filter)) {
        AddFull(name, {unusable->code,
                       detail::StrCat(file, ": row group ", group, ": ", unusable->reason)});
      } else {
        ++made_.empty;
      }
    }
  }

  // Throws Error(kInvalidArgument) if no file has the column.
  const ParquetFilters& made() const {
    if (!any_column_) throw Error(ErrorCode::kInvalidArgument, made_.first_problem);
    return made_;
  }

 private:
  // Returns `what`, an error message, with the file's name in front unless it begins with the name.
  static std::string Named(const std::string& file, const std::string& what) {
    return what.starts_with(file) ? what : file + ": " + what;
  }

  // Returns the filter of a chunk. Returns std::monostate for a chunk that has neither a filter nor
  // values.
  static std::variant<std::monostate, SplitBlockBloomFilter, Unusable> FilterOf(
      const Source& source, const Footer& footer, const ColumnChunk& chunk) {
    if (!chunk.filter_offset) {
      if (!chunk.MayHaveValues()) return {};
      return Unusable{ErrorCode::kInvalidArgument,
                      "it has no Bloom filter for this column; `tamis parquet add` makes one"};
    }
    SplitBlockBloomFilter filter = ReadFilter(source, footer, chunk);
    parquet::RequireBits(filter.view(), chunk);
    return filter;
  }

  void AddMember(const std::string& name, SplitBlockBloomFilter& filter) {
    filter.set_key_types(key_type_);
    add_(name, filter);
    ++made_.added;
  }

  // Adds a member that answers "maybe" for every key. Throws unless `keep_without_filter` is set.
  void AddFull(const std::string& name, const Unusable& unusable) {
    if (!options_.keep_without_filter) {
      throw Error(unusable.code,
                  unusable.reason +
                      ". Without a member for these rows, the bank would answer \"no\" for their "
                      "keys: give --keep-without-filter to add a member that may have every key");
    }
    SplitBlockBloomFilter filter = FullFilter();
    AddMember(name, filter);
    if (made_.without_filter++ == 0) made_.first_problem = unusable.reason;
  }

  const ParquetFilterOptions& options_;
  const Add& add_;
  KeyType key_type_ = KeyType::kUnknown;  // type of the column in the current file
  bool any_column_ = false;               // whether at least one file has the column
  ParquetFilters made_;
};

}  // namespace

ParquetFilters ForParquetFilters(
    const std::vector<std::filesystem::path>& files, const ParquetFilterOptions& options,
    const std::function<void(const std::string& name, const SplitBlockBloomFilter& filter)>& add) {
  Reader reader(options, add);
  for (const std::filesystem::path& path : files) reader.Read(path);
  if (reader.made().added == 0) {
    throw Error(ErrorCode::kInvalidArgument, "the column has no value in any row group");
  }
  return reader.made();
}

}  // namespace tamis::tools
