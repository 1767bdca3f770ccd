// The JSON reader: what it takes, and where it says that a text is wrong.
#include "core/src/engine/calibration/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tamis::detail {
namespace {

using Kind = JsonValue::Kind;

TEST(JsonTest, ReadsEveryKind) {
  const JsonValue value = ParseJson(" {\"a\": [1, -2.5e-3,\t0], \"b\": {}, \"\": \"x\"}\r\n");
  EXPECT_EQ(value.kind, Kind::kObject);
  EXPECT_EQ(value.offset, 1u);
  ASSERT_EQ(value.children.size(), 3u);
  const JsonValue& a = value.children[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.kind, Kind::kArray);
  EXPECT_EQ(a.offset, 7u);
  ASSERT_EQ(a.children.size(), 3u);
  EXPECT_EQ(a.children[0].number, 1);
  EXPECT_EQ(a.children[1].number, -2.5e-3);
  EXPECT_EQ(a.children[2].number, 0);
  EXPECT_EQ(value.children[1].kind, Kind::kObject);
  EXPECT_TRUE(value.children[1].children.empty());
  EXPECT_EQ(value.children[2].kind, Kind::kString);
  EXPECT_EQ(value.children[2].string, "x");
}

TEST(JsonTest, ReadsEscapes) {
  EXPECT_EQ(ParseJson(R"("\"\\\/\b\f\n\r\t")").string, "\"\\/\b\f\n\r\t");
  EXPECT_EQ(ParseJson(R"("\u0041\u00e9\u20AC\u0000")").string,
            std::string("A\xC3\xA9\xE2\x82\xAC\0", 7));
}

TEST(JsonTest, WritesWhatItReads) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "\xC3\xA9";
  EXPECT_EQ(ParseJson(JsonString(all)).string, all);
  for (const double number : {0.0, 0.1, 1.0 / 3, 1e300, 5e-324, 9007199254740992.0, -2.0}) {
    EXPECT_EQ(ParseJson(JsonNumber(number)).number, number);
  }
}

struct Wrong {
  std::string text;
  uint64_t offset;
  std::string problem;
};

TEST(JsonTest, SaysWhatIsWrongAndWhere) {
  const std::string value_expected = "expected an object, an array, a string or a number";
  std::string names = "{";
  for (int i = 0; i < 65; ++i) names += "\"" + std::to_string(i) + "\": 0, ";
  const std::vector<Wrong> all = {
      {"", 0, value_expected},
      {"  ", 2, value_expected},
      {"true", 0, value_expected},
      {"nan", 0, value_expected},
      {"[1,]", 3, value_expected},
      {"[1 2]", 3, "expected ']'"},
      {"[1", 2, "expected ']'"},
      {"{\"a\": 1,}", 8, "expected a string"},
      {"{\"a\" 1}", 5, "expected ':'"},
      {"{\"a\": 1", 7, "expected '}'"},
      {"{a: 1}", 1, "expected a string"},
      {"{\"a\": 1, \"a\": 2}", 9, "a second \"a\""},
      {"{} {}", 3, "nothing may follow"},
      {std::string("{}\0", 3), 2, "nothing may follow"},
      {"[01]", 1, value_expected},
      {"[-]", 1, value_expected},
      {"[+1]", 1, value_expected},
      {"[.5]", 1, value_expected},
      {"[1.]", 1, value_expected},
      {"[1e]", 1, value_expected},
      {"[0x10]", 2, "expected ']'"},
      {"[1e999]", 1, "out of range: 1e999"},
      {"\"abc", 4, "ends within a string"},
      {"\"a\nb\"", 2, "control character"},
      {"\"a\\x\"", 2, "unknown escape"},
      {"\"\\u12g4\"", 1, "four hexadecimal digits"},
      {"\"\\u12", 1, "four hexadecimal digits"},
      {"\"\\u-123\"", 1, "four hexadecimal digits"},
      {"\"\\ud83d\\ude00\"", 1, "surrogate"},
      {"\"\\", 1, "unknown escape"},
      {std::string(100, '['), 17, "more than 16 levels"},
      {names, 1 + 10 * 8 + 54 * 9, "more than 64 names"},
  };
  for (const Wrong& wrong : all) {
    try {
      ParseJson(wrong.text);
      ADD_FAILURE() << "no error: " << wrong.text;
    } catch (const JsonError& error) {
      EXPECT_EQ(error.offset, wrong.offset) << wrong.text << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find(wrong.problem), std::string::npos)
          << wrong.text << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace tamis::detail
