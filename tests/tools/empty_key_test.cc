// The empty key, and lines without a key.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command_test.h"
#include "tools/input/csv.h"

namespace tamis::tools::empty_key_test {

class EmptyKeyTest : public CommandTest {
 protected:
  // Builds a filter and returns its number of keys.
  uint64_t Keys(const std::string& contents, const std::string& options) const {
    Write("keys", contents);
    const CommandResult result =
        Sh("tamis build -o f --kind cuckoo16 -n 100 --json --allow-empty " + options + " keys");
    EXPECT_EQ(result.status, 0) << result.err;
    return result.Json()["inserted"];
  }
  // Whether that filter contains the empty key.
  bool HasEmptyKey() const {
    return Ok("printf '\\n' | tamis query f --empty keep --count").out == "1/1\n";
  }
};

TEST(CsvQuotedTest, FieldsKnowWhetherTheyAreQuoted) {
  const std::string record = "\"\",,\"a\"\"b\",c\"d\n";
  const bool expected[] = {true, false, true, false};
  for (size_t column = 0; column < 4; ++column) {
    CsvReader reader(CsvDialect{});
    EXPECT_EQ(reader.Read(record, true, column).quoted, expected[column]) << column;
  }
}

TEST_F(EmptyKeyTest, InCsvItIsTheOneInQuotes) {
  const std::string csv = "id,x\n\"\",a\n,b\n1,c\n\n";
  EXPECT_EQ(Keys(csv, "--csv --column id"), 1U);
  EXPECT_FALSE(HasEmptyKey());
  EXPECT_EQ(Keys(csv, "--csv --column id --empty skip"), 1U);
  EXPECT_FALSE(HasEmptyKey());
  EXPECT_EQ(Keys(csv, "--csv --column id --empty keep"), 2U);
  EXPECT_TRUE(HasEmptyKey());
  EXPECT_EQ(Keys("a,\"\"\n", "--csv --column 2 --empty keep"), 1U) << "at the end of a record";
  EXPECT_EQ(Keys("a,\"\"", "--csv --column 2 --empty keep"), 1U);
  EXPECT_EQ(Keys("a,\n", "--csv --column 2 --empty keep"), 0U);
  EXPECT_EQ(Keys("a;\"\"\n", "--separator ';' --column 2 --empty keep"), 1U);
  EXPECT_EQ(Keys(",\"\"\n", "--csv --column 1 --empty keep"), 0U);
}

TEST_F(EmptyKeyTest, WhereNothingIsQuotedItIsAnyIfAskedFor) {
  EXPECT_EQ(Keys("a\n\nb\n", ""), 2U);
  EXPECT_FALSE(HasEmptyKey());
  EXPECT_EQ(Keys("a\n\nb\n", "--empty keep"), 3U);
  EXPECT_TRUE(HasEmptyKey());
  EXPECT_EQ(Keys("\r\n", "--empty keep"), 1U);
  EXPECT_EQ(Keys("", "--empty keep"), 0U);
  EXPECT_EQ(Keys(" \n", "--empty keep --trim"), 1U);
  EXPECT_TRUE(HasEmptyKey());
  EXPECT_EQ(Keys("a\t\nb\tc\n", "--tsv --column 2 --empty keep"), 2U);
  EXPECT_EQ(Keys("a,\nb,c\n", "--csv --no-quotes --column 2 --empty keep"), 2U);
}

TEST_F(EmptyKeyTest, QueriesAnswerForItInItsPlace) {
  Write("all.csv", "\"\",1\n,2\nx,3\n");
  EXPECT_EQ(Sh("tamis build -q -o f --fpr 1e-6 --csv --empty keep all.csv").status, 0);
  EXPECT_EQ(Sh("tamis query f --csv --empty keep all.csv").out, "\"\",1\nx,3\n");
  Sh("tamis query f --csv --empty keep --bitmap bits all.csv");
  EXPECT_EQ(Read("bits"), "\5");
  EXPECT_EQ(Sh("tamis query f --csv all.csv").out, "x,3\n");
}

TEST_F(EmptyKeyTest, NoIntegerIsEmpty) {
  Write("keys", "1\n");
  for (const char* form : {"--integers", "--u64"}) {
    const CommandResult result = Sh("tamis build -o f --empty keep " + std::string(form) + " keys");
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(result.ErrHas("excludes")) << result.err;
  }
  EXPECT_TRUE(
      Sh("tamis build -o f --empty perhaps keys").ErrHas("\"perhaps\" is not one of keep, skip"));
}

}  // namespace tamis::tools::empty_key_test
