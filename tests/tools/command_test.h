// Runs the command as a user does: from a shell, in a separate folder.
#ifndef TAMIS_TESTS_TOOLS_COMMAND_TEST_H_
#define TAMIS_TESTS_TOOLS_COMMAND_TEST_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Ends a test of what the command for Windows lacks, or of what its emulator lacks.
#define TAMIS_SKIP_ON_WINDOWS(reason) \
  if (CommandTest::IsForWindows()) GTEST_SKIP() << (reason)

namespace tamis::tools {

struct CommandResult {
  int status = -1;  // of the script, as a shell shows it: 128 + n for signal n
  std::string out;
  std::string err;

  nlohmann::json Json() const;
  size_t NumLines() const;
  bool ErrHas(std::string_view text) const { return err.find(text) != std::string::npos; }
};

class CommandTest : public testing::Test {
 protected:
  CommandTest();
  ~CommandTest() override;

  // Returns whether the command under test is a program for Windows, which runs in an emulator.
  static bool IsForWindows();

  // Runs a script of /bin/sh in the folder. In the script, `tamis` is the command under test, and
  // `exec_tamis ... &` runs it so that $! is its process.
  CommandResult Sh(const std::string& script) const;

  // Runs a script that must succeed and print nothing but summaries on standard error.
  CommandResult Ok(const std::string& script) const;

  void Write(const std::string& name, std::string_view contents) const;
  void WriteU64(const std::string& name, std::span<const uint64_t> values) const;
  std::string Read(const std::string& name) const;
  bool Exists(const std::string& name) const;
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  size_t NumFiles() const;

 private:
  std::filesystem::path folder_;
};

// Returns the `n` lines "first", "first + step" ...
std::string Numbers(uint64_t first, uint64_t n, uint64_t step = 1);

std::vector<std::string> Lines(std::string_view text);

}  // namespace tamis::tools

#endif  // TAMIS_TESTS_TOOLS_COMMAND_TEST_H_
