// Paths that are not text in every encoding.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

#include "tamis/file/folder.h"
#include "tamis/file/saving.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"

namespace tamis::path_names_test {

namespace fs = std::filesystem;

// Returns a name that is not Unicode: an unpaired surrogate, or a byte that UTF-8 lacks.
fs::path NotUnicode() {
  if constexpr (std::is_same_v<fs::path::value_type, wchar_t>) {
    return std::wstring(1, static_cast<wchar_t>(0xD800));
  } else {
    return "\xFF";
  }
}

class PathNamesTest : public FileTest {};

TEST_F(PathNamesTest, Errors_OfAnyPath_AreErrors) {
  for (const fs::path& name : {NotUnicode(), fs::path(u8"\u65E5\u672C")}) {
    const fs::path path = folder_.path() / "none" / name;
    ExpectError([&] { SplitBlockBloomFilter::Load(path); }, ErrorCode::kIo, "cannot open");
    ExpectError([&] { FileLock lock(path); }, ErrorCode::kIo, "cannot open");
    ExpectError([&] { RequireSavable(path); }, ErrorCode::kIo, "No such file");
    ExpectError([&] { FilesOf({folder_.path()}, {".tamis"}); }, ErrorCode::kInvalidArgument,
                ".tamis");
  }
}

TEST_F(PathNamesTest, FilesOf_WithOtherExtensions_FindsFiles) {
  fs::path other = folder_ / "a.";
  other += NotUnicode();
  if (!std::ofstream(other)) GTEST_SKIP() << "no file can have this name";
  const fs::path file = folder_ / "b.TAMIS";
  WriteBytes(file, {});
  EXPECT_EQ(FilesOf({folder_.path()}, {".tamis"}), std::vector<fs::path>{file});
}

}  // namespace tamis::path_names_test
