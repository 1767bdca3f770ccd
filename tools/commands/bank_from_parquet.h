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
  std::string column;  // its path; empty: the files are no Parquet files
  // Row groups without a usable filter, and files that cannot be read, become members that may have
  // every key. By default they are errors.
  bool keep_without_filter = false;
};

// What is made of files, and of their row groups.
struct ParquetFilters {
  uint64_t added = 0;
  uint64_t without_filter = 0;  // how many of these may have every key
  std::string first_problem;    // of the first one of these, with the name of its file
  uint64_t empty = 0;           // that have no value, and so are no members
};

// Gives the filter of each row group of each file to add(name, filter), with the name
// "FILE#ROWGROUP" and its form of keys; the name of a file that cannot be read is "FILE". Throws
// Error with the name of the file unless keep_without_filter is set: kInvalidArgument for a row
// group without a filter, kUnsupported for columns whose filters mean nothing or whose keys are
// stored in another form, and the errors of parquet::Footer, parquet::FindFilter and
// parquet::RequireBits.
ParquetFilters ForParquetFilters(
    const std::vector<std::filesystem::path>& files, const ParquetFilterOptions& options,
    const std::function<void(const std::string& name, const SplitBlockBloomFilter& filter)>& add);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_BANK_FROM_PARQUET_H_
