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
  // Row groups without a usable filter, and files that cannot be read, become members that may have
  // every key. If this is false, they are errors.
  bool keep_without_filter = false;
};

// The members made of files and of their row groups.
struct ParquetFilters {
  uint64_t added = 0;
  uint64_t without_filter = 0;  // how many of `added` may have every key
  std::string first_problem;    // the first reason, with the name of the file
  uint64_t empty = 0;           // row groups without values, which become no members
};

// Calls `add(name, filter)` for the filter of each row group of each file. The name is
// "FILE#ROWGROUP", or "FILE" for a file that cannot be read. The key type of the filter is set.
//
// Throws Error(kInvalidArgument) if the column is in no file, or no row group has a value. Unless
// `keep_without_filter` is set, throws Error with the name of the file:
// - kInvalidArgument for a row group without a filter
// - kUnsupported for columns whose filters are useless or whose keys are stored in another form
// - the errors of parquet::Footer, parquet::FindFilter and parquet::RequireBits
ParquetFilters ForParquetFilters(
    const std::vector<std::filesystem::path>& files, const ParquetFilterOptions& options,
    const std::function<void(const std::string& name, const SplitBlockBloomFilter& filter)>& add);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_BANK_FROM_PARQUET_H_
