// Converts keys of callers to keys of tamis::parquet.
#ifndef TAMIS_BINDINGS_C_SRC_PARQUET_KEYS_H_
#define TAMIS_BINDINGS_C_SRC_PARQUET_KEYS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/c/parquet.h"
#include "tamis/keys.h"
#include "tamis/parquet/column_keys.h"

namespace tamis::c {

// A copy of the keys without nulls.
class ParquetKeys {
 public:
  // Throws Error(kInvalidArgument) like KeyArray, and for layouts that do not allow the meaning.
  ParquetKeys(const tamis_keys* keys, uint32_t meaning);
  ParquetKeys(const ParquetKeys&) = delete;
  ParquetKeys& operator=(const ParquetKeys&) = delete;

  parquet::KeyList list() const;
  // Converts an index in the list to an index in the caller's keys.
  uint32_t IndexOf(uint32_t i) const { return indices_ ? (*indices_)[i] : i; }

 private:
  void Add(const Keys& keys, size_t first);

  uint32_t meaning_;
  bool strings_wanted_;
  bool is_signed_;
  size_t size_ = 0;
  std::vector<uint64_t> integers_;
  std::vector<double> doubles_;
  std::string bytes_;
  std::vector<size_t> ends_;  // where each string ends in bytes_
  std::vector<std::string_view> strings_;
  std::optional<std::vector<uint32_t>> indices_;  // set at the first null
};

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_PARQUET_KEYS_H_
