// The separators between fields, and the choice of a column.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"
#include "tools/input/csv.h"

namespace tamis::tools::separator_test {

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
  // If the separator occurs, nothing is guessed.
  Write("keys", "a,1;2\nb,3;4;5\n");
  const CommandResult result = Sh("tamis build -o f --csv --integers keys");
  EXPECT_EQ(result.status, 2);
  EXPECT_FALSE(result.ErrHas("--separator")) << result.err;
}

TEST_F(SeparatorTest, AWrongOneIsNoticedWhereOneColumnWillDo) {
  struct Case {
    const char* contents;
    const char* options;
    const char* hint;
  };
  const Case cases[] = {
      {"id;name\n1;a\n2;b\n", "--csv", "give --separator ';'"},
      {"id;name\n1;a\n2;b\n", "--csv --header", "give --separator ';'"},
      {"id|name\n\n1|\"x\"\n", "--csv", "give --separator '|'"},
      {"\"a;\";1\n\"b\";2\n", "--csv", "give --separator ';'"},
      {"1\ta\n2\tb", "--csv", "give --tsv"},
      {"1,a\n2,b\n", "--tsv", "give --csv"},
      // Some records contain a comma, so they have another number of fields.
      {"id;price\n1;2,5\n2;3,5\n", "--csv --header", "give --separator ';'"},
  };
  Ok("tamis build -q -o known ids && cp known f");
  Write("good.csv", "1,a\n2,b\n");
  Write("good.tsv", "1\ta\n2\tb\n");
  for (const Case& c : cases) {
    Write("keys", c.contents);
    const std::string good = std::string(c.options) == "--tsv" ? "good.tsv " : "good.csv ";
    for (const std::string& command :
         {"build -o f " + std::string(c.options) + " keys",
          "build -o f -n 10 " + std::string(c.options) + " < keys",
          "build -o f " + std::string(c.options) + " " + good + "keys",
          "query known --any-type " + std::string(c.options) + " keys"}) {
      const CommandResult result = Sh("tamis " + command);
      EXPECT_EQ(result.status, 2) << command << c.contents;
      EXPECT_TRUE(result.ErrHas(c.hint)) << command << result.err;
      EXPECT_TRUE(result.ErrHas(command.ends_with("< keys") ? "(standard input)" : "keys"));
      EXPECT_LE(result.NumLines(), 1U) << "a header at most";
      Ok("cmp f known");
    }
  }
}

TEST_F(SeparatorTest, OneColumnMayHaveOtherSeparatorsInIt) {
  const char* const columns[] = {"a;b\n", "a;b\nc\n", "c\na;b\n", "a;b\nc;d;e\n",
                                 "\"a;b\"\n\"c;d\"\n"};
  for (const char* column : columns) {
    Write("keys", column);
    Ok("tamis build -q -o f --csv keys");
    EXPECT_EQ(Ok("tamis query f --csv keys").out, column);
  }
  Write("keys", "a;b\nc;d\n");
  Ok("tamis build -q -o f --csv --separator , keys");
  EXPECT_EQ(Ok("tamis query f keys").out, "a;b\nc;d\n");
  // Lines after the first hundred may have another number of fields.
  std::string many;
  for (int i = 0; i < 99; ++i) many += "a;b\n";
  Write("keys", many + "c\n");
  EXPECT_EQ(Ok("tamis build --json -o f --csv keys").Json()["inserted"], 100);
  Write("keys", many + "a;b\nc\n");
  EXPECT_EQ(Sh("tamis build -o f --csv keys").status, 2);
}

TEST_F(SeparatorTest, RecordsOfOtherNumbersOfFieldsAreBad) {
  std::string csv = "id,name\n";
  for (int i = 0; i < 200; ++i) csv += "k" + std::to_string(i) + ",\"a,b\"\n";
  Write("good.csv", csv);
  Write("keys.csv", csv + "x,a,b\ny\n\n");
  const CommandResult few = Sh("tamis build -o f --fpr 1e-6 --csv --column id keys.csv");
  EXPECT_EQ(few.status, 0) << few.err;
  EXPECT_TRUE(few.ErrHas("keys.csv:202: fewer or more fields than in the first record: \"x,a,b\""))
      << few.err;
  EXPECT_TRUE(few.ErrHas("keys.csv:203: fewer or more fields than in the first record: \"y\""))
      << few.err;
  EXPECT_TRUE(few.ErrHas("3 bad lines skipped, 1 of them empty")) << few.err;
  EXPECT_EQ(Ok("printf 'x\\ny\\nk1\\n' | tamis query f").out, "k1\n");
  EXPECT_EQ(Sh("tamis build -o g --max-bad 1 --csv --column id keys.csv").status, 2);
  EXPECT_EQ(Sh("tamis build -o g --strict --csv --column id keys.csv").status, 2);
  EXPECT_FALSE(Exists("g"));
  // Each file has its own column number.
  Write("other.csv", "name,x,id\na,b,z\n");
  Ok("tamis build -q -o f --csv --column id good.csv other.csv");
  Write("tabs", "1\ta\n2\tb\tc\n");
  EXPECT_EQ(Sh("tamis build -o g --max-bad 0 --tsv tabs").status, 2);
}

TEST_F(SeparatorTest, AColumnThatIsThereTwiceIsAmbiguous) {
  Write("twice.csv", "x,id,y,id\n1,2,3,4\n");
  const CommandResult result = Sh("tamis build -o f --csv --column id twice.csv");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(
      result.ErrHas("twice.csv: two columns are named \"id\", number 2 and 4: give --header "
                    "--column 2, or 4"))
      << result.err;
  EXPECT_FALSE(Exists("f"));
  Ok("tamis build -q -o f --fpr 1e-6 --csv --header --column 4 twice.csv");
  EXPECT_EQ(Ok("seq 4 | tamis query f").out, "4\n");
  Ok("tamis build -q -o f --csv --column y twice.csv");
}

}  // namespace tamis::tools::separator_test
