// Input with too many lines that are not keys.
#include "tools/input/bad_lines.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"
#include "tools/options/parse.h"

namespace tamis::tools::bad_lines_test {

class BadLinesTest : public CommandTest {
 protected:
  // `good` lines with integers, then `bad` lines without.
  static std::string Mixed(uint64_t good, size_t bad) {
    std::string text = Numbers(1, good);
    for (size_t i = 0; i < bad; ++i) text += "x\n";
    return text;
  }
};

TEST(MaxBadTest, SharesAndCounts) {
  EXPECT_EQ(MaxBad().Of(0), 1U);
  EXPECT_EQ(MaxBad().Of(199), 1U);
  EXPECT_EQ(MaxBad().Of(200), 2U);
  const auto of = [](const char* text, uint64_t lines) {
    return ParseMaxBad("--max-bad", text).Of(lines);
  };
  EXPECT_EQ(of("10%", 1000), 100U);
  EXPECT_EQ(of("0.1", 1000), 100U);
  EXPECT_EQ(of("1e-2", 1000), 10U);
  EXPECT_EQ(of("100%", 1000), 1000U);
  EXPECT_EQ(of("0.1%", 10), 1U);
  EXPECT_EQ(of("0%", 1000), 0U);
  EXPECT_EQ(of("0", 1000), 0U);
  EXPECT_EQ(of("1", 1000), 1U) << "a line, not all";
  EXPECT_EQ(of("5k", 10), 5000U);
}

TEST_F(BadLinesTest, NothingIsSavedWhereNoLineGivesAKey) {
  Write("f", "precious");
  Write("keys.csv", "1.0\n2.0\n3.0\n");
  const CommandResult floats = Sh("tamis build -o f --integers keys.csv");
  EXPECT_EQ(floats.status, 2);
  EXPECT_TRUE(floats.ErrHas("none of 3 lines contains a key; nothing was saved")) << floats.err;
  EXPECT_TRUE(floats.ErrHas("(it has a decimal point): \"1.0\"")) << floats.err;
  Write("keys", "\n\n");
  Write("nothing", "");
  for (const char* input : {"keys", "nothing", "-n 10 < /dev/null", "--u64 nothing",
                            "--csv --header --max-bad 100% keys"}) {
    const CommandResult result = Sh("tamis build -o f " + std::string(input));
    EXPECT_EQ(result.status, 2) << input;
    EXPECT_TRUE(result.ErrHas("; nothing was saved")) << result.err;
  }
  EXPECT_EQ(Read("f"), "precious");
  Ok("tamis build -q -o f --allow-empty nothing");
  EXPECT_EQ(Sh("tamis build -q -o f --allow-empty keys").status, 0);
  EXPECT_EQ(Ok("tamis info f --json").Json()["inserted"], 0);
  // --allow-empty does not allow bad lines.
  EXPECT_EQ(Sh("tamis build -o f --integers --allow-empty keys.csv").status, 2);
}

TEST_F(BadLinesTest, OneInAHundredMayBeBad) {
  Write("ok", Mixed(990, 10));
  Write("few", Mixed(2, 1));
  Write("many", Mixed(989, 11));
  for (const char* options : {"-o f --integers ", "-o f --integers -n 1000 "}) {
    EXPECT_EQ(Sh(std::string("tamis build ") + options + "ok").status, 0);
    EXPECT_EQ(Sh(std::string("tamis build ") + options + "few").status, 0) << "one in any case";
    Write("f", "precious");
    const CommandResult result = Sh(std::string("tamis build ") + options + "many");
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(result.ErrHas("many:990: not a decimal integer: \"x\"")) << result.err;
    EXPECT_TRUE(result.ErrHas("11 of 1,000 lines are bad, and --max-bad allows 10; nothing was"))
        << result.err;
    EXPECT_EQ(Read("f"), "precious");
  }
}

TEST_F(BadLinesTest, MoreOrFewerIfThatIsMeant) {
  Write("keys", Mixed(50, 50));
  const auto status = [&](const std::string& max_bad) {
    return Sh("tamis build -o f --integers --max-bad " + max_bad + " keys").status;
  };
  EXPECT_EQ(status("50%"), 0);
  EXPECT_EQ(status("0.5"), 0);
  EXPECT_EQ(status("50"), 0);
  EXPECT_EQ(status("49%"), 2);
  EXPECT_EQ(status("49"), 2);
  for (const char* wrong : {"101%", "1.5", "-1", "x", "1x", "''", "nan"}) {
    EXPECT_EQ(status(wrong), 2) << wrong;
    EXPECT_TRUE(
        Sh("tamis build -o f --max-bad " + std::string(wrong) + " keys").ErrHas("--max-bad"))
        << wrong;
  }
  Write("one", Mixed(1000, 1));
  EXPECT_EQ(Sh("tamis build -o f --integers one").status, 0);
  EXPECT_EQ(Sh("tamis build -o f --integers --max-bad 0 one").status, 2);
}

// A column that is empty in many rows is not an error.
TEST_F(BadLinesTest, EmptyFieldsAreNotBad) {
  Write("keys.csv", "id,x\n1,a\n,b\n,c\n\n5,e\n");
  const CommandResult result = Sh("tamis build -o f --integers --csv --column id --json keys.csv");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(result.ErrHas("3 empty lines skipped")) << result.err;
  EXPECT_EQ(result.Json()["inserted"], 2);
  EXPECT_EQ(result.Json()["bad_lines"], 3);
  EXPECT_EQ(result.Json()["empty_lines"], 3);
  // Empty fields do not hide bad ones.
  Write("bad.csv", "id,x\n,\n,\n,\n,\n,\n,\n,\n1,\nx,\ny,\n");
  const CommandResult bad = Sh("tamis build -o f --integers --csv --column id bad.csv");
  EXPECT_EQ(bad.status, 2);
  EXPECT_TRUE(bad.ErrHas("bad.csv:10: not a decimal integer: \"x\"")) << bad.err;
  EXPECT_TRUE(bad.ErrHas("2 of 3 lines, not counting empty lines, are bad, and --max-bad allows 1"))
      << bad.err;
}

TEST_F(BadLinesTest, NothingIsErased) {
  Write("keys", Numbers(1, 1000));
  Write("many", Mixed(500, 500));
  Ok("tamis build -q -o f --kind cuckoo16 --integers keys && cp f before");
  const CommandResult result = Sh("tamis erase f --integers many");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(
      result.ErrHas("500 of 1,000 lines are bad, and --max-bad allows 10; nothing was "
                    "erased"))
      << result.err;
  EXPECT_EQ(Sh("yes x | head -3 | tamis erase f --integers").status, 2);
  Ok("cmp f before");
  Ok("tamis erase -q f --integers /dev/null && cmp f before");
  EXPECT_EQ(Sh("tamis erase f --integers --max-bad 50% many").status, 0);
  EXPECT_EQ(Ok("tamis info f --json").Json()["inserted"], 500);
}

// All lines with a key are answered. The error is reported at the end.
TEST_F(BadLinesTest, QueriesFailAtTheirEnd) {
  Write("keys", Numbers(1, 1000));
  Write("many", Mixed(15, 3));
  Ok("tamis build -q -o f --integers --fpr 1e-6 keys");
  const auto query = [&](const std::string& options) {
    const CommandResult result = Sh("tamis query f --integers " + options);
    EXPECT_EQ(result.status, 2) << options;
    EXPECT_TRUE(result.ErrHas("3 of 18 lines are bad, and --max-bad allows 1")) << result.err;
    return result;
  };
  EXPECT_EQ(query("many").out, Numbers(1, 15));
  EXPECT_EQ(query("--count many").out, "15/15\n");
  EXPECT_EQ(query("--json many").Json()["bad_lines"], 3);
  query("--bitmap bits many");
  EXPECT_EQ(Read("bits"), "\xFF\x7F" + std::string(1, '\0'));
  query("--any --invert many");
  EXPECT_EQ(Sh("tamis query f --integers --any many").status, 0) << "it stops at the first";
  EXPECT_EQ(Sh("tamis query f --integers --max-bad 3 many").status, 0);
  // Input without keys is not an error.
  Ok("tamis query f --integers /dev/null");
  EXPECT_EQ(Sh("echo | tamis query f --integers --count").out, "0/0\n");
  EXPECT_EQ(Sh("echo | tamis query f --integers").status, 0);
  EXPECT_EQ(Sh("echo x | tamis query f --integers").status, 2);
}

// Left-over bytes are an error: the input was cut short, or does not consist of raw integers.
TEST_F(BadLinesTest, LeftOverBytesOfRawIntegersAreBad) {
  Write("raw", std::string(8 * 100 + 3, 'x'));
  EXPECT_EQ(Sh("tamis build -o f --u64 raw").status, 2);
  EXPECT_FALSE(Exists("f"));
  EXPECT_EQ(Sh("tamis build -o f --u64 --max-bad 1 raw").status, 0);
}

TEST_F(BadLinesTest, TheNullDeviceIsEmpty) {
  EXPECT_EQ(Sh("tamis build -o f --allow-empty /dev/null").status, 0);
  EXPECT_EQ(Sh("tamis build -o f --allow-empty < /dev/null").status, 0);
  EXPECT_EQ(Sh("tamis build -o f /dev/null").status, 2);
}

}  // namespace tamis::tools::bad_lines_test
