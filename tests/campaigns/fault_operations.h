// What the campaign of faults does to the library: operations that begin in an old state, and leave
// it or a new one.
#ifndef TAMIS_TESTS_CAMPAIGNS_FAULT_OPERATIONS_H_
#define TAMIS_TESTS_CAMPAIGNS_FAULT_OPERATIONS_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tamis/error.h"

namespace tamis::campaigns {

// How an operation ended.
struct Ending {
  bool threw = false;
  bool out_of_memory = false;  // std::bad_alloc
  std::optional<ErrorCode> code;
  std::string message;

  // A save with this error has happened.
  bool saved() const { return !threw || code == ErrorCode::kNotDurable; }
};

struct Operation {
  std::string name;
  std::function<void()> prepare;  // the old state
  std::function<void()> run;      // with the fault; what it makes stays until `clear`
  // After it, without the fault: what is wrong, or "". It need not be done if it threw.
  std::function<std::string(const Ending&)> check;
  std::function<void()> clear;
};

// In a folder that is there, and in which nothing else is.
std::vector<Operation> FileOperations(const std::filesystem::path& folder);
std::vector<Operation> MemoryOperations();
std::vector<Operation> BankOperations(const std::filesystem::path& folder);
// Filters of other libraries.
std::vector<Operation> FormatFileOperations(const std::filesystem::path& folder);
std::vector<Operation> FormatMemoryOperations();
std::vector<Operation> LiveFileOperations(const std::filesystem::path& folder);
std::vector<Operation> LiveMemoryOperations();
// Where tamis::parquet, tamis::redis and libtamis_c are built. Those on Redis are of a server that
// is started for them, and none where there is no redis-server.
std::vector<Operation> ParquetFileOperations(const std::filesystem::path& folder);
std::vector<Operation> RedisOperations(const std::filesystem::path& folder);
// Copies of these in memory, and rebuilds.
std::vector<Operation> RedisCopyOperations(const std::filesystem::path& folder);
std::vector<Operation> CFileOperations(const std::filesystem::path& folder);
std::vector<Operation> CMemoryOperations();

}  // namespace tamis::campaigns

#endif  // TAMIS_TESTS_CAMPAIGNS_FAULT_OPERATIONS_H_
