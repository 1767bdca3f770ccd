// Files that are not text, recognized by their first bytes.
#include "tools/input/file_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/command_test.h"

namespace tamis::tools::file_kind_test {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

struct Case {
  std::string_view bytes;
  const char* what;
  const char* cure;
};

constexpr Case kCases[] = {
    {"PAR1\x15\x04\x15 and so on"sv, "a Parquet file", "duckdb"},
    {"ARROW1\0\0\xFF\xFF\xFF\xFF"sv, "an Arrow file", "as CSV"},
    {"SQLite format 3\0\x10\0"sv, "an SQLite database", "sqlite3 -csv"},
    {"\xFD\x37zXZ\0\0\4"sv, "packed by xz", "`xz -dc FILE | tamis"},
    {"BZh91AY&SY\x12"sv, "packed by bzip2", "`bzip2 -dc FILE | tamis"},
    {"\x04\x22\x4D\x18\x64"sv, "packed by lz4", "`lz4 -dc FILE | tamis"},
    {"PK\x03\x04\x14"sv, "a zip file", "`unzip -p FILE | tamis"},
    {"\xFF\xFE\0\0"sv, "text in UTF-32", "`iconv -f UTF-32 -t UTF-8 FILE | tamis"},
    {"\xFF\xFE"
     "a\0\n\0"sv,
     "text in UTF-16", "`iconv -f UTF-16 -t UTF-8 FILE | tamis"},
    {"\xFE\xFF\0a\0\n"sv, "text in UTF-16", "`iconv -f UTF-16 -t UTF-8 FILE | tamis"},
    {"a\0\n\0"sv, "text in UTF-16", "`iconv -f UTF-16LE -t UTF-8 FILE | tamis"},
    {"tamis\r\n\x1A\1"sv, "a filter saved by tamis", "give files with keys"},
    {"\0a\0\n"sv, "text in UTF-16", "`iconv -f UTF-16BE -t UTF-8 FILE | tamis"},
};

// Texts that must be accepted as keys.
constexpr std::string_view kTexts[] = {
    "",
    "P",
    "PAR1",
    "PAR1\n",
    "PAR1S\n",
    "ARROW1\n",
    "SQLite format 3\n",
    "BZh9\n",
    "BZh91AY&S\n",
    "PK\nPL\n",
    "\x1F",
    "(\xB5/x\n",
    "\xFF\n",
    "\xFEx\n",
    "tamis\n",
    "tamis\r\nx\r\n",
    "caf\xC3\xA9\n",
    "\xEF\xBB\xBFkey\n",
};

class FileKindTest : public CommandTest {};

TEST_F(FileKindTest, FilesThatAreNotTextAreRefusedWithTheCure) {
  Write("f", "precious");
  for (const Case& c : kCases) {
    Write("keys", c.bytes);
    for (const char* options : {"keys", "--integers keys", "--csv --column id keys",
                                "--capacity 10 < keys", "--allow-empty keys"}) {
      const CommandResult result = Sh("tamis build -o f " + std::string(options));
      EXPECT_EQ(result.status, 2) << c.what << result.err;
      EXPECT_TRUE(result.ErrHas(c.what)) << result.err;
      EXPECT_TRUE(result.ErrHas(c.cure)) << result.err;
      EXPECT_EQ(result.NumLines() + Lines(result.err).size(), 1U) << result.err;
      EXPECT_EQ(Read("f"), "precious");
    }
  }
  Ok("tamis build -q -o g --as-is keys");
}

TEST_F(FileKindTest, TextIsText) {
  for (const std::string_view text : kTexts) {
    const std::optional<FileKind> kind = RecognizeFile(text, /*last=*/true);
    ASSERT_TRUE(kind) << text;
    EXPECT_TRUE(kind->is_text()) << text;
    Write("keys", text);
    EXPECT_EQ(Sh("tamis build -q -o f --allow-empty keys").status, 0) << text;
  }
}

TEST_F(FileKindTest, ANulByteIsInNoText) {
  Write("keys", "1\n2\n");
  Ok("tamis build -q -o f --kind cuckoo16 keys && cp f before");
  WriteU64("ids.bin", std::vector<uint64_t>{1, 2, 3});
  Write("late", Numbers(1, 1'250'000) + "x\0y\n"s);  // in the second block
  Write("elf", "\x7F\x45LF\2\1\1\0\0\0\0\0"sv);
  Write("one", "\0"sv);
  Ok("gzip -c late > late.gz");
  for (const char* file : {"ids.bin", "late", "elf", "one", "late.gz"}) {
    for (const char* command : {"build -o f ", "build -o f -n 3000000 < ", "build -o f --integers ",
                                "build -o f --tsv ", "erase f ", "query f --count "}) {
      const CommandResult result = Sh(std::string("tamis ") + command + file);
      EXPECT_EQ(result.status, 2) << command << file;
      EXPECT_TRUE(result.ErrHas(" is binary, with a NUL byte") && result.ErrHas("give --u64"))
          << command << file << result.err;
    }
    Ok("cmp f before");
  }
  Write("text", "a\0b\n"sv);
  Ok("tamis build -q -o g --as-is text");
  EXPECT_EQ(Ok("tamis query g --as-is text").out, "a\0b\n"sv);
  Ok("tamis build -q -o g --u64 ids.bin");
  const CommandResult filter = Sh("tamis build -o g f");
  EXPECT_EQ(filter.status, 2);
  EXPECT_TRUE(filter.ErrHas("f is a filter saved by tamis")) << filter.err;
}

// The kind of a file does not depend on the number of bytes read so far. A line that a user types
// is accepted without delay.
TEST_F(FileKindTest, DecidesAsSoonAsItCan) {
  for (const Case& c : kCases) {
    for (size_t bytes = 0; bytes < c.bytes.size(); ++bytes) {
      const std::optional<FileKind> kind = RecognizeFile(c.bytes.substr(0, bytes), /*last=*/false);
      if (kind) {
        EXPECT_STREQ(kind->what, c.what) << bytes;
      }
    }
    EXPECT_STREQ(RecognizeFile(c.bytes, /*last=*/false).value().what, c.what);
  }
  for (const std::string_view text : kTexts) {
    if (text.ends_with('\n')) {
      EXPECT_TRUE(RecognizeFile(text, /*last=*/false)) << text;
    }
  }
}

TEST_F(FileKindTest, SuchFilesAmongOthersAndWithinPackedOnes) {
  Write("keys", "1\n2\n");
  Write("wide",
        "\xFF\xFE"
        "1\0\n\0"sv);
  Ok("tamis build -q -o f keys && cp f before");
  EXPECT_EQ(Sh("tamis build -o f keys wide").status, 2);
  EXPECT_EQ(Sh("tamis query f keys wide").status, 2);
  EXPECT_EQ(Sh("gzip -c wide > packed; tamis build -o f packed").status, 2);
  const CommandResult twice = Sh("gzip -c keys | gzip > twice; tamis build -o f twice");
  EXPECT_EQ(twice.status, 2);
  EXPECT_TRUE(twice.ErrHas("packed by gzip")) << twice.err;
  Ok("cmp f before");
  EXPECT_EQ(Sh("tamis build -o f -n 10 .").status, 3) << "a folder";
  EXPECT_EQ(Sh("tamis build -o f -n 10 < .").status, 3);
}

TEST_F(FileKindTest, LinesThatEndInCrAlone_AreRefused) {
  Write("keys", "1\n2\n");
  Ok("tamis build -q -o f keys");
  for (const char* text : {"1\\r2\\r", "1\\r2", "\\r\\r", "id,x\\r1,2\\r3,4"}) {
    for (const char* command :
         {"build -o new", "query f", "dedup", "build -o new --csv --column id", "query f --tsv"}) {
      const CommandResult result =
          Sh("printf '" + std::string(text) + "' > old; tamis " + std::string(command) + " old");
      EXPECT_EQ(result.status, 2) << text << command;
      EXPECT_EQ(result.out, "") << text << command;
      EXPECT_TRUE(result.ErrHas("old: its lines end in CR alone, without LF: `tr '\\r' '\\n' < "))
          << result.err;
    }
  }
  Write("mac", "\r" + std::string(17 << 20, 'x'));
  EXPECT_TRUE(Sh("tamis build -o new mac").ErrHas("its lines end in CR alone"));
  EXPECT_FALSE(Exists("new"));
  EXPECT_EQ(Ok("printf '1\\r2\\r' > old; tr '\\r' '\\n' < old | tamis query f --count").out,
            "2/2\n");
  EXPECT_EQ(Ok("printf '1\\r2' | tamis query f --count --as-is").out, "0/1\n");
  // Half of a CRLF, and a CR within a line.
  EXPECT_EQ(Ok("printf '1\\r' | tamis query f --count").out, "1/1\n");
  EXPECT_EQ(Ok("printf 'a\\rb\\n2\\n' | tamis query f --count").out, "1/2\n");
}

}  // namespace tamis::tools::file_kind_test
