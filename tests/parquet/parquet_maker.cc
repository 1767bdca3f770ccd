#include "tests/parquet/parquet_maker.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/os/test_os.h"

namespace tamis::parquet {

void ThriftWriter::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
  bytes_ += static_cast<char>(value);
}

void ThriftWriter::Header(int id, int type) {
  const int delta = id - last_;
  if (delta > 0 && delta < 16) {
    bytes_ += static_cast<char>(delta << 4 | type);
  } else {
    bytes_ += static_cast<char>(type);
    Varint(static_cast<uint64_t>(2 * id));
  }
  last_ = id;
}

ThriftWriter& ThriftWriter::Integer(int id, int type, int64_t value) {
  Header(id, type);
  Varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  return *this;
}

ThriftWriter& ThriftWriter::Byte(int id, int value) {
  Header(id, 3);
  bytes_ += static_cast<char>(value);
  return *this;
}

ThriftWriter& ThriftWriter::Bool(int id, bool value) {
  Header(id, value ? 1 : 2);
  return *this;
}

ThriftWriter& ThriftWriter::Binary(int id, const std::string& bytes) {
  Header(id, 8);
  Varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

ThriftWriter& ThriftWriter::Struct(int id, const ThriftWriter& fields) {
  Header(id, 12);
  bytes_ += fields.bytes();
  return *this;
}

void ThriftWriter::ListHeader(int id, int type, size_t size) {
  Header(id, 9);
  if (size < 15) {
    bytes_ += static_cast<char>(static_cast<int>(size) << 4 | type);
  } else {
    bytes_ += static_cast<char>(15 << 4 | type);
    Varint(size);
  }
}

ThriftWriter& ThriftWriter::Structs(int id, const std::vector<ThriftWriter>& elements) {
  ListHeader(id, 12, elements.size());
  for (const ThriftWriter& element : elements) bytes_ += element.bytes();
  return *this;
}

ThriftWriter& ThriftWriter::Strings(int id, const std::vector<std::string>& elements) {
  ListHeader(id, 8, elements.size());
  for (const std::string& element : elements) {
    Varint(element.size());
    bytes_ += element;
  }
  return *this;
}

namespace {

ThriftWriter Element(const MadeColumn& column) {
  ThriftWriter element;
  element.I32(1, column.physical);
  if (column.width != 0) element.I32(2, column.width);
  element.I32(3, 1).Binary(4, column.name);
  if (column.converted) element.I32(6, *column.converted);
  if (column.logical) element.Struct(10, *column.logical);
  return element;
}

ThriftWriter Chunk(const MadeColumn& column, const MadeChunk& chunk, int64_t filter_at) {
  ThriftWriter statistics;
  if (chunk.nulls) statistics.I64(3, *chunk.nulls);
  if (chunk.max) statistics.Binary(5, *chunk.max);
  if (chunk.min) statistics.Binary(6, *chunk.min);
  ThriftWriter meta;
  meta.I32(1, column.physical)
      .Strings(3, {chunk.path.empty() ? column.name : chunk.path})
      .I32(4, 0)
      .I64(5, chunk.values);
  meta.I64(6, 0).I64(7, 0).I64(9, 4).Struct(12, statistics);
  if (!chunk.filter.empty()) {
    meta.I64(14, filter_at);
    if (chunk.filter_length) meta.I32(15, static_cast<int64_t>(chunk.filter.size()));
  }
  ThriftWriter result;
  if (!chunk.file_path.empty()) result.Binary(1, chunk.file_path);
  result.I64(2, 0).Struct(3, meta);
  if (chunk.encrypted) result.Struct(8, ThriftWriter().Struct(1, ThriftWriter()));
  return result;
}

}  // namespace

std::string MadeFile::bytes() const {
  std::string file = "PAR1";
  std::vector<ThriftWriter> schema;
  schema.push_back(ThriftWriter().Binary(4, "schema").I32(5, static_cast<int64_t>(columns.size())));
  for (const MadeColumn& column : columns) schema.push_back(Element(column));
  std::vector<ThriftWriter> made;
  int64_t rows = 0;
  for (const std::vector<MadeChunk>& group : groups) {
    std::vector<ThriftWriter> chunks;
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto at = static_cast<int64_t>(file.size());
      file += group[i].filter;
      chunks.push_back(Chunk(columns[i], group[i], at));
    }
    made.push_back(ThriftWriter().Structs(1, chunks).I64(2, 100).I64(3, group[0].values));
    rows += group[0].values;
  }
  ThriftWriter footer;
  footer.I32(1, 2).Structs(2, schema).I64(3, rows).Structs(4, made).Binary(6, created_by);
  if (ordered) {
    const ThriftWriter order = ThriftWriter().Struct(1, ThriftWriter());
    footer.Structs(7, std::vector<ThriftWriter>(columns.size(), order));
  }
  const std::string end = footer.bytes();
  return file + end + Plain(static_cast<uint32_t>(end.size())) + "PAR1";
}

Folder::Folder() : path_(test_os::MakeFolder()) {}

Folder::~Folder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::filesystem::path Folder::Write(const std::string& name, const std::string& bytes) const {
  const std::filesystem::path path = path_ / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace tamis::parquet
