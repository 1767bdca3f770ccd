// The texts that are integers, and blanks around keys.
#include "tools/input/integer_key.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools::integer_key_test {

TEST(IntegerKeyTest, DigitsAndAMinusSign) {
  struct Case {
    const char* text;
    uint64_t value;
  };
  const Case cases[] = {
      {"42", 42},
      {"007", 7},
      {"0", 0},
      {"-0", 0},
      {"-1", ~uint64_t{0}},
      {"18446744073709551615", ~uint64_t{0}},
      {"-9223372036854775808", uint64_t{1} << 63},
  };
  for (const Case& c : cases) {
    uint64_t value = 99;
    EXPECT_STREQ(ParseIntegerKey(c.text, value), nullptr) << c.text;
    EXPECT_EQ(value, c.value) << c.text;
  }
}

TEST(IntegerKeyTest, ProblemsOfBadIntegers) {
  struct Case {
    const char* text;
    const char* problem;
  };
  const Case cases[] = {
      {"1.0", "not a decimal integer (it has a decimal point)"},
      {"-1.5e3", "not a decimal integer (it has a decimal point)"},
      {"1e3", "not a decimal integer (it has an exponent)"},
      {"+7", "not a decimal integer (it has a plus sign)"},
      {" 7", "not a decimal integer (--trim removes the blanks around it)"},
      {"7\t", "not a decimal integer (--trim removes the blanks around it)"},
      {"7 8", "not a decimal integer"},
      {" +7", "not a decimal integer (it has a plus sign)"},
      {"0x9", "not a decimal integer"},
      {"-", "not a decimal integer"},
      {"--7", "not a decimal integer"},
      {"+-7", "not a decimal integer"},
      {" ", "not a decimal integer"},
      {"three", "not a decimal integer"},
      {"infinity", "not a decimal integer"},
      {"nan(e)", "not a decimal integer"},
      {"7.", "not a decimal integer (it has a decimal point)"},
      {"1.2.3", "not a decimal integer"},
      {"18446744073709551616", "an integer of more than 64 bits"},
      {"-9223372036854775809", "an integer of more than 64 bits"},
  };
  for (const Case& c : cases) {
    uint64_t value = 0;
    EXPECT_STREQ(ParseIntegerKey(c.text, value), c.problem) << c.text;
  }
}

// If each blank or sign doubled the time, the test would exceed its time limit.
TEST(IntegerKeyTest, ManyBlanksAndSignsTakeNoTime) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += " +";
  uint64_t value = 0;
  EXPECT_STREQ(ParseIntegerKey(text, value), "not a decimal integer");
}

class TrimTest : public CommandTest {};

TEST_F(TrimTest, BlanksAreNotOfTheKey) {
  Write("padded", " 1\n2 \t\r\n\t 3\n4\n");
  EXPECT_EQ(Sh("tamis build -o f --integers padded").status, 2);
  Ok("tamis build -q -o f --integers --trim --fpr 1e-6 padded");
  EXPECT_EQ(Ok("seq 6 | tamis query f --integers").out, "1\n2\n3\n4\n");
  EXPECT_EQ(Ok("tamis query f --integers --trim padded").out, Read("padded")) << "as they are";

  Write("text", " a b \n");
  Ok("tamis build -q -o f --trim --fpr 1e-6 text");
  EXPECT_EQ(Ok("printf 'a b\\n a b \\n' | tamis query f").out, "a b\n");
  Ok("tamis build -q -o f --fpr 1e-6 text");
  EXPECT_EQ(Ok("printf 'a b\\n a b \\n' | tamis query f").out, " a b \n");
}

TEST_F(TrimTest, AlsoTrimsFields) {
  Write("keys.csv", "x, 1 ,y\nx,\" 2 \",y\nx,\"a \"\"b\"\" \",y\nx,  ,y\n");
  const CommandResult build = Sh("tamis build -o f --csv --column 2 --trim --fpr 1e-6 keys.csv");
  EXPECT_EQ(build.status, 0) << build.err;
  EXPECT_TRUE(build.ErrHas("keys.csv:4: an empty key")) << build.err;
  EXPECT_EQ(Ok("printf '1\\n2\\na \"b\"\\n 1 \\n' | tamis query f").out, "1\n2\na \"b\"\n");
  EXPECT_EQ(Sh("tamis build -o f --u64 --trim keys.csv").status, 2);
  Write("names.csv", "x, id \na, b \n");
  const CommandResult blanks = Sh("tamis build -o f --csv --column id names.csv");
  EXPECT_EQ(blanks.status, 2);
  EXPECT_TRUE(blanks.ErrHas("no column \"id\"; the columns are: \"x\", \" id \": give --trim"))
      << blanks.err;
  Write("one", "1\n");
  EXPECT_TRUE(Sh("tamis build -o f one").ErrHas("counted 1 key first\ntamis: f: 1 key in "));
  Ok("tamis build -q -o f --csv --column id --trim --fpr 1e-6 names.csv");
  EXPECT_EQ(Ok("echo b | tamis query f").out, "b\n");
}

TEST_F(TrimTest, TheHelpDefinesAnInteger) {
  for (const char* command : {"build", "query", "erase"}) {
    const std::string help = Ok(std::string("tamis ") + command + " --help").out;
    for (const char* word :
         {"007", "+7, 1e3, 1.0", "--trim", "--max-bad", "--separator", "--empty", "--as-is"}) {
      EXPECT_NE(help.find(word), std::string::npos) << word;
    }
    for (const std::string& line : Lines(help)) EXPECT_LE(line.size(), 100U) << line;
  }
}

}  // namespace tamis::tools::integer_key_test
