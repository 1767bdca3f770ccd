// Makes small Parquet files for tests, without data pages: only the parts that a pruner reads.
#ifndef TAMIS_TESTS_PARQUET_PARQUET_MAKER_H_
#define TAMIS_TESTS_PARQUET_PARQUET_MAKER_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tamis::parquet {

// Writes Thrift's compact protocol. The numbers of fields ascend.
class ThriftWriter {
 public:
  ThriftWriter& I32(int id, int64_t value) { return Integer(id, 5, value); }
  ThriftWriter& I64(int id, int64_t value) { return Integer(id, 6, value); }
  ThriftWriter& Byte(int id, int value);
  ThriftWriter& Bool(int id, bool value);
  ThriftWriter& Binary(int id, const std::string& bytes);
  ThriftWriter& Struct(int id, const ThriftWriter& fields);
  ThriftWriter& Structs(int id, const std::vector<ThriftWriter>& elements);
  ThriftWriter& Strings(int id, const std::vector<std::string>& elements);

  // Returns the struct with its stop byte.
  std::string bytes() const { return bytes_ + '\0'; }

 private:
  ThriftWriter& Integer(int id, int type, int64_t value);
  void Header(int id, int type);
  void Varint(uint64_t value);
  void ListHeader(int id, int type, size_t size);

  std::string bytes_;
  int last_ = 0;
};

struct MadeColumn {
  std::string name = "key";
  int physical = 2;  // INT64
  int width = 0;
  std::optional<ThriftWriter> logical = {};
  std::optional<int> converted = {};
};

struct MadeChunk {
  int64_t values = 1000;
  std::optional<std::string> min = {};
  std::optional<std::string> max = {};
  std::optional<int64_t> nulls = {};
  std::string filter = {};  // with its header; "": no filter
  bool filter_length = true;
  std::string file_path = {};
  std::string path = {};  // "": the name of the column
  bool encrypted = false;
};

struct MadeFile {
  std::vector<MadeColumn> columns = {MadeColumn{}};
  std::vector<std::vector<MadeChunk>> groups;  // one chunk per column
  bool ordered = true;                         // with column_orders
  std::string created_by = "maker";

  std::string bytes() const;
};

// A temporary folder.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path Write(const std::string& name, const std::string& bytes) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Returns a value in plain encoding.
template <typename T>
std::string Plain(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string ReadFile(const std::filesystem::path& path);
std::span<const std::byte> BytesOf(const std::string& text);

}  // namespace tamis::parquet

#endif  // TAMIS_TESTS_PARQUET_PARQUET_MAKER_H_
