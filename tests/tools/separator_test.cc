// What stands between fields, and which column is meant.
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/command_test.h"
#include "tools/csv.h"

namespace tamis::tools {
namespace {

class SeparatorTest : public CommandTest {
 protected:
  SeparatorTest() {
    Write("keys.csv", "id;text\n1;\"a;b\"\n2;\"two\nlines\"\n\"3\";c,d\n");
    Write("ids", "1\n2\n3\n");
  }
};

TEST(GuessSeparatorTest, TheMostFrequentOutsideQuotes) {
  EXPECT_EQ(GuessSeparator("id;name"), ';');
  EXPECT_EQ(GuessSeparator("id\tname\n"), '\t');
  EXPECT_EQ(GuessSeparator("a|b|c,d"), '|');
  EXPECT_EQ(GuessSeparator("\"a;b;c\",d"), ',');
  EXPECT_EQ(GuessSeparator("1.0"), std::nullopt);
  EXPECT_EQ(GuessSeparator(""), std::nullopt);
}

TEST_F(SeparatorTest, AnyByteMayStandBetweenFields) {
  for (const char* options : {"--separator ';' ", "--csv --separator ';' "}) {
    const std::string form = std::string(options) + "--column id ";
    Ok("tamis build -q -o f --fpr 1e-6 " + form + "keys.csv");
    EXPECT_EQ(Ok("tamis query f --count ids").out, "3/3\n");
    EXPECT_EQ(Ok("tamis query f " + form + "keys.csv").out, Read("keys.csv"));
  }
  Write("bars", "x|1\nx|2\n");
  EXPECT_EQ(Ok("tamis query f --separator '|' --column 2 bars").out, Read("bars"));
  Write("tabs", "\"a\tb\"\t1\n");
  EXPECT_EQ(Ok("tamis query f --separator \"$(printf '\\t')\" --column 2 tabs").out, Read("tabs"));
  Write("quotes", "\"1;2\n");
  EXPECT_EQ(Ok("tamis query f --separator ';' --no-quotes --column 2 quotes").out, "\"1;2\n");
}

TEST_F(SeparatorTest, ItIsOneByteAndNotOfTheSyntax) {
  for (const char* wrong : {"''", "';;'", "'\"'", "'\\t'", "\"$(printf '\\r')\"",
                            "\"$(printf '\\302\\247')\"", "'\n'"}) {
    const CommandResult result =
        Sh("tamis build -o f --separator " + std::string(wrong) + " keys.csv");
    EXPECT_EQ(result.status, 2) << wrong;
    EXPECT_TRUE(result.ErrHas("--separator")) << wrong << result.err;
  }
  EXPECT_EQ(Sh("tamis build -o f --separator ';' --tsv keys.csv").status, 2);
  EXPECT_EQ(Sh("tamis build -o f --separator ';' --u64 keys.csv").status, 2);
}

TEST_F(SeparatorTest, AWrongOneIsGuessedForTheError) {
  struct Case {
    const char* contents;
    const char* options;
    const char* hint;
  };
  const Case cases[] = {
      {"id;n\n1;a\n2;b\n", "--integers --csv --header", "give --separator ';'"},
      {"id;n\n1;a\n2;b\n", "--integers --tsv --header", "give --separator ';'"},
      {"1|a\n2|b\n", "--integers --csv", "give --separator '|'"},
      {"1\ta\n2\tb\n", "--integers --csv", "give --tsv"},
      {"1,a\n2,b\n", "--integers --tsv", "give --csv"},
      {"1,a\n2,b\n", "--integers", "give --csv"},
      {"1;a\n2;b\n", "--csv --column 2", "give --separator ';'"},
      {"id;n\n1;a\n", "--csv --column id", "give --separator ';'"},
      {"id\tn\n1\ta\n", "--csv --column id", "give --tsv"},
  };
  for (const Case& c : cases) {
    Write("keys", c.contents);
    const CommandResult result = Sh(std::string("tamis build -o f ") + c.options + " keys");
    EXPECT_EQ(result.status, 2) << c.contents << c.options;
    EXPECT_TRUE(result.ErrHas(c.hint)) << c.options << result.err;
    EXPECT_FALSE(Exists("f"));
  }
  // Nothing is guessed where the separator is there.
  Write("keys", "a,1;2\nb,3;4;5\n");
  const CommandResult result = Sh("tamis build -o f --csv --integers keys");
  EXPECT_EQ(result.status, 2);
  EXPECT_FALSE(result.ErrHas("--separator")) << result.err;
}

TEST_F(SeparatorTest, AColumnThatIsThereTwiceIsAmbiguous) {
  Write("twice.csv", "x,id,y,id\n1,2,3,4\n");
  const CommandResult result = Sh("tamis build -o f --csv --column id twice.csv");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(
      result.ErrHas("twice.csv: two columns are \"id\", number 2 and 4: give --header "
                    "--column 2, or 4"))
      << result.err;
  EXPECT_FALSE(Exists("f"));
  Ok("tamis build -q -o f --fpr 1e-6 --csv --header --column 4 twice.csv");
  EXPECT_EQ(Ok("seq 4 | tamis query f").out, "4\n");
  Ok("tamis build -q -o f --csv --column y twice.csv");
}

}  // namespace
}  // namespace tamis::tools
