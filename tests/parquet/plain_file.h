// Makes Parquet files that tests can decode: plain values without pages, which only PlainValues
// reads, and a complete footer.
#ifndef TAMIS_TESTS_PARQUET_PLAIN_FILE_H_
#define TAMIS_TESTS_PARQUET_PLAIN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/parquet/add.h"
#include "tamis/parquet/footer.h"
#include "tamis/parquet/schema.h"
#include "tamis/parquet/source.h"

namespace tamis::parquet {

struct PlainChunk {
  std::vector<int64_t> integers = {};     // of INT64 columns
  std::vector<std::string> strings = {};  // of BYTE_ARRAY columns
  uint64_t nulls = 0;
  // Size of a dictionary in front, which contains all values according to the footer.
  uint64_t dictionary_bytes = 0;
  std::optional<uint64_t> filter_offset = {};
};

struct PlainFile {
  std::vector<std::pair<std::string, PhysicalType>> columns = {};
  std::vector<std::vector<PlainChunk>> row_groups = {};
  bool signed_footer = false;
  bool other_file = false;  // contains its first column

  std::string Bytes() const;
};

// Reads the values of such a file.
class PlainValues final : public ColumnValues {
 public:
  explicit PlainValues(const std::filesystem::path& path)
      : source_(OpenSource(path)), footer_(Footer::Read(*source_)) {}

  uint64_t Read(size_t row_group, size_t column, const Take& take) override;

 private:
  const std::unique_ptr<Source> source_;
  const Footer footer_;
};

std::unique_ptr<ColumnValues> OpenPlainValues(const std::filesystem::path& path);

}  // namespace tamis::parquet

#endif  // TAMIS_TESTS_PARQUET_PLAIN_FILE_H_
