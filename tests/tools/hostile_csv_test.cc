// CSV that is broken, or that is made to take long.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"

namespace tamis::tools::hostile_csv_test {

class HostileCsvTest : public CommandTest {
 protected:
  // Rows "1,one" ..., with the given text in row `row` (line `row` + 1).
  static std::string Rows(size_t rows, size_t row, const std::string& text) {
    std::string csv = "id,text\n";
    for (size_t i = 1; i <= rows; ++i) {
      csv += i == row ? text : std::to_string(i) + ",one\n";
    }
    return csv;
  }

  // Expects that building fails, names the place and leaves no file.
  void ExpectAstray(const std::string& csv, const std::string& place) const {
    Write("keys.csv", csv);
    for (const char* options : {"", "--capacity 1000 ", "--strict "}) {
      const CommandResult result =
          Sh("tamis build -o f --csv --column id " + std::string(options) + "keys.csv");
      EXPECT_EQ(result.status, 2) << result.err;
      EXPECT_TRUE(result.ErrHas("keys.csv:" + place +
                                ": records cannot be separated after the quote that opens here"))
          << result.err;
      EXPECT_TRUE(result.ErrHas("--no-quotes")) << result.err;
      EXPECT_FALSE(Exists("f"));
    }
  }
};

TEST_F(HostileCsvTest, AStrayQuoteIsAnErrorWithItsLine) {
  ExpectAstray(Rows(1000, 3, "3,\"stray\n"), "4");
  ExpectAstray(Rows(1000, 1000, "1000,\"stray"), "1001");
  ExpectAstray(Rows(3, 0, "") + "4,\"a\n5,b\n6,\"c,d\"\n", "5");
  ExpectAstray("id,\"text\n1,one\n2,two\n", "1");
  // The quote is closed correctly, but thousands of lines later.
  ExpectAstray(Rows(5000, 3, "3,\"stray\n") + "5001,closed\"\n", "4");
  // The quote is not closed within the largest size of a record.
  ExpectAstray(Rows(1000, 900, "900,\"stray\n" + std::string(20 << 20, 'x')), "901");
}

TEST_F(HostileCsvTest, QuotesMayBeText) {
  Write("keys.csv", Rows(1000, 3, "3,\"stray\n"));
  Ok("tamis build -q -o f --csv --column id --no-quotes keys.csv");
  EXPECT_EQ(Ok("tamis info f --json").Json()["inserted"], 1000);
}

TEST_F(HostileCsvTest, LongFieldsCanBeAllowed) {
  std::string field;
  for (int i = 0; i < 3000; ++i) field += "line\n";
  const std::string csv = Rows(10, 3, "3,\"" + field + "\"\n");
  ExpectAstray(csv, "4");
  Ok("tamis build -q -o f --csv --column id --quoted-lines 3001 keys.csv");
  EXPECT_EQ(Ok("tamis info f --json").Json()["inserted"], 10);
  EXPECT_EQ(Ok("tamis query f --csv --column id --quoted-lines 3001 keys.csv").out, csv);
}

// If each column caused another read of the header, the test would exceed its time limit.
TEST_F(HostileCsvTest, MillionsOfColumns) {
  const std::string commas(2 << 20, ',');
  for (const char* quoted : {"", "\"first\","}) {
    Write("keys.csv", quoted + commas + "last\n" + quoted + commas + "key\n");
    Ok("tamis build -q -o f --csv --column last keys.csv");
    EXPECT_EQ(Ok("echo key | tamis query f --count").out, "1/1\n");
    const CommandResult missing = Sh("tamis build -o f --csv --column none keys.csv");
    EXPECT_EQ(missing.status, 2);
    EXPECT_TRUE(missing.ErrHas("no column \"none\"")) << missing.err;
    EXPECT_LT(missing.err.size(), 1000U) << "all their names are too many";
  }
}

}  // namespace tamis::tools::hostile_csv_test
