#include "tests/tools/command_test.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tamis::tools {
namespace {

namespace fs = std::filesystem;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// TAMIS_TEST_COMMAND names another command, such as one for Windows with its emulator.
const std::string kCommand = "${TAMIS_TEST_COMMAND:-" TAMIS_COMMAND_PREFIX " '" TAMIS_COMMAND "'}";

File TemporaryFile() { return {std::tmpfile(), &std::fclose}; }

std::string Contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char block[1 << 14];
  while (const size_t n = std::fread(block, 1, sizeof(block), file)) text.append(block, n);
  return text;
}

}  // namespace

nlohmann::json CommandResult::Json() const {
  nlohmann::json json = nlohmann::json::parse(out, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded()) << "not JSON: " << out << err;
  return json;
}

size_t CommandResult::NumLines() const {
  return static_cast<size_t>(std::count(out.begin(), out.end(), '\n'));
}

bool CommandTest::IsForWindows() {
  const char* const command = std::getenv("TAMIS_TEST_COMMAND");
  return command != nullptr && std::string_view(command).ends_with(".exe");
}

CommandTest::CommandTest() {
  std::string name = (fs::temp_directory_path() / "tamis-tools-XXXXXX").string();
  EXPECT_NE(mkdtemp(name.data()), nullptr) << name;
  folder_ = name;
}

CommandTest::~CommandTest() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

CommandResult CommandTest::Sh(const std::string& script) const {
  // The tests must not depend on the settings and the calibration of the user who runs them.
  const std::string whole = "cd '" + folder_.string() +
                            "' || exit 99\n"
                            "unset TAMIS_BACKEND TAMIS_THREADS\n"
                            "XDG_CACHE_HOME=$PWD/cache; export XDG_CACHE_HOME\n"
                            "tamis() { " +
                            kCommand + " \"$@\"; }\nexec_tamis() { exec " + kCommand +
                            " \"$@\"; }\n" + script;
  const File out = TemporaryFile();
  const File err = TemporaryFile();
  CommandResult result;
  if (out == nullptr || err == nullptr) {
    ADD_FAILURE() << "no temporary files";
    return result;
  }
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    dup2(fileno(out.get()), STDOUT_FILENO);
    dup2(fileno(err.get()), STDERR_FILENO);
    if (std::freopen("/dev/null", "r", stdin) == nullptr) _exit(98);
    execl("/bin/sh", "sh", "-c", whole.c_str(), nullptr);
    _exit(97);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    ADD_FAILURE() << "cannot run a shell: " << std::strerror(errno);
    return result;
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = Contents(out.get());
  result.err = Contents(err.get());
  return result;
}

CommandResult CommandTest::Ok(const std::string& script) const {
  const CommandResult result = Sh(script);
  EXPECT_EQ(result.status, 0) << script << "\n" << result.err;
  for (const char* bad : {"warning", "skipped", "cannot", "Sanitizer"}) {
    EXPECT_FALSE(result.ErrHas(bad)) << script << "\n" << result.err;
  }
  return result;
}

void CommandTest::Write(const std::string& name, std::string_view contents) const {
  std::ofstream out(folder_ / name, std::ios::binary);
  out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  EXPECT_TRUE(out.flush()) << name;
}

void CommandTest::WriteU64(const std::string& name, std::span<const uint64_t> values) const {
  std::string bytes;
  for (uint64_t value : values) {
    for (int i = 0; i < 8; ++i, value >>= 8) bytes += static_cast<char>(value & 0xFF);
  }
  Write(name, bytes);
}

std::string CommandTest::Read(const std::string& name) const {
  std::ifstream in(folder_ / name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

bool CommandTest::Exists(const std::string& name) const { return fs::exists(folder_ / name); }

size_t CommandTest::NumFiles() const {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
}

std::string Numbers(uint64_t first, uint64_t n, uint64_t step) {
  std::string text;
  for (uint64_t i = 0; i < n; ++i) text += std::to_string(first + i * step) + "\n";
  return text;
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace tamis::tools
