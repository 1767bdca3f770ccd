// Records and fields of comma- and tab-separated text.
#include "tools/csv.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tamis::tools {
namespace {

constexpr CsvDialect kCsv;
constexpr CsvDialect kTsv = {'\t', false};

// All records of `text`, each as the fields of its columns.
std::vector<std::vector<std::string>> ReadAll(std::string_view text, const CsvDialect& dialect) {
  std::vector<std::vector<std::string>> records;
  while (!text.empty()) {
    std::vector<std::string> fields;
    CsvRecord record;
    for (size_t column = 0;; ++column) {
      record = ReadCsvRecord(text, /*last=*/true, dialect, column);
      if (record.error != nullptr) break;
      std::string field(record.field);
      if (record.doubled_quotes) {
        field.clear();
        AppendUnquoted(record.field, field);
      }
      fields.push_back(field);
    }
    records.push_back(fields);
    text.remove_prefix(record.bytes);
  }
  return records;
}

using Records = std::vector<std::vector<std::string>>;

TEST(CsvTest, FieldsOfRecords) {
  EXPECT_EQ(ReadAll("a,b,c\n1,,3\r\n,\n\nx", kCsv),
            (Records{{"a", "b", "c"}, {"1", "", "3"}, {"", ""}, {""}, {"x"}}));
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

TEST(CsvTest, Errors) {
  const auto error = [](std::string_view text, size_t column) -> std::string {
    const CsvRecord record = ReadCsvRecord(text, true, kCsv, column);
    EXPECT_EQ(record.bytes, text.size());
    return record.error != nullptr ? record.error : "";
  };
  EXPECT_EQ(error("a,b\n", 2), "too few columns");
  EXPECT_EQ(error("\"a\",b\n", 2), "too few columns");
  EXPECT_EQ(error("\"a\"x,b\n", 0), "text after a closing quote");
  EXPECT_EQ(error("\"a\"x,b\n", 1), "");
  EXPECT_EQ(error("a,\"b\n", 1), "a quote that is not closed");
  EXPECT_EQ(error("a,\"b\n", 0), "a quote that is not closed");
}

// However much of a text is there, the first record is found complete or not at all.
TEST(CsvTest, IncompleteTextIsNotARecord) {
  const std::string text = "\"a\"\"b\nc\",d\r\nnext,\"\"\n";
  const size_t first = text.find("next");
  for (size_t size = 0; size <= text.size(); ++size) {
    const CsvRecord record = ReadCsvRecord(text.substr(0, size), /*last=*/false, kCsv, 0);
    EXPECT_EQ(record.bytes, size < first ? 0 : first) << size;
    if (size >= first) {
      EXPECT_EQ(record.lines, 2U);
      EXPECT_EQ(record.error, nullptr);
    }
  }
}

}  // namespace
}  // namespace tamis::tools
