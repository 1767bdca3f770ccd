// Bloom filters of Parquet files as members of a bank.
#ifndef TAMIS_TOOLS_COMMANDS_BANK_FROM_PARQUET_H_
#define TAMIS_TOOLS_COMMANDS_BANK_FROM_PARQUET_H_

#include <tamis/filters/split_block_filter.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tamis::tools {

struct ParquetFilterOptions {
  std::string column;  // path of the column; empty: the files are not Parquet files
  // If true, a row group without a usable filter, or a file that cannot be read, becomes a member
  // that answers "maybe" for every key. If false, it causes an error.
  bool keep_without_filter = false;
};

// Counts of added members, and of row groups for which no member is added.
struct ParquetFilters {
  uint64_t added = 0;
  uint64_t without_filter = 0;  // members among `added` that answer "maybe" for every key
  std::string first_problem;    // why the first such member has no filter, with the file's name
  uint64_t empty = 0;           // row groups without values, for which no member is added
};

// Calls `add(name, filter)` for the filter of each row group of each file. The name is
// "FILE#ROWGROUP", or "FILE" for a file that cannot be read. The filter's key types are the type of
// the column, or unknown for a file that cannot be read.
//
// Throws Error(kInvalidArgument) if the column is in no file, or no row group has a value. If
// `keep_without_filter` is false, also throws Error with the name of the file:
// - kInvalidArgument for a row group without a filter
// - kUnsupported for BOOLEAN and INT96 columns, and for types that store keys in another form
// - the errors of parquet::Footer, parquet::FindFilter and parquet::RequireBits
ParquetFilters ForParquetFilters(
    const std::vector<std::filesystem::path>& files, const ParquetFilterOptions& options,
    const std::function<void(const std::string& name, const SplitBlockBloomFilter& filter)>& add);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_BANK_FROM_PARQUET_H_
