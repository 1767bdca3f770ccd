// Files for tests: a temporary folder, whole files as bytes, and the expected errors.
#ifndef TAMIS_TESTS_CORE_FILE_TEST_UTIL_H_
#define TAMIS_TESTS_CORE_FILE_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "tamis/error.h"
#include "tests/os/test_os.h"

namespace tamis {

using Bytes = std::vector<char>;

inline std::filesystem::path GoldenPath(const std::string& name) {
  return std::filesystem::path(TAMIS_GOLDEN_DIR) / (name + ".tamis");
}

inline Bytes ReadBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  EXPECT_TRUE(in) << path;
  Bytes bytes(in ? static_cast<size_t>(in.tellg()) : 0);
  in.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// Writes in place. Does not empty an existing file first: on ext4, emptying a file again waits
// until the bytes written after that are on disk.
inline void WriteBytes(const std::filesystem::path& path, const Bytes& bytes) {
  const auto mode = std::filesystem::exists(path) ? std::ios::in | std::ios::out : std::ios::out;
  std::ofstream out(path, mode | std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.flush()) << path;
  std::filesystem::resize_file(path, bytes.size());
}

template <typename T>
T GetField(const Bytes& file, size_t offset) {
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

template <typename T>
void SetField(Bytes& file, size_t offset, T value) {
  std::memcpy(file.data() + offset, &value, sizeof(T));
}

// A folder that is open to other users, and is removed with all its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(test_os::MakeFolder()) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  size_t NumFiles() const {
    const std::filesystem::directory_iterator begin(path_);
    return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

class FileTest : public testing::Test {
 protected:
  const TemporaryFolder folder_;
};

inline void ExpectFormatError(const std::function<void()>& act, const std::string& check,
                              uint64_t offset, ErrorCode code = ErrorCode::kCorrupt) {
  try {
    act();
    ADD_FAILURE() << "no error, expected one of " << check;
  } catch (const FormatError& error) {
    EXPECT_EQ(error.check(), check) << error.what();
    EXPECT_EQ(error.offset(), offset) << error.what();
    EXPECT_EQ(error.code(), code) << error.what();
    const std::string where = check + " at offset " + std::to_string(offset) + ": ";
    EXPECT_NE(std::string(error.what()).find(where), std::string::npos) << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "expected a FormatError: " << error.what();
  }
}

// `text` must be part of the message.
inline void ExpectError(const std::function<void()>& act, ErrorCode code, const std::string& text) {
  try {
    act();
    ADD_FAILURE() << "no error, expected " << ErrorCodeName(code);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "expected an Error: " << error.what();
  }
}

inline void AsOrdinaryUser(const std::function<void()>& act) {
  if (!test_os::ActWithoutRoot(act)) GTEST_SKIP() << "cannot give up the rights of root";
}

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_FILE_TEST_UTIL_H_
