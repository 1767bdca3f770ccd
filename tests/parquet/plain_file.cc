#include "tests/parquet/plain_file.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "tests/parquet/parquet_maker.h"

namespace tamis::parquet {
namespace {

void AppendValues(std::string& file, const PlainChunk& chunk) {
  for (const int64_t value : chunk.integers) file += Plain(value);
  for (const std::string& value : chunk.strings) {
    file += Plain(static_cast<uint32_t>(value.size())) + value;
  }
}

ThriftWriter PagesOf(int type, int encoding, int count) {
  return ThriftWriter().I32(1, type).I32(2, encoding).I32(3, count);
}

// Returns a ColumnChunk. Appends its values to the file.
ThriftWriter Describe(const PlainFile& plain, size_t column, const PlainChunk& chunk,
                      std::string& file) {
  const auto size = [](uint64_t value) { return static_cast<int64_t>(value); };
  const auto& [name, type] = plain.columns[column];
  const size_t begin = file.size();
  file.append(chunk.dictionary_bytes, 'D');
  const size_t data = file.size();
  AppendValues(file, chunk);
  ThriftWriter meta;
  meta.I32(1, static_cast<int64_t>(type)).Strings(3, {name}).I32(4, 0);
  meta.I64(5, size(chunk.integers.size() + chunk.strings.size() + chunk.nulls));
  meta.I64(6, size(file.size() - begin)).I64(7, size(file.size() - begin)).I64(9, size(data));
  if (chunk.dictionary_bytes > 0) meta.I64(11, size(begin));
  meta.Struct(12, ThriftWriter().I64(3, size(chunk.nulls)));
  if (chunk.dictionary_bytes > 0) {
    // A plain dictionary, and data pages that refer to it.
    meta.Structs(13, {PagesOf(2, 0, 1), PagesOf(0, 8, 4)});
  }
  if (chunk.filter_offset) meta.I64(14, size(*chunk.filter_offset));
  meta.Struct(16, ThriftWriter().I64(1, 77));  // size statistics
  ThriftWriter fields;
  if (plain.other_file && column == 0) fields.Binary(1, "part-0.parquet");
  return fields.I64(2, size(begin)).Struct(3, meta);
}

}  // namespace

std::string PlainFile::Bytes() const {
  std::string file = "PAR1";
  std::vector<ThriftWriter> schema = {
      ThriftWriter().Binary(4, "schema").I32(5, static_cast<int64_t>(columns.size()))};
  for (const auto& [name, type] : columns) {
    schema.push_back(ThriftWriter().I32(1, static_cast<int64_t>(type)).I32(3, 1).Binary(4, name));
  }
  std::vector<ThriftWriter> groups;
  for (const std::vector<PlainChunk>& row_group : row_groups) {
    std::vector<ThriftWriter> chunks;
    for (size_t i = 0; i < columns.size(); ++i) {
      chunks.push_back(Describe(*this, i, row_group[i], file));
    }
    groups.push_back(ThriftWriter().Structs(1, chunks).I64(2, 1000).I64(3, 100));
  }
  ThriftWriter footer;
  footer.I32(1, 2).Structs(2, schema).I64(3, 100 * static_cast<int64_t>(groups.size()));
  footer.Structs(4, groups);
  footer.Structs(5, {ThriftWriter().Binary(1, "a key").Binary(2, "its value")});
  footer.Binary(6, "a test");
  if (signed_footer) footer.Binary(9, "a key");
  const std::string bytes = footer.bytes();
  return file + bytes + Plain(static_cast<uint32_t>(bytes.size())) + "PAR1";
}

uint64_t PlainValues::Read(size_t row_group, size_t column, const Take& take) {
  const ColumnChunk chunk = footer_.Chunk(row_group, column);
  // The bytes of a dictionary are 'D', and no first value of these tests begins with it.
  std::vector<std::byte> bytes(chunk.compressed_bytes);
  source_->Read(chunk.first_page, bytes);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  rest.remove_prefix(std::min(rest.find_first_not_of('D'), rest.size()));
  std::vector<int64_t> integers;
  std::vector<std::string_view> strings;
  while (!rest.empty()) {
    if (footer_.schema().columns()[column].physical == PhysicalType::kInt64) {
      std::memcpy(&integers.emplace_back(), rest.data(), sizeof(int64_t));
      rest.remove_prefix(sizeof(int64_t));
    } else {
      uint32_t size = 0;
      std::memcpy(&size, rest.data(), sizeof(size));
      strings.push_back(rest.substr(sizeof(size), size));
      rest.remove_prefix(sizeof(size) + size);
    }
  }
  // Delivers the values in batches.
  for (size_t i = 0; i < integers.size(); i += 100) {
    take(std::span(integers).subspan(i, std::min<size_t>(100, integers.size() - i)));
  }
  take(strings);
  return integers.size() + strings.size() + chunk.statistics.nulls.value_or(0);
}

std::unique_ptr<ColumnValues> OpenPlainValues(const std::filesystem::path& path) {
  return std::make_unique<PlainValues>(path);
}

}  // namespace tamis::parquet
