// The library operations of the campaign of faults. Each operation begins in an old state, and
// leaves the old or the new state.
#ifndef TAMIS_TESTS_CAMPAIGNS_FAULT_OPERATIONS_H_
#define TAMIS_TESTS_CAMPAIGNS_FAULT_OPERATIONS_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tamis/error.h"

namespace tamis::campaigns {

// The end of an operation.
struct Ending {
  bool threw = false;
  bool out_of_memory = false;  // std::bad_alloc
  std::optional<ErrorCode> code;
  std::string message;

  // Returns whether the file was saved. After kNotDurable, the file was saved as well.
  bool saved() const { return !threw || code == ErrorCode::kNotDurable; }
};

struct Operation {
  std::string name;
  std::function<void()> prepare;  // makes the old state
  std::function<void()> run;      // runs with the fault; results stay until `clear`
  // Runs afterwards, without the fault. Returns the problem or "". If the operation threw, the old
  // state may remain.
  std::function<std::string(const Ending&)> check;
  std::function<void()> clear;
};

// The folder must exist and be empty.
std::vector<Operation> FileOperations(const std::filesystem::path& folder);
std::vector<Operation> MemoryOperations();
std::vector<Operation> BankOperations(const std::filesystem::path& folder);
// Filters of other libraries.
std::vector<Operation> FormatFileOperations(const std::filesystem::path& folder);
std::vector<Operation> FormatMemoryOperations();
std::vector<Operation> LiveFileOperations(const std::filesystem::path& folder);
std::vector<Operation> LiveMemoryOperations();
// Return no operations if tamis::parquet, tamis::redis or libtamis_c is not built. Redis operations
// start a server. Without redis-server, there are no Redis operations.
std::vector<Operation> ParquetFileOperations(const std::filesystem::path& folder);
std::vector<Operation> RedisOperations(const std::filesystem::path& folder);
// Near caches, and rebuilds.
std::vector<Operation> RedisCopyOperations(const std::filesystem::path& folder);
std::vector<Operation> CFileOperations(const std::filesystem::path& folder);
std::vector<Operation> CMemoryOperations();

}  // namespace tamis::campaigns

#endif  // TAMIS_TESTS_CAMPAIGNS_FAULT_OPERATIONS_H_
