// Records and fields of comma- and tab-separated text.
#include "tools/input/csv.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tamis::tools::csv_test {

constexpr CsvDialect kCsv;
constexpr CsvDialect kTsv = {'\t', false};

// Reads the first record of `text`, which is complete.
CsvRecord ReadFirst(std::string_view text, const CsvDialect& dialect, size_t column) {
  return CsvReader(dialect).Read(text, /*last=*/true, column);
}

// Reads all records of `text`, each as the fields of its columns.
std::vector<std::vector<std::string>> ReadAll(std::string_view text, const CsvDialect& dialect) {
  std::vector<std::vector<std::string>> records;
  while (!text.empty()) {
    std::vector<std::string> fields;
    CsvRecord record;
    for (size_t column = 0;; ++column) {
      record = ReadFirst(text, dialect, column);
      if (record.error != nullptr) break;
      std::string field(record.field);
      if (record.doubled_quotes) {
        field.clear();
        AppendUnquoted(record.field, field);
      }
      fields.push_back(field);
    }
    std::vector<std::string> visited;
    CsvReader::ForEachField(text.substr(0, record.bytes), dialect,
                            [&](std::string_view field) { visited.emplace_back(field); });
    EXPECT_EQ(visited, fields);
    records.push_back(fields);
    text.remove_prefix(record.bytes);
  }
  return records;
}

using Records = std::vector<std::vector<std::string>>;

TEST(CsvTest, FieldsOfRecords) {
  EXPECT_EQ(ReadAll("a,b,c\n1,,3\r\n,\n\nx", kCsv),
            (Records{{"a", "b", "c"}, {"1", "", "3"}, {"", ""}, {""}, {"x"}}));
  EXPECT_EQ(ReadAll("\r\na\r,\r\n\r\r\n", kCsv), (Records{{""}, {"a\r", ""}, {"\r"}}));
  EXPECT_EQ(ReadAll("a\tb\r\n\"x\"\t\"\n", kTsv), (Records{{"a", "b"}, {"\"x\"", "\""}}));
}

TEST(CsvTest, QuotedFields) {
  EXPECT_EQ(ReadAll("\"a,b\",c\n", kCsv), (Records{{"a,b", "c"}}));
  EXPECT_EQ(ReadAll("\"say \"\"hi\"\"\",\"\"\n", kCsv), (Records{{"say \"hi\"", ""}}));
  EXPECT_EQ(ReadAll("\"two\nlines\",x\r\ny,\"end\"", kCsv),
            (Records{{"two\nlines", "x"}, {"y", "end"}}));
  EXPECT_EQ(ReadAll("\"two\r\nlines\"\r\n", kCsv), (Records{{"two\r\nlines"}}));
  EXPECT_EQ(ReadAll("5\" pipe,x\n", kCsv), (Records{{"5\" pipe", "x"}}))
      << "a quote within a field";
}

TEST(CsvTest, QuotesAsText) {
  const CsvDialect dialect = {.quotes = false};
  EXPECT_EQ(ReadAll("\"a,b\"\nc\"\n", dialect), (Records{{"\"a", "b\""}, {"c\""}}));
}

TEST(CsvTest, ErrorsWithinALineAreOfThatLine) {
  const auto error = [](const std::string& line, size_t column) -> std::string {
    const CsvRecord record = ReadFirst(line + "next\n", kCsv, column);
    EXPECT_EQ(record.bytes, line.size());
    EXPECT_FALSE(record.astray);
    return record.error != nullptr ? record.error : "";
  };
  EXPECT_EQ(error("a,b\n", 2), "too few columns");
  EXPECT_EQ(error("\"a\",b\n", 2), "too few columns");
  for (const size_t column : {0, 1, 2}) {
    for (const char* line : {"\"a\"x,b\n", "\"a\"\r,b\n", "\"a\"\rx,b\n", "a,\"b\" \n"}) {
      EXPECT_EQ(error(line, column), "text after a closing quote") << line;
    }
  }
}

// In each text, the quote on the given line is stray, and the text after it belongs to its field.
TEST(CsvTest, StrayQuotes) {
  struct Case {
    const char* text;
    size_t quote_line;
    const char* error;
  };
  const Case cases[] = {
      {"a,\"b", 0, "a quote that is not closed"},
      {"a,\"b\nc,d\ne,f\n", 0, "a quote that is not closed"},
      {"a,\"b\nc\",d\"\"\",\"e\n", 1, "a quote that is not closed"},
      {"a,\"b\nc,d\ne,\"f,g\"\n", 0, "text after a closing quote"},
      {"a,\"b\nc\",\"d\n\"e\"\n", 1, "text after a closing quote"},
      {"\"a,b\nc,d\ne,f\"\n", 0, "too few columns"},
      {"\"a\"b,\"c\nd\"\n", 0, "text after a closing quote"},
  };
  for (const Case& c : cases) {
    const CsvRecord record = ReadFirst(c.text, kCsv, 1);
    EXPECT_TRUE(record.astray) << c.text;
    EXPECT_STREQ(record.error, c.error) << c.text;
    EXPECT_EQ(record.quote_line, c.quote_line) << c.text;
  }
}

TEST(CsvTest, LinesOfAQuotedFieldAreBounded) {
  const CsvDialect dialect = {.max_quoted_lines = 3};
  const std::string text = "\"1\n2\n3\",\"1\n2\n3\"\n";
  EXPECT_EQ(ReadFirst(text, dialect, 1).field, "1\n2\n3");
  const CsvRecord record = ReadFirst("a,\"1\n2\",\"1\n2\n3\n4\",b\n", dialect, 0);
  EXPECT_TRUE(record.astray);
  EXPECT_EQ(record.quote_line, 1U);
  EXPECT_NE(std::string(record.error).find("--quoted-lines"), std::string::npos);
}

// For every prefix of a text, the first record is found either complete or not at all.
TEST(CsvTest, IncompleteTextIsNotARecord) {
  const std::string text = "\"a\"\"b\nc\"\r\nnext,\"\"\n";
  const size_t first = text.find("next");
  CsvReader growing(kCsv);
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string piece = text.substr(0, size);  // at a new address each time
    for (const bool goes_on : {false, true}) {
      if (goes_on && size > first) continue;
      CsvReader fresh(kCsv);
      const CsvRecord record = (goes_on ? growing : fresh).Read(piece, /*last=*/false, 0);
      EXPECT_EQ(record.bytes, size < first ? 0 : first) << size;
      if (size < first) continue;
      EXPECT_EQ(record.lines, 2U);
      EXPECT_EQ(record.error, nullptr);
      EXPECT_EQ(record.field, "a\"\"b\nc");
      EXPECT_TRUE(record.doubled_quotes);
    }
  }
}

// If the reader began a record of 4 MiB again with every new byte, the test would exceed its time
// limit.
TEST(CsvTest, ARecordInPiecesIsReadOnce) {
  for (const char* quote : {"", "\""}) {
    const std::string text = quote + std::string(4 << 20, 'x') + quote + "\n";
    CsvReader reader(kCsv);
    for (size_t size = 0; size < text.size(); ++size) {
      ASSERT_EQ(reader.Read(std::string_view(text).substr(0, size), /*last=*/false, 0).bytes, 0U);
    }
    EXPECT_EQ(reader.Read(text, /*last=*/false, 0).field.size(), size_t{4} << 20);
  }
}

}  // namespace tamis::tools::csv_test
